"""A service on a shared server sweeps after a neighbour that died, and says so."""

from __future__ import annotations

from prometheus_client.parser import text_string_to_metric_families
from structlog.testing import capture_logs

from loom_client import wire
from loom_server.embed.choose import make_embedder
from loom_server.model.deadline import Deadline
from loom_server.observe.metrics import Metrics
from loom_server.service.open import assemble
from loom_server.settings import Settings
from loom_server.store.named import NamedTemplate, Row
from loom_server.store.server import ServerStore

PATIENCE_S = 30.0
LIGHT = {"lightweight_delete_mode": "lightweight_update"}
GONE = NamedTemplate("test.gone", "DELETE FROM loom.memory WHERE /*rows*/", LIGHT)


def swept(metrics: Metrics) -> dict[str, float]:
    families = text_string_to_metric_families(metrics.exposition("text/plain")[0].decode())
    samples = (sample for family in families for sample in family.samples)
    return {sample.labels["change"]: sample.value for sample in samples if sample.name == "loom_sweep_versions_total"}


def test_two_services_see_each_other_s_writes_and_one_sweeps_after_the_other(server: ServerStore, org: str) -> None:
    settings, metrics = Settings(), Metrics()
    embedder = make_embedder(settings)
    one, other = assemble(server, embedder, settings), assemble(server, embedder, settings, metrics=metrics)
    said = one.set(wire.MemorySetRequest(org=org, memory_key="k", value="the red fox"), Deadline(PATIENCE_S))
    one.writer.between_groups(lambda: None, Deadline(PATIENCE_S))
    found = other.search(wire.MemorySearchRequest(org=org, query="red fox"), Deadline(PATIENCE_S))
    assert [hit.memory_key for hit in found.results] == ["k"]
    # As if it had died before the commit.
    one.writer.close()
    server.command(GONE.rows([Row(org, "local", int(said.memory_id, 16))]))
    one.namespaces.process.close(settled=False)
    assert other.patrol is not None
    with capture_logs() as logs:
        other.patrol.round(gone_s=0.0)
    assert {"event": "swept", "dropped": 1}.items() <= next(log for log in logs if log["event"] == "swept").items()
    assert swept(metrics)["dropped"] >= 1
    other.patrol.close()
    other.writer.close()
    other.namespaces.process.close()
