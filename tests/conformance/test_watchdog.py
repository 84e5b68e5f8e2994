# SPDX-License-Identifier: Apache-2.0
"""The watchdog of a whole server: what it names, and that nothing of it makes the server dead by
mistake. The bound is short, so that the cases need not wait for long; a busy machine may then name more
stages than the case holds up."""

import pytest
import raw_http
import stopping
from sequences import Plugin, wait_for
from stopping import BOUND, INFER, Later

pytestmark = pytest.mark.skipif("config.option.peer", reason="Triton has no watchdog")

WATCHED = ("--watchdog-secs=2", "--watchdog-liveness=true")


@pytest.fixture(scope="module")
def plugin(test_plugins):
    return Plugin(test_plugins / "libtriton_witness.so")


@pytest.fixture
def watched(start_server, plugin):
    made = []

    def make(*flags):
        made.append(stopping.stoppable(start_server, plugin, *WATCHED, *flags))
        return made[-1]

    yield make
    for stopped in made:
        if stopped.server.process is not None:
            stopped.server.kill()
            stopped.server.process = None


def findings(server):
    """Returns (cause, stage, name) of each finding."""
    answer = raw_http.get(server, "/v2/health/live?reason=true")
    assert answer.json["live"] is (answer.status == 200), answer.body
    for reason in answer.json["reasons"]:
        assert reason["seconds"] >= 2 and reason["name"] in reason["text"]
    return {(r["cause"], r["stage"], r["name"]) for r in answer.json["reasons"]}


def metrics(server, name):
    text = raw_http.get(server, "/metrics", port=server.metrics_port).body.decode()
    return {line.rsplit(" ", 1)[0]: float(line.rsplit(" ", 1)[1])
            for line in text.splitlines() if line.startswith(name)}


def rounds(server):
    return metrics(server, "nereid_watchdog_rounds_total")["nereid_watchdog_rounds_total"]


def test_a_server_at_rest_and_at_work_moves(watched):
    server = watched().server
    begin = rounds(server)
    while rounds(server) < begin + 20:  # more than two bounds
        for protocol in ("http", "grpc"):
            assert INFER[protocol](server, "one", 5) == 5
            assert INFER[protocol](server, "ens", 5) == 5
    assert findings(server) == set()
    assert set(metrics(server, "nereid_watchdog_alarms_total").values()) == {0.0}


@pytest.mark.parametrize("count", [1, 3])
def test_a_long_execution_is_named_and_not_stuck(watched, count):
    stopped = watched("--inline-execution=never")
    with stopping.running(stopped, "http", count=count) as check:
        named = ("executing", "scheduler", "one")
        wait_for(lambda: named in findings(stopped.server), "the execution", BOUND)
        assert raw_http.get(stopped.server, "/v2/health/live").status == 200
        check()
    wait_for(lambda: named not in findings(stopped.server), "its end", BOUND)
    assert "watchdog: scheduler 'one' has been executing for" in stopped.log
    assert "scheduler 'one' has not moved" not in stopped.log


def test_loads_that_wait_for_loads_are_named_and_not_fatal(watched):
    stopped = watched()
    server = stopped.server
    gate = stopped.notes["held"].load_gate
    gate.write_text("0")
    asked = [Later(lambda: raw_http.request(
        server, "POST", "/v2/repository/models/held/load", b"{}").status) for _ in range(12)]
    named = ("stuck", "pool", "http-loads")
    wait_for(lambda: named in findings(server), "the pool", BOUND)
    assert raw_http.get(server, "/v2/health/live").status == 200
    assert INFER["grpc"](server, "one", 5) == 5
    alarms = 'nereid_watchdog_alarms_total{stage="pool"}'
    assert metrics(server, alarms)[alarms] >= 1
    gate.unlink()
    assert [later.get() for later in asked] == [200] * 12
    wait_for(lambda: named not in findings(server), "its end", BOUND)
    assert "watchdog: pool 'http-loads' has not moved" in stopped.log
    assert "watchdog: pool 'http-loads' moves again" in stopped.log


def test_without_a_watchdog(start_server, plugin):
    stopped = stopping.stoppable(start_server, plugin, "--watchdog-secs=0",
                                 "--watchdog-liveness=true")
    assert findings(stopped.server) == set()
    assert metrics(stopped.server, "nereid_watchdog") == {}
