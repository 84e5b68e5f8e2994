# SPDX-License-Identifier: Apache-2.0
"""Starts the server under test (Nereid or the real Triton), waits for it, and stops it."""

import contextlib
import http.client
import os
import signal
import socket
import subprocess
import time
from pathlib import Path


class ServerFailed(RuntimeError):
    """The server did not start, or did not end as required. The text contains the end of its log.
    """


def free_ports(count: int):
    """Returns ports that the kernel has just assigned. They are held at the same time, so that they
    differ."""
    sockets = [socket.socket() for _ in range(count)]
    try:
        for s in sockets:
            s.bind(("127.0.0.1", 0))
        return [s.getsockname()[1] for s in sockets]
    finally:
        for s in sockets:
            s.close()


class UnixConnection(http.client.HTTPConnection):
    """HTTP over a Unix socket, with TLS if there is an ssl.SSLContext."""

    def __init__(self, path, timeout=60, tls=None):
        super().__init__("localhost", timeout=timeout)
        self.path = str(path)
        self.tls = tls

    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.settimeout(self.timeout)
        self.sock.connect(self.path)
        if self.tls is not None:
            self.sock = self.tls.wrap_socket(self.sock, server_hostname="localhost")


class ServerProcess:
    """One server over one repository. `http`, `grpc`, `metrics` are "host:port" texts."""

    def __init__(self, command, repository: Path, log: Path, flags=(), peer=False,
                 environment=None, tls=None):
        self.command = list(command)
        self.repository = repository
        self.log = log
        self.flags = list(flags)
        self.peer = peer
        self.environment = environment  # beside our own
        prefix = "--http-address=unix:"
        self.http_socket = next((flag.removeprefix(prefix) for flag in self.flags
                                 if flag.startswith(prefix)), None)
        self.tls = tls  # an ssl.SSLContext for clients of a server that speaks TLS, else None
        self.process = None

    def start(self, wait_path="/v2/health/ready", timeout=120.0, wait_status=200):
        """Returns when `wait_path` answers with `wait_status`. Tries again if another process takes
        a port in the meantime."""
        for attempt in range(3):
            self._spawn()
            if self._wait(wait_path, timeout, wait_status):
                return self
            text = self.log_tail()
            self.kill()
            if attempt == 2 or "already in use" not in text:
                raise ServerFailed(f"{self.command[0]} did not become ready; its log:\n{text}")
        return self

    def restart(self, wait_path="/v2/health/ready", timeout=120.0):
        """Starts the same server after a death, on the same ports and with the same log."""
        self.kill()
        self._run()
        if not self._wait(wait_path, timeout):
            raise ServerFailed(f"the server did not come back; its log:\n{self.log_tail()}")

    def _spawn(self):
        self.http_port, self.grpc_port, self.metrics_port = free_ports(3)
        self.http = f"127.0.0.1:{self.http_port}"
        self.grpc = f"127.0.0.1:{self.grpc_port}"
        self.log.unlink(missing_ok=True)
        self._run()

    def _run(self):
        arguments = [
            f"--model-repository={self.repository}",
            "--http-address=127.0.0.1", f"--http-port={self.http_port}",
            "--grpc-address=127.0.0.1", f"--grpc-port={self.grpc_port}",
            f"--metrics-port={self.metrics_port}", *self.flags,
        ]
        with open(self.log, "ab") as out:
            self.process = subprocess.Popen(self.command + arguments, stdout=out,
                                            stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL,
                                            env={**os.environ, **(self.environment or {})})

    def _connection(self):
        if self.http_socket:
            return UnixConnection(self.http_socket, timeout=5, tls=self.tls)
        return self.http_connection(timeout=5)

    def _wait(self, path, timeout, status=200) -> bool:
        end = time.monotonic() + timeout
        while time.monotonic() < end and self.process.poll() is None:
            try:
                connection = self._connection()
                connection.request("GET", path)
                if connection.getresponse().status == status:
                    return True
            except OSError:
                pass
            finally:
                connection.close()
            time.sleep(0.05)  # between two questions, not instead of one
        return False

    def http_connection(self, timeout):
        """Returns an http.client connection to the HTTP port."""
        if self.tls is None:
            return http.client.HTTPConnection("127.0.0.1", self.http_port, timeout=timeout)
        return http.client.HTTPSConnection("localhost", self.http_port, timeout=timeout,
                                           context=self.tls)

    def alive(self) -> bool:
        return self.process is not None and self.process.poll() is None

    def log_tail(self, lines=40) -> str:
        text = self.log.read_text(errors="replace") if self.log.exists() else ""
        return "\n".join(text.splitlines()[-lines:])

    def kill(self):
        if self.alive():
            self.process.kill()
        if self.process is not None:
            self.process.wait()

    def stop(self, timeout=60.0, expected=0):
        """Ends the server the polite way and checks how it went (the peer is only ended)."""
        if self.process is None:
            return
        if self.peer:
            self.process.terminate()
            with contextlib.suppress(subprocess.TimeoutExpired):
                self.process.wait(10)
            self.kill()
            return
        if not self.alive():
            raise ServerFailed(f"the server died with {self.process.returncode}; its log:\n"
                               + self.log_tail())
        self.process.send_signal(signal.SIGTERM)
        try:
            code = self.process.wait(timeout)
        except subprocess.TimeoutExpired:
            self.kill()
            raise ServerFailed(f"the server did not end within {timeout} s of SIGTERM; its log:\n"
                               + self.log_tail()) from None
        if code != expected:
            raise ServerFailed(f"the server ended with {code}; its log:\n{self.log_tail(120)}")
        sanitizer = [line for line in self.log.read_text(errors="replace").splitlines()
                     if ("Sanitizer" in line or "runtime error:" in line)
                     and "Sanitizer failed to allocate" not in line]  # so does malloc
        if sanitizer:
            raise ServerFailed(f"a sanitizer spoke: {sanitizer[0]} (log: {self.log})")
        self.process = None


def sanitized(server) -> bool:
    """Whether a sanitizer is built into it, whose own memory the process holds too."""
    program = Path(server.command[0]).read_bytes()
    return b"__asan_init" in program or b"__tsan_init" in program


def peer_command(folder: Path):
    """The command of the real Triton that tools/peer/fetch_triton.sh put into `folder`."""
    script = Path(__file__).resolve().parents[2] / "tools" / "peer" / "run_triton.sh"
    if not os.access(folder / "peer.env", os.R_OK):
        raise ServerFailed(f"no Triton in {folder}; run tools/peer/fetch_triton.sh {folder}")
    return [str(script), str(folder)]
