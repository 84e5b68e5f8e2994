# SPDX-License-Identifier: Apache-2.0
"""nereid top: once, without a terminal, and on a terminal of its own (a pty)."""

import fcntl
import json
import os
import pty
import re
import select
import signal
import struct
import subprocess
import termios
import threading
import time

import command_line
import models
import pytest
import raw_http


def write(root):
    repository = models.Repository(root)
    repository.identity("busy", [("INT32", [1])])
    repository.identity("idle", [("INT32", [1])])


@pytest.fixture(scope="module")
def tool(request):
    return command_line.runner(request.config)


@pytest.fixture(scope="module")
def serving(start_server):
    return start_server("tool-top", write)


@pytest.fixture
def load(serving):
    """Sends requests to the model "busy" until the test ends."""
    over = threading.Event()
    body = json.dumps({"inputs": [{"name": "INPUT0", "datatype": "INT32", "shape": [1],
                                   "data": [1]}]}).encode()

    def send():
        while not over.is_set():
            raw_http.request(serving, "POST", "/v2/models/busy/infer", body)

    thread = threading.Thread(target=send, daemon=True)
    thread.start()
    yield
    over.set()
    thread.join(30)


def test_once(tool, serving, load):
    done = tool(serving, "top", "--once", "--interval=1")
    lines = done.stdout.splitlines()
    assert lines[2].split()[:4] == ["MODEL", "VERSION", "STATE", "REQ/S"]
    assert lines[3].split()[:3] == ["busy", "1", "READY"] and float(lines[3].split()[3]) > 0
    assert lines[4].split()[:4] == ["idle", "1", "READY", "-"]


def test_not_a_terminal(tool, serving, load):
    done = tool(serving, "top", "--count=2", "--interval=0.5", "--format=json")
    first, second = (json.loads(line) for line in done.stdout.splitlines())
    assert first[0]["name"] == second[0]["name"] == "busy"
    assert "\x1b" not in tool(serving, "top", "--count=1", "--interval=0.2").stdout


def test_no_server(tool):
    assert tool(None, "top", "--once", code=2, url="127.0.0.1:1").stderr.startswith("nereid top: ")


class Screen:
    """nereid top on a pty."""

    def __init__(self, config, server, *words, url=None):
        self.master, slave = pty.openpty()
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 20, 100, 0, 0))
        self.before = termios.tcgetattr(slave)
        self.slave = slave
        self.process = subprocess.Popen(
            [command_line.program(config), "top", "--interval=0.2", *words], stdin=slave,
            stdout=slave, stderr=slave, env=command_line.environment(server, url))
        self.text = ""

    def wait_for(self, pattern, seconds=60):
        """Reads until the text has the pattern; then forgets the text."""
        end = time.monotonic() + seconds
        while not re.search(pattern, self.text):
            assert time.monotonic() < end, self.text[-2000:]
            if select.select([self.master], [], [], 1)[0]:
                self.text += os.read(self.master, 65536).decode(errors="replace")
        self.text = ""

    def press(self, keys):
        os.write(self.master, keys)

    def end(self):
        code = self.process.wait(60)
        assert termios.tcgetattr(self.slave) == self.before
        rest = ""
        while select.select([self.master], [], [], 0.2)[0]:
            rest += os.read(self.master, 65536).decode(errors="replace")
        assert "\x1b[?1049l" in self.text + rest
        return code


def test_on_a_terminal(request, serving, load):
    screen = Screen(request.config, serving)
    screen.wait_for(r"\x1b\[\?1049h")
    screen.wait_for(r"busy +1 +READY +[0-9]")
    screen.press(b"xyz")
    screen.wait_for(r"idle +1 +READY")
    screen.press(b"q")
    assert screen.end() == 0


@pytest.mark.parametrize("how", ["ctrl-c", "SIGTERM"])
def test_the_terminal_is_left_as_it_was(request, serving, how):
    screen = Screen(request.config, serving)
    screen.wait_for(r"busy +1 +READY")
    if how == "ctrl-c":
        screen.press(b"\x03")
    else:
        screen.process.send_signal(signal.SIGTERM)
    assert screen.end() == 0


def test_a_server_that_vanishes_and_returns(request, start_server):
    server = start_server("tool-top-vanishing", write)
    screen = Screen(request.config, server)
    screen.wait_for(r"busy +1 +READY")
    server.kill()
    screen.wait_for(r"onnect")
    server.restart()
    # The line of the problem is empty again.
    screen.wait_for(r" s\x1b\[0m\x1b\[K\s+\x1b\[K\s+\x1b\[7mMODEL")
    screen.press(b"q")
    assert screen.end() == 0


def test_the_terminal_vanishes(request, serving):
    screen = Screen(request.config, serving)
    screen.wait_for(r"busy +1 +READY")
    os.close(screen.slave)
    os.close(screen.master)
    screen.process.wait(60)
