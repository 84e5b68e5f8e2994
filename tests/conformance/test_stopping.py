# SPDX-License-Identifier: Apache-2.0
"""Stops of the server: work in flight, each signal, each protocol; the answers during the stop, its
duration and the exit code. Each case has its own server."""

import http.client
import os
import signal
import subprocess
import threading
import time

import grpc
import grpc_raw
import pytest
import raw_http
import stopping
from raw_http import head
from sequences import Plugin, wait_for
from server_process import ServerProcess, free_ports
from stopping import BOUND, INFER, NO_ID, STOPPING, refusal

SIGNALS = [signal.SIGINT, signal.SIGTERM]
PROTOCOLS = ["http", "grpc"]
UNAVAILABLE = {"http": 503, "grpc": "UNAVAILABLE"}

pytestmark = pytest.mark.skipif("config.option.peer",
                                reason="Triton ends otherwise: docs/user/differences.md")


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
    for stopped in made:  # a failed case does not end its server
        if stopped.server.process is not None:
            stopped.server.kill()
            stopped.server.process = None


@pytest.fixture
def starting(start_server, plugin, tmp_path):
    made = []

    def make(*flags):
        made.append(stopping.starting(start_server, plugin, tmp_path, *flags))
        return made[-1]

    yield make
    for stopped in made:
        if stopped.server.process is not None:
            stopped.server.kill()


# Work that does not delay the stop.


@pytest.mark.parametrize("number", SIGNALS)
@pytest.mark.parametrize("flight", [
    stopping.nothing, stopping.idle_connection, stopping.half_request, stopping.idle_stream])
@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_idle_clients_do_not_hold_the_stop(stoppable, flight, protocol, number):
    if flight is stopping.idle_stream and protocol == "http":
        pytest.skip("a stream is gRPC's")
    stopped = stoppable()
    with flight(stopped, protocol) as check:
        stopped.signal(number)
        stopped.ended(0)
        check()
    assert f"Signal ({int(number)}) received." in stopped.log
    assert "Waiting for in-flight requests to complete." in stopped.log


# Work that delays the stop.


@pytest.mark.parametrize("number", SIGNALS)
@pytest.mark.parametrize("protocol", PROTOCOLS)
@pytest.mark.parametrize("flight", ["running", "queued", "ensemble", "plug-in"])
def test_requests_in_flight_finish_and_new_ones_are_refused(stoppable, flight, protocol, number):
    stopped = stoppable()
    how = {"running": {}, "queued": {"count": 3}, "ensemble": {"model": "ens"},
           "plug-in": {"model": "nested"}}[flight]
    with stopping.running(stopped, protocol, **how) as check:
        stopped.signal(number)
        stopped.refuses()
        for asked in PROTOCOLS:  # on new connections: the ports are open
            for model in ("one", "two"):
                assert refusal(stopped.server, asked, model) == (UNAVAILABLE[asked],
                                                                 NO_ID + STOPPING)
            assert refusal(stopped.server, asked, "ens") == (
                UNAVAILABLE[asked], "in ensemble 'ens', " + NO_ID + STOPPING)
            assert refusal(stopped.server, asked, "seq", sequence_id=9, sequence_start=True) == (
                UNAVAILABLE[asked], STOPPING)
        assert raw_http.get(stopped.server, "/v2/health/live").status == 200
        assert raw_http.get(stopped.server, "/v2").status == 200
        assert grpc_raw.failure(stopped.server, "ServerReady") == ("UNAVAILABLE", "Server exiting")
        check()  # the answers arrive and are correct: the later steps were executed
    stopped.ended(0)
    assert f"has {how.get('count', 1)} in-flight inferences" in stopped.log
    if flight == "ensemble":
        assert "Model 'ens' (version 1) has 1 in-flight inferences" in stopped.log


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_a_stream_of_new_requests_does_not_hold_the_stop(stoppable, protocol):
    """Every request is answered or refused until the server closes the ports."""
    stopped = stoppable()
    wrong = []

    def ask():
        while True:
            try:
                if INFER[protocol](stopped.server, "one", 5) != 5:
                    return wrong.append("another answer")
            except AssertionError as error:  # over HTTP a status other than 200
                if STOPPING not in str(error):
                    return wrong.append(str(error))
            except grpc.RpcError as error:
                if STOPPING in error.details():
                    continue
                return None if error.code().name == "UNAVAILABLE" else wrong.append(str(error))
            except (OSError, http.client.HTTPException):
                return None  # the port is closed

    asking = [threading.Thread(target=ask, daemon=True) for _ in range(8)]
    for thread in asking:
        thread.start()
    wait_for(lambda: len(stopped.notes["one"].executions()) > 20, "requests", BOUND)
    stopped.signal(signal.SIGTERM)
    stopped.ended(0)
    for thread in asking:
        thread.join(BOUND)
        assert not thread.is_alive()
    assert wrong == []


