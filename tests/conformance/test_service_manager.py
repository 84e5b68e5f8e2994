# SPDX-License-Identifier: Apache-2.0
"""What a server tells the service manager that has started it (systemd's protocol sd_notify)."""

import signal
import socket

import models
import pytest
from server_process import ServerProcess

LIMIT = 60.0


@pytest.fixture
def manager(tmp_path):
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as listening:
        listening.bind(str(tmp_path / "notify"))
        listening.settimeout(LIMIT)
        yield listening


@pytest.fixture
def start(start_server, manager, is_peer):
    if is_peer:
        pytest.skip("Triton tells a service manager nothing")

    def make(*flags, **environment):
        return start_server("service", lambda root: models.Repository(root).identity(
            "echo", [("INT32", [1])]), *flags, environment={
                "NOTIFY_SOCKET": manager.getsockname(), **environment})
    return make


def next_state(manager):
    """Returns the next message about a state as a dictionary; signs of life are no states."""
    while True:
        lines = dict(line.split("=", 1) for line in manager.recv(4096).decode().splitlines())
        if "WATCHDOG" not in lines:
            return lines


def test_ready_after_the_ports_are_open(start, manager):
    server = start()
    assert next_state(manager) == {"READY": "1", "STATUS": "Serving"}
    server.process.send_signal(signal.SIGHUP)
    reload = next_state(manager)
    assert reload.pop("RELOADING") == "1"
    assert int(reload.pop("MONOTONIC_USEC")) > 0 and not reload
    assert next_state(manager)["READY"] == "1"
    server.stop()
    assert next_state(manager)["STOPPING"] == "1"


def test_signs_of_life(start, manager):
    start(WATCHDOG_USEC="300000")
    seen = [manager.recv(4096) for _ in range(4)]
    assert seen.count(b"WATCHDOG=1") == 3


def test_a_manager_that_is_gone_disturbs_nothing(start, manager):
    server = start()
    manager.close()
    server.process.send_signal(signal.SIGHUP)
    server.stop()
    assert "the service manager did not take 'STOPPING=1'" in server.log.read_text()


def test_a_failed_start_is_not_ready(manager, tmp_path, request, is_peer):
    if is_peer:
        pytest.skip("Triton tells a service manager nothing")
    given = request.config.option.server_command or "build/release/bin/nereid serve"
    server = ServerProcess(given.split(), tmp_path / "absent", tmp_path / "log",
                           environment={"NOTIFY_SOCKET": manager.getsockname()})
    server._spawn()
    assert server.process.wait(LIMIT) == 1
    manager.setblocking(False)
    with pytest.raises(BlockingIOError):
        manager.recv(4096)
