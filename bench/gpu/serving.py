# SPDX-License-Identifier: Apache-2.0
"""What the checks of servers on machines with a GPU share: a server, and a report. Needs bench/compare
in sys.path."""

import http.client
import json
import signal
import subprocess
import time
import traceback

import numpy as np
from servers import free_ports


def difference(answer, expected):
    answer, expected = answer.astype("f8"), expected.astype("f8")
    if answer.shape != expected.shape or not np.isfinite(answer).all():
        return float("inf")
    return float(np.linalg.norm(answer - expected) / np.linalg.norm(expected))


class Report:
    """Checks and measurements, printed at once and again as a table at the end."""

    def __init__(self):
        self.lines = []
        self.failed = 0

    def add(self, what, result, ok=True):
        line = f"{'ok  ' if ok else 'FAIL'}  {what:<44} {result}"
        self.failed += not ok
        self.lines.append(line)
        print(line, flush=True)

    def check(self, what, run):
        """`run` returns (ok, text); an exception is a failure."""
        try:
            ok, text = run()
        except Exception as error:  # pylint: disable=broad-except
            traceback.print_exc()
            ok, text = False, f"{type(error).__name__}: {error}".replace("\n", " ")[:300]
        self.add(what, text, ok)
        return ok

    def print(self):
        print("\n" + "\n".join(self.lines))
        print(f"{self.failed} failed, {len(self.lines) - self.failed} passed")


class Server:
    def __init__(self, build, repository, log, flags):
        self.http, self.grpc, self.metrics = free_ports(3)
        self.log = log
        command = [build / "bin" / "nereid", "serve", f"--model-repository={repository}",
                   f"--backend-directory={build / 'backends'}", "--exit-on-error=false",
                   "--allow-client-shm=true",
                   f"--http-port={self.http}", f"--grpc-port={self.grpc}",
                   f"--metrics-port={self.metrics}", "--metrics-interval-ms=500", *flags]
        self.started = time.monotonic()
        with open(log, "wb") as out:
            self.process = subprocess.Popen(list(map(str, command)), stdout=out, stderr=out)

    def alive(self):
        return self.process.poll() is None

    def wait(self):
        """Waits until the server has loaded what it can. Returns seconds, or None."""
        while time.monotonic() < self.started + 120 and self.alive():
            try:
                if self.get("/v2/health/live", self.http)[0] == 200:
                    return time.monotonic() - self.started
            except OSError:
                pass
            time.sleep(0.05)
        return None

    def get(self, path, port, method="GET", body=None, headers=None):
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
        try:
            connection.request(method, path, body, headers or {})
            response = connection.getresponse()
            return response.status, response.read(), dict(response.getheaders())
        finally:
            connection.close()

    def index(self):
        _, body, _ = self.get("/v2/repository/index", self.http, "POST", "{}")
        return {row["name"]: row for row in json.loads(body)}

    def infer(self, model, name, array, wanted):
        """Sends the tensor in binary form; returns the output, or raises the server's error."""
        data = np.ascontiguousarray(array, "f4").tobytes()
        head = json.dumps({
            "inputs": [{"name": name, "datatype": "FP32", "shape": list(array.shape),
                        "parameters": {"binary_data_size": len(data)}}],
            "outputs": [{"name": wanted, "parameters": {"binary_data": True}}]}).encode()
        status, body, headers = self.get(
            f"/v2/models/{model}/infer", self.http, "POST", head + data,
            {"Inference-Header-Content-Length": str(len(head))})
        if status != 200:
            raise RuntimeError(f"{status}: {body[:300].decode(errors='replace')}")
        size = int({k.lower(): v for k, v in headers.items()}["inference-header-content-length"])
        (output,) = json.loads(body[:size])["outputs"]
        return np.frombuffer(body[size:], "f4").reshape(output["shape"])

    def stop(self):
        if not self.alive():
            return self.process.returncode
        self.process.send_signal(signal.SIGTERM)
        try:
            return self.process.wait(30)
        except subprocess.TimeoutExpired:
            self.process.kill()
            return "did not stop"
