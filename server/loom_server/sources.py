"""Where each setting comes from, and which names are no setting.

    option > environment > .env > TOML file > default

`read` is how the shell gets its settings. A variable that begins with `LOOM_` and is no setting is told as
`Unknown`, with the names near to it: it may be meant for another version, so it stops nothing. A key of the
TOML file that is no setting is an error: that file belongs to this service alone. No message holds a value,
which may be a secret.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import Literal

from pydantic import SecretStr, ValidationError
from pydantic_settings import DotEnvSettingsSource, EnvSettingsSource, SettingsError, TomlConfigSettingsSource

from loom_server.errors import ConfigError
from loom_server.settings import Settings, named_file

Origin = Literal["option", "environment", ".env", "toml", "default"]

PREFIX = "LOOM_"
CLIENTS_OWN = ("LOOM_URL", "LOOM_API_KEY")
"""Variables of `loom_client`, which are no settings of the service."""

MASK = "********"
_OF_TESTS = "LOOM_TEST_"
_NEAREST = 3
_NEAR = 0.6


@dataclass(frozen=True, slots=True)
class Unknown:
    """A variable that is no setting, where it stands, and the settings with names near to it."""

    name: str
    origin: Origin
    nearest: tuple[str, ...]

    def sentence(self) -> str:
        """For people."""
        near = f"; near to it: {', '.join(self.nearest)}" if self.nearest else ""
        return f"{self.name} (from {self.origin}) is no setting of this service{near}"


@dataclass(frozen=True, slots=True)
class Read:
    """The settings, the origin of each by its field, and the variables that were left over."""

    settings: Settings
    origins: Mapping[str, Origin]
    unknown: tuple[Unknown, ...]

    def shown(self, field: str) -> object:
        """A setting's value as JSON; of a secret only whether it is set."""
        value = getattr(self.settings, field)
        if isinstance(value, SecretStr):
            return MASK if value.get_secret_value() else ""
        return str(value) if isinstance(value, Path) else value


def read(**options: object) -> Read:
    """The settings of this process, with the command line's `options` on top.

    Raises `ConfigError` that names each setting which cannot be used, where it stands and what it accepts.
    """
    environment, dotenv = EnvSettingsSource(Settings), _dotenv()
    sources: dict[Origin, Mapping[str, object]] = {
        "option": options,
        "environment": environment(),
        ".env": dotenv(),
    }
    file = _file(sources.values())
    sources["toml"] = _of_file(file)
    origins: Mapping[str, Origin] = {name: _origin(name, sources) for name in Settings.model_fields}
    try:
        settings = Settings(**options)  # pyright: ignore[reportArgumentType]
    except ValidationError as error:
        told = "; ".join(_fault(one["loc"], one["msg"], origins, file) for one in error.errors(include_url=False))
        raise ConfigError(f"A setting cannot be used: {told}.") from None
    except SettingsError as error:
        raise ConfigError(f"A setting cannot be used: {error}.") from None
    return Read(settings, origins, tuple(_unknown(environment, dotenv)))


def variable(field: str) -> str:
    """The variable of a setting."""
    return f"{PREFIX}{field.upper()}"


def nearest(name: str) -> tuple[str, ...]:
    """The settings whose fields are nearest to `name`, best first."""
    return tuple(get_close_matches(name.lower(), list(Settings.model_fields), n=_NEAREST, cutoff=_NEAR))


def _dotenv() -> DotEnvSettingsSource:
    try:
        return DotEnvSettingsSource(Settings)
    except UnicodeDecodeError:
        raise ConfigError("The file .env is not UTF-8; write it anew as UTF-8.") from None


def _file(sources: Iterable[Mapping[str, object]]) -> Path:
    """The TOML file. Raises `ConfigError` where one is named that is not there."""
    named = named_file(sources)
    if named is not None and not named.is_file():
        raise ConfigError(f"LOOM_CONFIG names {named}, which is no file; write it, or unset LOOM_CONFIG.")
    return named or Settings.model_fields["config"].default


def _of_file(file: Path) -> Mapping[str, object]:
    """The settings of the TOML file. Raises `ConfigError` where it cannot be read or holds another key."""
    try:
        told = TomlConfigSettingsSource(Settings, file).toml_data
    except tomllib.TOMLDecodeError as error:
        raise ConfigError(f"{file} is not TOML: {error}.") from None
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"{file} cannot be read as UTF-8 text ({type(error).__name__}).") from None
    strange = [key for key in told if key not in Settings.model_fields or key == "config"]
    if strange:
        raise ConfigError(f"{file} holds what is no setting there: {'; '.join(map(_strange, strange))}.")
    return told


def _strange(key: str) -> str:
    if key == "config":
        return "config, which names this very file (set LOOM_CONFIG)"
    if key.upper().startswith(PREFIX) and key[len(PREFIX) :].lower() in Settings.model_fields:
        return f"{key} (in this file it is called {key[len(PREFIX) :].lower()})"
    near = nearest(key)
    return f"{key} (near to it: {', '.join(near)})" if near else key


def _origin(name: str, sources: Mapping[Origin, Mapping[str, object]]) -> Origin:
    found: list[Origin] = [origin for origin, told in sources.items() if name in told]
    return found[0] if found else "default"


def _fault(location: tuple[int | str, ...], message: str, origins: Mapping[str, Origin], file: Path) -> str:
    field = str(location[0]) if location else ""
    origin = origins.get(field, "default")
    match origin:
        case "option":
            where = f"{variable(field)} (given as --{field.replace('_', '-')})"
        case "toml":
            where = f"{variable(field)} (as {field} in {file})"
        case _:
            where = f"{variable(field)} (from {origin})"
    return f"{where}: {message}"


def _unknown(environment: EnvSettingsSource, dotenv: DotEnvSettingsSource) -> Iterator[Unknown]:
    """Left over variables, by name; one that stands in both places is told once."""
    known = {variable(field) for field in Settings.model_fields} | set(CLIENTS_OWN)
    seen: set[str] = set()
    places: tuple[tuple[Origin, Mapping[str, str | None]], ...] = (
        ("environment", environment.env_vars),
        (".env", dotenv.env_vars),
    )
    for origin, variables in places:
        for name in sorted(one.upper() for one in variables):
            if name.startswith(PREFIX) and not name.startswith(_OF_TESTS) and name not in known | seen:
                seen.add(name)
                yield Unknown(name, origin, tuple(map(variable, nearest(name[len(PREFIX) :]))))
