#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Sends requests to Python models whose processes are killed, hang and end, and which are reloaded.

    tests/stress/python_models.py [--minutes 5] [--clients 12] [--seed 1] [--build build/release]

Each request must end once: with the right answer, or with an error if something was done to its model.
Afterwards each model must serve again, and the server may have no more processes, open files and shared
memory than before. Its memory may not rise: the regression line through the second half of the samples
may rise by 5 % at most. Exits with 0 if all of this holds. Needs the packages of tests/requirements.txt.
"""

import argparse
import collections
import os
import random
import signal
import sys
import tempfile
import threading
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "conformance"))
# pylint: disable=wrong-import-position
import grpc_raw
import numpy as np
import processes
import raw_http
from python_server import interpreter, write_model
from server_process import ServerProcess

CONFIG = """
max_batch_size: 8
input { name: "HOW" data_type: TYPE_STRING dims: [ 1 ] }
input { name: "IN" data_type: TYPE_INT32 dims: [ -1 ] }
output { name: "OUT" data_type: TYPE_INT32 dims: [ -1 ] }
parameters { key: "execute_timeout_ms" value { string_value: "1500" } }
parameters { key: "restart_limit" value { string_value: "1000000" } }
"""

# Several instances with a queue, or one instance whose worker gets batches ahead of time.
SEVERAL = "instance_group { kind: KIND_CPU count: 2 }\ndynamic_batching { }\n"
ONE = "instance_group { kind: KIND_CPU count: 1 }\n"

# What a request can ask of a model. "fine" is the rule.
HOW = {"fine": 0.9, "raise": 0.03, "error": 0.03, "exit": 0.01, "kill": 0.01, "hang": 0.003,
       "nothing": 0.017}

COMMON = """
import os
import signal
import threading
import time

import numpy as np
import triton_python_backend_utils as pb_utils


def read(request):
    how = pb_utils.get_input_tensor_by_name(request, "HOW").as_numpy()[0, 0].decode()
    return how, pb_utils.get_input_tensor_by_name(request, "IN").as_numpy()


def harm(how):
    if how == "raise":
        raise ValueError("as requested")
    if how == "exit":
        os._exit(3)
    if how == "kill":
        os.kill(os.getpid(), signal.SIGKILL)
    if how == "hang":
        time.sleep(60)


def answer(how, values):
    harm(how)
    if how == "error":
        return pb_utils.InferenceResponse(error=pb_utils.TritonError("as requested"))
    return pb_utils.InferenceResponse([pb_utils.Tensor("OUT", values * 2)])


def double(values):
    response = pb_utils.InferenceRequest(
        model_name="plain", requested_output_names=["OUT"],
        inputs=[pb_utils.Tensor("HOW", np.array([[b"fine"]], np.object_)),
                pb_utils.Tensor("IN", values)])
    return response
"""

MODELS = {
    "plain": COMMON + """

class TritonPythonModel:
    def execute(self, requests):
        responses = []
        for how, values in map(read, requests):
            responses.append(None if how == "nothing" else answer(how, values))
        return responses
""",
    "calling": COMMON + """

class TritonPythonModel:
    def execute(self, requests):
        responses = []
        for how, values in map(read, requests):
            harm(how)
            inner = double(values).exec()
            responses.append(pb_utils.InferenceResponse(error=inner.error()) if inner.has_error()
                             else pb_utils.InferenceResponse(inner.output_tensors()))
        return responses
""",
    "coroutine": COMMON + """
import asyncio


class TritonPythonModel:
    async def execute(self, requests):
        responses = []
        for how, values in map(read, requests):
            harm(how)
            await asyncio.sleep(0.001)
            inner = await double(values).async_exec()
            responses.append(pb_utils.InferenceResponse(error=inner.error()) if inner.has_error()
                             else pb_utils.InferenceResponse(inner.output_tensors()))
        return responses
""",
    "streaming": COMMON + """

class TritonPythonModel:
    def execute(self, requests):
        for request in requests:
            how, values = read(request)
            harm("fine" if how == "hang" else how)
            threading.Thread(target=self.send, args=(how, values, request.get_response_sender()),
                             daemon=True).start()

    @staticmethod
    def send(how, values, sender):
        for i in range(5):
            sender.send(pb_utils.InferenceResponse([pb_utils.Tensor("OUT", values * 2)]))
        if how != "nothing":
            sender.send(flags=pb_utils.TRITONSERVER_RESPONSE_COMPLETE_FINAL)