def test_what_else_is_answered_meanwhile(stoppable):
    stopped = stoppable()
    server = stopped.server
    with stopping.running(stopped, "grpc") as check:
        stopped.signal(signal.SIGTERM)
        stopped.refuses()
        for method, path in (("POST", "/v2/repository/index"), ("GET", "/v2/models/one/stats"),
                             ("POST", "/v2/repository/models/one/load"),
                             ("POST", "/v2/repository/models/one/unload")):
            answer = raw_http.request(server, method, path, b"{}" if method == "POST" else None)
            assert (answer.status, answer.error) == (503, "Server not ready"), path
        assert grpc_raw.failure(server, "RepositoryModelLoad", model_name="held") == (
            "UNAVAILABLE", "Server not ready")
        assert grpc_raw.failure(server, "ModelReady", name="one") == (
            "UNAVAILABLE", "Server not ready")
        assert refusal(server, "grpc", "nobody")[0] == "NOT_FOUND"
        assert raw_http.get(server, "/metrics", port=server.metrics_port).status == 200
        check()
    stopped.ended(0)


@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_sequences_that_live_go_on(stoppable, protocol):
    stopped = stoppable()
    infer = INFER[protocol]
    assert infer(stopped.server, "seq", 1, sequence_id=7, sequence_start=True) == 1
    stopped.signal(signal.SIGTERM)
    stopped.refuses()
    assert infer(stopped.server, "seq", 2, sequence_id=7) == 2
    for flags in ({"sequence_id": 8, "sequence_start": True},
                  {"sequence_id": 7, "sequence_start": True}):
        assert refusal(stopped.server, protocol, "seq", **flags) == (UNAVAILABLE[protocol],
                                                                     STOPPING)
    status, text = refusal(stopped.server, protocol, "seq", sequence_id=9)
    assert "must specify the START flag" in text, status
    assert infer(stopped.server, "seq", 3, sequence_id=7, sequence_end=True) == 3
    stopped.ended(0)


@pytest.mark.parametrize("number", SIGNALS)
@pytest.mark.parametrize("protocol", PROTOCOLS)
def test_a_load_under_way_is_finished(stoppable, protocol, number):
    stopped = stoppable()
    with stopping.load(stopped, protocol) as check:
        stopped.signal(number)
        stopped.refuses()
        check()
    stopped.ended(0)


# The exit timeout.


@pytest.mark.parametrize("number", SIGNALS)
@pytest.mark.parametrize("flight,named", [
    (stopping.running, "in flight: one:1"), (stopping.load, "being loaded: held")])
def test_the_exit_timeout_ends_it(stoppable, flight, named, number):
    stopped = stoppable("--exit-timeout-secs=1")
    with flight(stopped, "grpc"):
        stopped.signal(number)
        assert stopped.ended(1) >= 1
    assert "Exit timeout expired. Exiting immediately." in stopped.log
    assert named in stopped.log


def test_the_third_signal_ends_it_at_once(stoppable):
    stopped = stoppable()
    with stopping.running(stopped, "http"):
        stopped.signal(signal.SIGTERM)
        stopped.refuses()
        stopped.signal(signal.SIGTERM)
        wait_for(lambda: "signal once more to exit at once" in stopped.log, "the word", BOUND)
        stopped.signal(signal.SIGINT)
        stopped.ended(1)


# Stops during the start.


@pytest.mark.parametrize("number", SIGNALS)
def test_a_start_is_broken_off(starting, number):
    stopped = starting()
    stopped.signal(number)
    wait_for(lambda: "received." in stopped.log, "the signal", BOUND)
    stopped.notes["held"].load_gate.unlink()  # the load that is under way ends
    stopped.ended(0)
    assert "loading: one:1" not in stopped.log  # the next one did not begin
    assert "Started" not in stopped.log


@pytest.mark.parametrize("number", SIGNALS)
def test_a_start_that_does_not_end_is_ended(starting, number):
    stopped = starting("--exit-timeout-secs=1")
    stopped.signal(number)
    assert stopped.ended(1) >= 1
    assert "Exit timeout expired. Exiting immediately. Models that are being loaded: held" in \
        stopped.log


# Logs without a reader, and other signals.


def test_a_log_that_nobody_reads_holds_nothing_up(stoppable):
    like = stoppable()
    server = like.server
    like.signal(signal.SIGTERM)
    like.ended(0)
    unread = ServerProcess(server.command, server.repository, server.log, server.flags)
    unread.http_port, unread.grpc_port, unread.metrics_port = free_ports(3)
    reader, writer = os.pipe()
    process = subprocess.Popen(
        [*server.command, f"--model-repository={server.repository}",
         f"--http-port={unread.http_port}", f"--grpc-port={unread.grpc_port}",
         f"--metrics-port={unread.metrics_port}", "--log-verbose=1", *server.flags],
        stdout=writer, stderr=writer, stdin=subprocess.DEVNULL)
    os.close(writer)
    try:
        unread.process = process
        assert unread._wait("/v2/health/ready", 60)
        with raw_http.Wire(unread) as wire:
            for _ in range(3000):  # more lines than a pipe holds
                wire.send(head("GET", "/v2/health/live"))
                assert wire.read().status == 200
        process.send_signal(signal.SIGTERM)
        process.wait(BOUND)
        assert process.returncode == 0
        text = b""
        while chunk := os.read(reader, 65536):
            text += chunk
        assert b"HTTP request: 0 /v2/health/live" in text
    finally:
        process.kill()
        process.wait()
        os.close(reader)


