#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares a call of a small model from Python with the same call in C.

    PYTHONPATH=BUILD/python/package build/venv/bin/python bench/python_in_process/run.py BUILD

Sends [1, 16] floats to a model of the identity backend, one request after the other, in rounds: the C
API (direct_one_by_one), nereid.Model.infer, nereid.Model.infer and the output as a NumPy array,
nereid.Model.infer_async, tritonserver.Model.infer with numpy.from_dlpack. The rounds alternate, so that
load of the machine meets all of them. Prints a table of microseconds per call.
"""

import argparse
import asyncio
import pathlib
import statistics
import subprocess
import tempfile
import time

import nereid
import numpy as np
import tritonserver

CONFIG = """backend: "identity"
max_batch_size: 8
input [ { name: "IN" data_type: TYPE_FP32 dims: [ -1 ] } ]
output [ { name: "OUT" data_type: TYPE_FP32 dims: [ -1 ] } ]
"""
ARRAY = np.full((1, 16), 0.5, np.float32)


def in_c(build, repository, calls):
    arguments = [repository, build / "backends", "echo", "IN", "16", "OUT", calls]
    command = [build / "bin/direct_one_by_one", *arguments]
    output = subprocess.run(list(map(str, command)), check=True, capture_output=True, text=True)
    return [int(line) for line in output.stdout.split()]


def measure(call, calls):
    times = []
    for _ in range(calls):
        begin = time.perf_counter_ns()
        call()
        times.append(time.perf_counter_ns() - begin)
    return times


def measure_async(model, calls):
    async def run():
        times = []
        for _ in range(calls):
            begin = time.perf_counter_ns()
            (await model.infer_async({"IN": ARRAY}))["OUT"]
            times.append(time.perf_counter_ns() - begin)
        return times

    return asyncio.run(run())


def ask_triton(model):
    for response in model.infer(inputs={"IN": ARRAY}):
        np.from_dlpack(response.outputs["OUT"])


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("--rounds", type=int, default=10)
    parser.add_argument("--calls", type=int, default=5000)
    options = parser.parse_args()
    build, calls = options.build.resolve(), options.calls

    with tempfile.TemporaryDirectory() as repository:
        folder = pathlib.Path(repository) / "echo"
        (folder / "1").mkdir(parents=True)
        (folder / "config.pbtxt").write_text(CONFIG)
        triton = tritonserver.Server(
            model_repository=repository, backend_directory=str(build / "backends")
        ).start(wait_until_ready=True)
        with nereid.Server(repository) as server:
            model, triton_model = server.model("echo"), triton.model("echo")
            ways = {
                "C API": lambda: in_c(build, repository, calls),
                "nereid infer": lambda: measure(lambda: model.infer({"IN": ARRAY}), calls),
                "nereid infer, array": lambda: measure(
                    lambda: model.infer({"IN": ARRAY})["OUT"], calls
                ),
                "nereid infer_async, array": lambda: measure_async(model, calls),
                "tritonserver infer, array": lambda: measure(
                    lambda: ask_triton(triton_model), calls
                ),
            }
            times = {name: [] for name in ways}
            for _ in range(options.rounds):
                for name, way in ways.items():
                    times[name].extend(way())
        triton.stop()
    base = statistics.median(times["C API"])
    print("| way | min | median | max | median more than C |\n|---|---|---|---|---|")
    for name, values in times.items():
        median = statistics.median(values)
        figures = (min(values), median, max(values), median - base)
        print(f"| {name} | " + " | ".join(f"{figure / 1000:.1f}" for figure in figures) + " |")


if __name__ == "__main__":
    main()
