# SPDX-License-Identifier: Apache-2.0
"""Clients of the cluster: requests at a steady rate, and sequences whose sums are checked."""

import http.client
import json
import threading
import time


class Connection:
    def __init__(self, port):
        self._port = port
        self._open = None

    def infer(self, model, name, datatype, shape, data, parameters=None, session=None):
        """Returns the status and the decoded body; status 0: the connection failed."""
        body = json.dumps({"parameters": parameters or {},
                           "inputs": [{"name": name, "datatype": datatype, "shape": shape,
                                       "data": data}]})
        headers = {"x-session-id": session} if session else {}
        try:
            if self._open is None:
                self._open = http.client.HTTPConnection("127.0.0.1", self._port, timeout=60)
            self._open.request("POST", f"/v2/models/{model}/infer", body, headers)
            answer = self._open.getresponse()
            text = answer.read()
        except (OSError, http.client.HTTPException) as error:
            self._open = None
            return 0, {"error": str(error)}
        try:
            return answer.status, json.loads(text)
        except ValueError:
            return answer.status, {"error": text.decode(errors="replace")}


class SteadyLoad:
    """Sends requests to the model "slow" at a rate, each on a thread of its own if need be."""

    def __init__(self, port, rate, threads=64):
        self.rate = rate
        self.count = 0
        self.failures = []
        self._port = port
        self._lock = threading.Lock()
        self._next = time.monotonic()
        self._stop = threading.Event()
        self._threads = [threading.Thread(target=self._run) for _ in range(threads)]

    def __enter__(self):
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *_):
        self._stop.set()
        for thread in self._threads:
            thread.join()

    def _take_turn(self):
        with self._lock:
            now = time.monotonic()
            self._next = max(self._next + 1 / self.rate, now - 1)
            return self._next - now

    def _run(self):
        connection = Connection(self._port)
        while not self._stop.is_set():
            self._stop.wait(max(0, self._take_turn()))
            status, answer = connection.infer("slow", "INPUT0", "FP32", [4], [1, 2, 3, 4])
            with self._lock:
                self.count += 1
                if status != 200:
                    self.failures.append((status, answer))


class Sequences:
    """Runs sequences until stop(); counts steps, wrong sums, and the errors that ended sequences."""

    def __init__(self, port, count=12, pause=0.05):
        self.steps = 0
        self.wrong = []
        self.errors = []
        self._port, self._pause = port, pause
        self._lock = threading.Lock()
        self._stop = threading.Event()
        self._threads = [threading.Thread(target=self._run, args=(i,)) for i in range(count)]

    def __enter__(self):
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *_):
        self._stop.set()
        for thread in self._threads:
            thread.join()

    def _run(self, number):
        connection = Connection(self._port)
        life = 0
        while not self._stop.is_set():
            life += 1
            self._run_one(connection, number * 100_000 + life)

    def _run_one(self, connection, sequence):
        total = 0
        step = 0
        while True:
            ends = self._stop.is_set()
            total += step
            status, answer = connection.infer(
                "sums", "IN", "INT64", [1, 1], [step],
                {"sequence_id": sequence, "sequence_start": step == 0, "sequence_end": ends},
                session=f"s{sequence}")
            with self._lock:
                self.steps += 1
                if status != 200:
                    self.errors.append((step, status, answer.get("error")))
                    return
                if answer["outputs"][0]["data"] != [total]:
                    self.wrong.append((sequence, step, answer["outputs"][0]["data"], total))
            if ends:
                return
            step += 1
            self._stop.wait(self._pause)