def test_hanging_up_opens_the_log_file_anew(stoppable, tmp_path):
    log = tmp_path / "server.log"
    stopped = stoppable(f"--log-file={log}", "--log-format=ISO8601")
    assert log.read_text()[:2] == "20"  # a date: the format holds from the first line on
    os.rename(log, tmp_path / "rotated.log")
    stopped.server.process.send_signal(signal.SIGHUP)
    wait_for(lambda: log.exists() and "was reopened" in log.read_text(), "the new file", BOUND)
    stopped.signal(signal.SIGTERM)
    stopped.ended(0)
    assert "Waiting for in-flight requests to complete." in log.read_text()
    assert "Waiting for in-flight" not in (tmp_path / "rotated.log").read_text()


def test_hanging_up_without_a_log_file_changes_nothing(stoppable):
    stopped = stoppable()
    stopped.server.process.send_signal(signal.SIGHUP)
    wait_for(lambda: "SIGHUP: ignored" in stopped.log, "the line of the log", BOUND)
    assert stopped.ready() == 200
    stopped.signal(signal.SIGTERM)
    stopped.ended(0)


# Starts that fail, and starts that must succeed.


def started(server, *flags):
    """Returns the output and the exit code of a server that ends by itself."""
    done = subprocess.run([*server.command, *flags], capture_output=True, text=True, timeout=60)
    return done.stdout + done.stderr, done.returncode


@pytest.mark.parametrize("service", ["http", "grpc", "metrics"])
def test_a_port_that_is_taken(stoppable, tmp_path, service):
    stopped = stoppable()
    ports = dict(zip(("http", "grpc", "metrics"), free_ports(3)))
    ports[service] = getattr(stopped.server, f"{service}_port")
    text, code = started(stopped.server, f"--model-repository={tmp_path}",
                         "--http-address=127.0.0.1", "--grpc-address=127.0.0.1",
                         *(f"--{name}-port={port}" for name, port in ports.items()))
    assert code == 1
    name = {"http": "HTTP", "grpc": "GRPC", "metrics": "Metrics"}[service]
    assert (f"\"failed to start {name} service: Unavailable - Socket '127.0.0.1:{ports[service]}' "
            "already in use \"") in text
    stopped.signal(signal.SIGTERM)
    stopped.ended(0)


def test_a_missing_repository_and_exit_on_error(stoppable, tmp_path):
    like = stoppable()
    text, code = started(like.server, f"--model-repository={tmp_path}/none", "--http-port=0",
                         "--grpc-port=0", "--metrics-port=0")
    assert code == 1 and "failed to stat file" in text
    server = ServerProcess(like.server.command, tmp_path / "none", tmp_path / "server.log",
                           ["--exit-on-error=false"])
    server._spawn()
    stopped = stopping.Stopped(server, {})
    wait_for(lambda: server.log.exists() and "Started Metrics" in stopped.log, "the start", BOUND)
    assert raw_http.get(server, "/v2/health/live").status == 400
    assert stopped.ready() == 400
    answer = raw_http.request(server, "POST", "/v2/repository/index", b"{}")
    assert (answer.status, answer.error) == (503, "Server not ready")
    stopped.signal(signal.SIGTERM)
    stopped.ended(0)
    like.signal(signal.SIGTERM)
    like.ended(0)


def test_lines_that_operators_look_for(stoppable):
    stopped = stoppable("--log-verbose=1")
    server = stopped.server
    raw_http.get(server, "/v2/logging")
    raw_http.get(server, "/v2/nothing")
    raw_http.get(server, "/metrics", port=server.metrics_port)
    stopping.http_infer(server, "one", 1)
    stopping.grpc_infer(server, "one", 1)
    grpc_raw.call(server, "LogSettings")
    before = time.monotonic()
    stopped.signal(signal.SIGTERM)
    stopped.ended(0)
    assert time.monotonic() - before < BOUND
    for line in ("HTTP request: 0 /v2/logging", "HTTP request: 2 /v2/models/one/infer",
                 "HTTP error: 0 /v2/nothing - 404", "HTTP request: 0 /metrics",
                 "Process for ModelInferHandler, rpc_ok=1,", "Process for Logging, rpc_ok=1,",
                 "Adding default backend config setting: default-max-batch-size,4",
                 "Waiting for in-flight requests to complete.",
                 "All models are stopped, unloading models"):
        assert f'] "{line}' in stopped.log, line
