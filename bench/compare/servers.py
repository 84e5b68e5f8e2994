# SPDX-License-Identifier: Apache-2.0
"""Starts a server, waits until it is ready, and reads the resources of its process."""

import http.client
import json
import os
import pathlib
import signal
import socket
import subprocess
import sys
import time

from cases import ROOT

TICK = os.sysconf("SC_CLK_TCK")


def free_ports(count):
    """Returns ports on which nobody listens. Another process could still take them."""
    sockets = [socket.socket() for _ in range(count)]
    for s in sockets:
        s.bind(("127.0.0.1", 0))
    ports = [s.getsockname()[1] for s in sockets]
    for s in sockets:
        s.close()
    return ports


class Server:
    """One server process. `command` starts it, without the flags that both servers share."""

    def __init__(self, name, command, repository, log, tls=None):
        """`tls`: an ssl.SSLContext, if the server's HTTP speaks TLS."""
        self.name = name
        self.log = log
        self.tls = tls
        self.http_port, self.grpc_port, self.metrics_port = free_ports(3)
        flags = [f"--model-repository={repository}", "--http-address=127.0.0.1",
                 "--grpc-address=127.0.0.1", f"--http-port={self.http_port}",
                 f"--grpc-port={self.grpc_port}", f"--metrics-port={self.metrics_port}"]
        started = time.monotonic()
        with open(log, "wb") as out:
            self.process = subprocess.Popen([*map(str, command), *flags], stdout=out, stderr=out,
                                            stdin=subprocess.DEVNULL)
        self.pid = self.process.pid
        self.seconds_to_ready = self._wait_until_ready(started)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.stop()

    def _wait_until_ready(self, started):
        while time.monotonic() < started + 60:
            if self.process.poll() is not None:
                self.fail(f"ended with code {self.process.returncode}")
            try:
                if self.get("/v2/health/ready")[0] == 200:
                    return time.monotonic() - started
            except OSError:
                pass
            time.sleep(0.005)
        self.stop()
        self.fail("was not ready within 60 s")

    def fail(self, what):
        """Ends the program, with the end of the server's log."""
        lines = self.log.read_text(errors="replace").splitlines()
        sys.exit(f"{pathlib.Path(sys.argv[0]).name}: {self.name} {what}; the end of {self.log}:\n  " +
                 "\n  ".join(lines[-15:]))

    def get(self, path):
        """The status and the body of a GET."""
        if self.tls is None:
            connection = http.client.HTTPConnection("127.0.0.1", self.http_port, timeout=10)
        else:
            connection = http.client.HTTPSConnection("127.0.0.1", self.http_port, timeout=10,
                                                     context=self.tls)
        try:
            connection.request("GET", path)
            answer = connection.getresponse()
            return answer.status, answer.read()
        finally:
            connection.close()

    def inference_count(self, model):
        status, body = self.get(f"/v2/models/{model}/stats")
        if status != 200:
            self.fail(f"answered {status} to the statistics of {model}")
        return json.loads(body)["model_stats"][0]["inference_count"]

    def cpu_seconds(self):
        """User and system time of all threads so far."""
        with open(f"/proc/{self.pid}/stat", encoding="ascii", errors="replace") as stat:
            fields = stat.read().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / TICK

    def resident_mib(self):
        return self._status("VmRSS") / 1024

    def anonymous_mib(self):
        """Returns the resident memory without mapped files."""
        return self._status("RssAnon") / 1024

    def threads(self):
        return self._status("Threads")

    def _status(self, key):
        with open(f"/proc/{self.pid}/status", encoding="utf-8") as status:
            for line in status:
                if line.startswith(key + ":"):
                    return int(line.split()[1])
        raise KeyError(key)

    def stop(self):
        if self.process.poll() is not None:
            return
        self.process.send_signal(signal.SIGTERM)
        try:
            self.process.wait(20)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()


class Triton:
    """The peer in the folder that tools/peer/fetch_triton.sh has made."""
    name = "triton"

    def __init__(self, folder, build):
        # The plug-ins are copied on every run, because they may have been rebuilt.
        done = subprocess.run([ROOT / "tools/peer/fetch_triton.sh", folder, build], check=False,
                              capture_output=True, text=True)
        if done.returncode != 0:
            sys.exit(f"against_triton: fetch_triton.sh failed:\n{done.stdout}{done.stderr}")
        self.command = [ROOT / "tools/peer/run_triton.sh", folder]


class Nereid:
    def __init__(self, build, name="nereid"):
        self.name = name
        program = build / "bin" / "nereid"
        if not program.exists():
            sys.exit(f"against_triton: there is no {program}; build it (README.md), or name the "
                     "build folder with --build")
        # The identity model of the other server returns only its output.
        self.command = [program, "serve", f"--backend-directory={build / 'backends'}",
                        "--backend-config=identity,example-parameters=false"]
