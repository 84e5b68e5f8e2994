# SPDX-License-Identifier: Apache-2.0
"""Drains: by the call, and before a stop. A server that drains is not ready and begins no new
sequences; everything else is served."""

import json
import signal

import grpc_raw
import pytest
import raw_http
import stopping
from sequences import Plugin, wait_for
from stopping import BOUND, INFER, NO_ID, refusal

PROTOCOLS = ["http", "grpc"]
UNAVAILABLE = {"http": 503, "grpc": "UNAVAILABLE"}
DRAINS = (NO_ID + "the server drains and begins no new sequences. Send the sequence to another "
          "server.")

pytestmark = pytest.mark.skipif("config.option.peer", reason="Triton has no drain")


@pytest.fixture(scope="module")
def plugin(test_plugins):
    return Plugin(test_plugins / "libtriton_witness.so")


@pytest.fixture
def stoppable(start_server, plugin):
    made = []

    def make(*flags):
        made.append(stopping.stoppable(start_server, plugin, *flags))
        return made[-1]

    yield make
    for stopped in made:
        if stopped.server.process is not None:
            stopped.server.kill()
            stopped.server.process = None


def drain(server, method="GET", body=None):
    answer = raw_http.request(server, method, "/v2/drain",
                              None if body is None else json.dumps(body).encode())
    assert answer.status == 200, answer.body
    return answer.json


def reasons(server):
    answer = raw_http.get(server, "/v2/health/ready?reason=true")
    assert answer.status == (200 if answer.json["ready"] else 400)
    return [reason["cause"] for reason in answer.json["reasons"]]


def serves_all_but_new_sequences(server, open_sequence):
    for protocol in PROTOCOLS:
        assert INFER[protocol](server, "one", 5) == 5
        assert refusal(server, protocol, "seq", sequence_id=9, sequence_start=True) == (
            UNAVAILABLE[protocol], DRAINS)
        assert INFER[protocol](server, "seq", 2, sequence_id=open_sequence) == 2
    assert raw_http.get(server, "/v2/models/one/ready").status == 200
    assert raw_http.get(server, "/v2/health/live").status == 200
    assert raw_http.request(server, "POST", "/v2/repository/index", b"{}").status == 200


def test_a_drain_is_begun_and_ended(stoppable):
    server = stoppable().server
    assert drain(server) == {"draining": False, "in_flight": 0, "busy": [], "omitted": 0}
    assert INFER["http"](server, "seq", 1, sequence_id=7, sequence_start=True) == 1
    begun = drain(server, "POST", {})
    assert begun == {"draining": True, "in_flight": 1, "omitted": 0,
                     "busy": [{"model": "seq", "version": "1", "in_flight": 1}]}
    answer = raw_http.get(server, "/v2/health/ready")
    assert (answer.status, answer.body) == (400, b"")
    assert reasons(server) == ["draining"]
    ready = grpc_raw.call(server, "ServerReady")
    assert ready.ready is False
    serves_all_but_new_sequences(server, open_sequence=7)
    # The end of the last sequence is what an operator waits for.
    assert INFER["grpc"](server, "seq", 3, sequence_id=7, sequence_end=True) == 3
    wait_for(lambda: drain(server)["in_flight"] == 0, "no work in flight")
    assert drain(server, "DELETE")["draining"] is False
    assert raw_http.get(server, "/v2/health/ready").status == 200
    assert reasons(server) == []
    assert INFER["http"](server, "seq", 1, sequence_id=8, sequence_start=True,
                         sequence_end=True) == 1


def test_models_are_loaded_and_unloaded_meanwhile(stoppable):
    server = stoppable().server
    drain(server, "POST", {"seconds": 3600})
    assert 3500 < drain(server)["seconds_left"] <= 3600
    for action in ("load", "unload"):
        answer = raw_http.request(server, "POST", f"/v2/repository/models/held/{action}", b"{}")
        assert answer.status == 200, answer.body
    drain(server, "POST", {"drain": False})
    # A model that is being unloaded keeps the server unready, with or without a drain.
    wait_for(lambda: raw_http.get(server, "/v2/health/ready").status == 200, "readiness")


def test_a_drain_with_an_end_ends(stoppable):
    server = stoppable().server
    drain(server, "POST", {"seconds": 1})
    assert reasons(server) == ["draining"]
    wait_for(lambda: raw_http.get(server, "/v2/health/ready").status == 200, "readiness")
    assert drain(server)["draining"] is False


def test_wrong_requests_change_nothing(stoppable):
    server = stoppable().server
    for body in (b"[]", b"{", b'{"seconds": 0}', b'{"second": 1}', b'{"drain": "yes"}'):
        answer = raw_http.request(server, "POST", "/v2/drain", body)
        assert answer.status in (400, 500) and answer.error, body
    assert drain(server)["draining"] is False


def test_a_stop_after_a_drain_by_the_call(stoppable):
    stopped = stoppable()
    drain(stopped.server, "POST", {})
    stopped.signal(signal.SIGTERM)
    stopped.ended(0)


# The drain before a stop.


def test_a_signal_drains_first(stoppable):
    stopped = stoppable("--drain-secs=3600")
    server = stopped.server
    assert INFER["http"](server, "seq", 1, sequence_id=7, sequence_start=True) == 1
    stopped.signal(signal.SIGTERM)
    wait_for(lambda: stopped.ready() != 200, "readiness says no", BOUND)
    assert reasons(server) == ["draining"]
    serves_all_but_new_sequences(server, open_sequence=7)
    # It cannot be ended: the server will stop.
    for method in ("POST", "DELETE"):
        answer = raw_http.request(server, method, "/v2/drain", b'{"drain": false}')
        assert (answer.status, answer.error) == (503, "Server exiting")
    assert reasons(server) == ["draining"]
    # A second signal ends it. The stop waits for the open sequence.
    stopped.signal(signal.SIGTERM)
    wait_for(lambda: reasons(server)[0] == "ending", "the end of the drain", BOUND)
    assert refusal(server, "http", "one")[0] == 503
    assert INFER["http"](server, "seq", 3, sequence_id=7, sequence_end=True) == 3
    stopped.ended(0)


def test_the_drain_ends_with_its_time(stoppable):
    stopped = stoppable("--drain-secs=1", "--exit-timeout-secs=5")
    stopped.signal(signal.SIGTERM)
    assert stopped.ended(0) >= 1
    assert "Draining for 1 seconds" in stopped.log


def test_the_exit_timeout_begins_after_the_drain(stoppable):
    stopped = stoppable("--drain-secs=1", "--exit-timeout-secs=1")
    with stopping.running(stopped, "grpc"):
        stopped.signal(signal.SIGTERM)
        assert stopped.ended(1) >= 2
    assert "Exit timeout expired. Exiting immediately." in stopped.log
