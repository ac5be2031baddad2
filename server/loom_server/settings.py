"""Every `LOOM_` setting, its default and its bound.

    command line > environment > .env > TOML file > default

`LOOM_MEMORY_SEARCH_*` keep the names that users of Loom know. `sources.py` tells which source gave a
setting, which names are not known, and what is wrong with a value.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Literal

from pydantic import Field, SecretStr
from pydantic_settings import BaseSettings, PydanticBaseSettingsSource, SettingsConfigDict, TomlConfigSettingsSource

from loom_server.model.query import FloorMode, SearchMode

LogFormat = Literal["auto", "console", "json"]
LogLevel = Literal["debug", "info", "warning", "error"]


class Settings(BaseSettings):
    """The service's settings, read once at start."""

    model_config = SettingsConfigDict(
        env_prefix="LOOM_", env_file=".env", dotenv_filtering="only_existing", extra="ignore", frozen=True
    )

    config: Path = Field(
        default=Path("loom.toml"), description="TOML file of settings; one that is named here must be there."
    )
    data_dir: Path = Field(default=Path(".loom"), description="Directory of the embedded store.")
    clickhouse_url: SecretStr = Field(
        default=SecretStr(""),
        description="A ClickHouse server that holds the store, http://user:password@host:8123; else it is embedded.",
    )
    host: str = Field(
        default="127.0.0.1", description="Address to listen on; only loopback while no key is configured."
    )
    trusted_network: bool = Field(
        default=False,
        description="Listen beyond loopback without keys: whoever reaches the port reads and writes every memory.",
    )
    allowed_hosts: str = Field(
        default="", description="Further names, with commas between, that a Host header may give the service."
    )
    port: int = Field(default=7777, ge=1, le=65535, description="Port to listen on.")

    embedder: Literal["static", "minilm", "hash", "openai", "cohere", "voyage", "bedrock"] = Field(
        default="static", description="Which embedder turns text into vectors."
    )
    embedder_model: str = Field(
        default="", description="Model of a remote embedder; empty is the provider's usual one."
    )
    embedder_base_url: str = Field(
        default="", description="Address of a remote embedder's API; empty is the provider's own."
    )
    embedder_api_key: SecretStr = Field(
        default=SecretStr(""),
        description="Key of `openai`, `cohere` or `voyage`; `bedrock` takes AWS's own credentials.",
    )
    embedder_region: str = Field(default="", description="AWS region of `bedrock`; empty is the one AWS is set up for.")
    embedder_dimension: int = Field(
        default=0, ge=0, le=16_384, description="Numbers of a remote embedder's vector; 0 is what the model gives."
    )
    embedder_concurrency: int = Field(
        default=5, ge=1, le=64, description="Requests to a remote embedder that run side by side."
    )
    embedder_batch: int = Field(
        default=64, ge=1, le=2_048, description="Most texts of one request to a remote embedder."
    )
    embedder_timeout_s: float = Field(
        default=10.0, gt=0, le=600, description="Longest wait for one answer of a remote embedder."
    )
    embedder_query_prefix: str = Field(
        default="", description="What stands before a question that `minilm`, `hash` or `openai` embeds."
    )
    embedder_passage_prefix: str = Field(
        default="", description="What stands before a memory that `minilm`, `hash` or `openai` embeds."
    )
    embed_max_tokens: int = Field(default=256, ge=8, le=8192, description="Tokens of a value that are embedded.")
    embed_cache_size: int = Field(default=20_000, ge=0, description="Vectors kept in the process.")
    kept_rows: int = Field(default=20_000, ge=0, description="Rows kept in the process, as far as a search shows them.")

    reads_at_once: int = Field(
        default=0, ge=0, le=256, description="Reads that run side by side; 0 takes one more than there are processors."
    )
    reads_waiting: int = Field(
        default=128, ge=0, le=10_000, description="Reads that may wait for their turn; further ones are refused."
    )
    writes_at_once: int = Field(default=32, ge=1, le=256, description="Writes that run side by side.")
    writes_waiting: int = Field(
        default=256, ge=0, le=10_000, description="Writes that may wait for their turn; further ones are refused."
    )
    store_clients: int = Field(default=6, ge=2, le=64, description="Statements that run side by side.")
    drain_seconds: float = Field(
        default=10.0, ge=0, le=3600, description="How long running calls may take to end once the service is to stop."
    )
    drain_grace_seconds: float = Field(
        default=1.0, ge=0, le=3600, description="How long it answers, after SIGTERM, at least, that it is stopping."
    )
    statement_timeout_s: float = Field(
        default=30.0, gt=0, le=3600, description="Longest run of a statement without a deadline."
    )
    statement_memory_bytes: int = Field(
        default=4_000_000_000, ge=100_000_000, description="Memory cap of one statement."
    )
    write_batch_rows: int = Field(
        default=4_000, ge=1, le=100_000, description="Most writes that are committed as one group."
    )

    memory_search_default_mode: SearchMode = Field(default="semantic", description="Mode of a search that names none.")
    memory_search_min_similarity: float = Field(
        default=0.22, ge=-1, le=1, description="Noise floor without a calibration."
    )
    memory_search_abstain_threshold: float = Field(
        default=0.30, ge=-1, le=1, description="Abstain threshold without a calibration."
    )
    memory_search_abstain_top_sim_scope: Literal["rank1", "window"] = Field(
        default="rank1", description="Whose cosine the gate reads: the first row's, or the best of the window."
    )
    memory_search_floor_mode: FloorMode = Field(default="readmit", description="What happens to rows under the floor.")
    memory_search_per_key_cap: int = Field(default=1, ge=1, le=100, description="Most rows of one key in a window.")
    memory_search_top_k: int = Field(default=10, ge=1, le=200, description="Rows of a search that asks for no number.")
    memory_search_top_k_ceiling: int = Field(default=200, ge=1, le=1000, description="Most rows a search may ask for.")
    memory_search_leg_quota: int = Field(default=100, ge=10, le=1000, description="Candidates one leg may bring.")
    memory_search_codes_from: int = Field(
        default=200_000, ge=1, description="Rows of a namespace from which its vectors are scanned codes first."
    )
    memory_search_timeout_ms: int = Field(
        default=10_000, ge=10, le=600_000, description="Deadline of a search, and its cap."
    )

    max_body_bytes: int = Field(default=8_000_000, ge=1_000, description="Largest request body.")
    max_query_chars: int = Field(default=4_000, ge=1, description="Longest query.")
    max_value_bytes: int = Field(default=2_000_000, ge=100, description="Largest value of one memory.")
    max_batch: int = Field(default=32, ge=1, description="Most calls in one JSON-RPC batch.")
    max_items: int = Field(default=1_000, ge=1, description="Most items in one memory.set_many.")
    max_nesting: int = Field(default=32, ge=4, description="Deepest nesting of a request body.")

    metrics: bool = Field(default=True, description="Count, and serve what was counted at /metrics.")
    log_format: LogFormat = Field(
        default="auto", description="How the log is written; auto is console on a terminal and json elsewhere."
    )
    log_level: LogLevel = Field(
        default="info", description="Least level that is logged; commands other than serve begin at warning."
    )
    log_hash_key: SecretStr = Field(
        default=SecretStr(""), description="Key of the hashes by which the log names namespaces; empty is a random one."
    )

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,
        file_secret_settings: PydanticBaseSettingsSource,
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        """The sources, first come first served; the TOML file is found by the ones before it."""
        before = (init_settings, env_settings, dotenv_settings)
        file = named_file(source() for source in before) or cls.model_fields["config"].default
        return (*before, TomlConfigSettingsSource(settings_cls, file))


def named_file(sources: Iterable[Mapping[str, object]]) -> Path | None:
    """The TOML file that the first of the sources names which names one."""
    return next((Path(str(named)) for source in sources if (named := source.get("config"))), None)