""",
}


MODELS["alone"] = MODELS["plain"]


def write_models(root):
    for name, code in MODELS.items():
        config = CONFIG + (ONE if name == "alone" else SEVERAL)
        if name == "streaming":
            config += "model_transaction_policy { decoupled: true }\n"
        write_model(root, name, code, config)


class Tally:
    """What became of the requests. May be used on any thread."""

    def __init__(self):
        self._lock = threading.Lock()
        self.ends = collections.Counter()
        self.faults = []

    def end(self, model, how):
        with self._lock:
            self.ends[model, how] += 1

    def fault(self, text):
        with self._lock:
            self.faults.append(text)
            if len(self.faults) <= 10:
                print(f"  {text}", flush=True)


def send_one(server, model, how, values):
    """Sends a request. Returns whether it was answered; raises AssertionError for a wrong answer."""
    if model == "streaming":
        request = grpc_raw.infer_request(
            model, [grpc_raw.tensor("HOW", "BYTES", [1, 1]),
                    grpc_raw.tensor("IN", "INT32", [1, len(values)])],
            [len(how).to_bytes(4, "little") + how.encode(), values.tobytes()])
        replies = grpc_raw.stream(server, [request], timeout=60)
        good = [r for r in replies if r.infer_response.raw_output_contents]
        for reply in good:
            got = np.frombuffer(reply.infer_response.raw_output_contents[0], np.int32)
            assert (got == values * 2).all(), "a wrong answer"
        return len(good) == 5 and not any(r.error_message for r in replies)
    reply = raw_http.infer(server, model, {"inputs": [
        raw_http.tensor("HOW", "BYTES", [1, 1], [how]),
        raw_http.tensor("IN", "INT32", [1, len(values)], values.tolist())]})
    if reply.status == 200:
        assert reply.json["outputs"][0]["data"] == (values * 2).tolist(), "a wrong answer"
    return reply.status == 200


def client(server, tally, stop, seed):
    chance = random.Random(seed)
    while not stop.is_set():
        model = chance.choice(list(MODELS))
        (how,) = chance.choices(list(HOW), HOW.values())
        size = chance.choice([1, 10, 1000, 20_000])
        values = np.full(size, chance.randrange(1000), np.int32)
        try:
            answered = send_one(server, model, how, values)
            tally.end(model, "answer" if answered else "error")
            if answered and how not in ("fine", "hang") and not (
                    model in ("calling", "coroutine") and how in ("error", "nothing")) and not (
                    model == "streaming" and how == "error"):
                tally.fault(f"{model}: an answer to '{how}'")
        except Exception as error:  # each is a fault
            tally.fault(f"{model} {how}: {type(error).__name__}: {str(error)[:300]}")


def harass(server, stop, seed):
    """Kills processes of models and reloads models."""
    chance = random.Random(seed)
    while not stop.wait(chance.uniform(0.5, 2)):
        if chance.random() < 0.6:
            workers = [pid for pid in processes.children(server.process.pid)
                       if "nereid_worker" in processes.command(pid)]
            if workers:
                try:
                    os.kill(chance.choice(workers), signal.SIGKILL)
                except ProcessLookupError:
                    pass
        else:
            model = chance.choice(list(MODELS))
            for action in ("unload", "load"):
                raw_http.request(server, "POST", f"/v2/repository/models/{model}/{action}", b"{}")


def settle(server, tally, seconds=90):
    """Waits until each model serves."""
    end = time.monotonic() + seconds
    for model in MODELS:
        while True:
            raw_http.request(server, "POST", f"/v2/repository/models/{model}/load", b"{}")
            try:
                if all(send_one(server, model, "fine", np.ones(3, np.int32)) for _ in range(8)):
                    break
            except Exception as error:  # told below if it does not end
                if time.monotonic() > end:
                    tally.fault(f"{model}: {error}")
            if time.monotonic() > end:
                tally.fault(f"{model} does not serve {seconds} s after the last harm")
                break
            time.sleep(0.2)


class Footprint:
    """What a server has."""

    def __init__(self, server):
        pid = server.process.pid
        self.kinds = processes.open_files(pid)
        self.files = sum(self.kinds.values())
        self.workers = len(processes.children(pid))
        self.zombies = len(processes.zombies(pid))

    def __str__(self):
        return f"{self.files} files, {self.workers} processes, {self.zombies} zombies"


def rise(samples):
    """Returns by how much of its middle the regression line through the second half rises."""
    half = samples[len(samples) // 2:]
    if len(half) < 3:
        return 0.0
    slope, start = np.polyfit(np.arange(len(half)), half, 1)
    return slope * (len(half) - 1) / (start + slope * (len(half) - 1) / 2)


def run(server, options, tally):
    """Returns the samples of the server's memory."""
    stop, samples = threading.Event(), []
    threads = [threading.Thread(target=client, args=(server, tally, stop, options.seed + i))
               for i in range(options.clients)]
    threads.append(threading.Thread(target=harass, args=(server, stop, options.seed)))
    for thread in threads:
        thread.start()
    end = time.monotonic() + options.minutes * 60
    while time.monotonic() < end and server.alive():
        time.sleep(2)
        samples.append(processes.resident([server.process.pid]))
    stop.set()
    for thread in threads:
        thread.join(120)
        if thread.is_alive():
            tally.fault("a request did not end within two minutes")
    return samples


