#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs Triton's Python backend for two minutes with 4 instances and 32 clients, and checks that
memory does not grow.

build/venv/bin/python tests/stress/python_backend.py [--seconds 120] [--clients 32]

Half of the clients send tensors of 64 KiB to a model with four instances; the others send requests
to a model that calls it. The resident memory of the server, and of all processes of its models, is
read every two seconds. The test fails if an answer is wrong, or if the regression line through the
samples of the second half rises by more than 5 % over the run.
"""

import argparse
import os
import sys
import tempfile
import threading
import time
from pathlib import Path

import numpy as np
import tritonclient.http as http_client

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "conformance"))
import python_backend  # noqa: E402
from server_process import ServerProcess  # noqa: E402

CONFIG = """
backend: "python"
max_batch_size: 8
input { name: "IN" data_type: TYPE_FP32 dims: [ -1 ] }
output { name: "OUT" data_type: TYPE_FP32 dims: [ -1 ] }
instance_group { kind: KIND_CPU count: 4 }
dynamic_batching { }
"""

WORK = """
import triton_python_backend_utils as pb_utils


class TritonPythonModel:
    def execute(self, requests):
        return [pb_utils.InferenceResponse([pb_utils.Tensor(
            "OUT", pb_utils.get_input_tensor_by_name(r, "IN").as_numpy() * 2)]) for r in requests]
"""

CALL = """
import triton_python_backend_utils as pb_utils


class TritonPythonModel:
    def execute(self, requests):
        responses = []
        for r in requests:
            answer = pb_utils.InferenceRequest(
                model_name="work", requested_output_names=["OUT"],
                inputs=[pb_utils.get_input_tensor_by_name(r, "IN")]).exec()
            if answer.has_error():
                responses.append(pb_utils.InferenceResponse(error=answer.error()))
            else:
                responses.append(pb_utils.InferenceResponse(answer.output_tensors()))
        return responses
"""


def write_models(root: Path):
    for name, code in (("work", WORK), ("call", CALL)):
        (root / name / "1").mkdir(parents=True)
        (root / name / "config.pbtxt").write_text(CONFIG)
        (root / name / "1" / "model.py").write_text(code)


def children(pid):
    """The processes below `pid`."""
    found = []
    for task in Path(f"/proc/{pid}/task").iterdir():
        try:
            direct = [int(c) for c in (task / "children").read_text().split()]
        except OSError:
            continue
        for child in direct:
            found += [child, *children(child)] if Path(f"/proc/{child}/task").exists() else []
    return found


def rss_mib(pids):
    pages = 0
    for pid in pids:
        try:
            pages += int(Path(f"/proc/{pid}/statm").read_text().split()[1])
        except OSError:
            continue
    return pages * os.sysconf("SC_PAGE_SIZE") / 2**20


def client(url, model, stop, count, faults):
    connection = http_client.InferenceServerClient(url, network_timeout=60)
    sent = np.random.default_rng(threading.get_ident() % 2**32).random((1, 16384), np.float32)
    tensor = http_client.InferInput("IN", sent.shape, "FP32")
    tensor.set_data_from_numpy(sent)
    while not stop.is_set():
        try:
            got = connection.infer(model, [tensor]).as_numpy("OUT")
            if not (got == sent * 2).all():
                faults.append("a wrong answer")
        except Exception as error:
            faults.append(str(error))
        count[model] += 1


def climb(samples):
    """Returns the rise of the regression line from the first to the last sample, and its middle."""
    slope, start = np.polyfit(np.arange(len(samples)), samples, 1)
    return slope * (len(samples) - 1), start + slope * (len(samples) - 1) / 2


def load(server, options):
    stop, faults, count = threading.Event(), [], {"work": 0, "call": 0}
    threads = [threading.Thread(target=client, args=(
        server.http, "work" if i % 2 else "call", stop, count, faults))
        for i in range(options.clients)]
    for thread in threads:
        thread.start()
    samples = []
    end = time.monotonic() + options.seconds
    while time.monotonic() < end:
        time.sleep(2)
        pid = server.process.pid
        samples.append((rss_mib([pid]), rss_mib(children(pid))))
    stop.set()
    for thread in threads:
        thread.join()
    return samples, count, faults


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--seconds", type=int, default=120)
    parser.add_argument("--clients", type=int, default=32)
    options = parser.parse_args()
    folder = python_backend.find()
    if folder is None:
        sys.exit("run tools/install/python_backend.sh build/python_backend first")
    with tempfile.TemporaryDirectory(prefix="nereid-stress-") as place:
        place = Path(place)
        write_models(place / "models")
        backends = python_backend.backend_directory(folder, None, place / "backends")
        server = ServerProcess([str(ROOT / "build/release/bin/nereid"), "serve"], place / "models",
                               place / "log", [f"--backend-directory={backends}"])
        with python_backend.environment(folder):
            server.start()
        try:
            samples, count, faults = load(server, options)
        finally:
            server.stop()
    flat = True
    settled = np.array(samples[len(samples) // 2:])
    for name, column in (("server", 0), ("stubs", 1)):
        rise, middle = climb(settled[:, column])
        flat = flat and rise <= 0.05 * middle
        print(f"{name}: {settled[0, column]:.1f} MiB half way, {settled[-1, column]:.1f} MiB at "
              f"the end, climb {rise:+.2f} MiB ({100 * rise / middle:+.2f} %)")
    tenth = [f"{s[0]:.1f}" for s in samples[::max(1, len(samples) // 10)]]
    print(f"server over time, MiB: {' '.join(tenth)}")
    print(f"{count['work']} requests to work, {count['call']} to call, {len(faults)} faults")
    for fault in sorted(set(faults))[:5]:
        print(f"  {fault}")
    sys.exit(0 if flat and not faults else 1)


if __name__ == "__main__":
    main()