def surplus(before, after):
    """Returns the kinds of files of which there are more, and whether they are too many."""
    more = after.kinds - before.kinds
    pooled = sum(count for kind, count in more.items() if "memfd" in kind)
    return dict(more), pooled > 16 * before.workers or sum(more.values()) - pooled > 8


def footprint_afterwards(server, before):
    """Returns what the server has when the last processes have been waited for, every worker is
    back, and what belonged to the others is closed. A worker that was killed often comes back only
    after a pause; the threads that end models get little time on a busy machine."""
    end = time.monotonic() + 90
    while True:
        time.sleep(2)
        after = Footprint(server)
        same = (after.workers == before.workers and after.zombies == 0
                and not surplus(before, after)[1])
        if same or time.monotonic() > end:
            return after


def compare(before, after, tally):
    more, too_many = surplus(before, after)
    if too_many:
        tally.fault(f"open files: {before.files} before, {after.files} afterwards; more of {more}")
    if after.workers != before.workers:
        tally.fault(f"processes: {before.workers} before, {after.workers} afterwards")
    if after.zombies:
        tally.fault(f"{after.zombies} processes were not waited for")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--minutes", type=float, default=5)
    parser.add_argument("--clients", type=int, default=12)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--build", type=Path, default=ROOT / "build" / "release")
    options = parser.parse_args()
    build, tally, regions = options.build.resolve(), Tally(), processes.shared_memory()
    with tempfile.TemporaryDirectory(prefix="nereid-stress-") as place:
        write_models(Path(place) / "models")
        server = ServerProcess(
            [str(build / "bin" / "nereid"), "serve"], Path(place) / "models", Path(place) / "log",
            [f"--backend-directory={build / 'backends'}", "--model-control-mode=explicit",
             *(f"--load-model={name}" for name in MODELS)])
        with interpreter(Path(sys.executable).parent):
            server.start()
        try:
            settle(server, tally)
            before = Footprint(server)
            samples = run(server, options, tally)
            settle(server, tally)
            after = footprint_afterwards(server, before)
        finally:
            pids = processes.children(server.process.pid)
            server.stop()
        compare(before, after, tally)
    left = [pid for pid in pids if processes.state(pid) not in ("", "Z")]
    if left:
        tally.fault(f"processes outlive the server: {left}")
    # Triton's own backend, which other programs may run meanwhile, makes regions with this name.
    names = {name for name in processes.shared_memory() - regions
             if "python" in name and not name.startswith("triton_python_backend_shm")}
    if names:
        tally.fault(f"left in /dev/shm: {sorted(names)}")
    if rise(samples) > 0.05:
        tally.fault(f"the memory of the server rises by {100 * rise(samples):.1f} %")
    for (model, how), count in sorted(tally.ends.items()):
        print(f"{model}: {count} times {how}")
    print(f"before: {before}; afterwards: {after}; more of {dict(after.kinds - before.kinds)}")
    print(f"memory: {samples[len(samples) // 2] / 2**20:.1f} MiB half way, "
          f"{samples[-1] / 2**20:.1f} MiB at the end ({100 * rise(samples):+.1f} %)")
    print(f"{len(tally.faults)} faults")
    sys.exit(1 if tally.faults else 0)


if __name__ == "__main__":
    main()
