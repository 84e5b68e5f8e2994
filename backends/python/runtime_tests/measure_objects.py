# SPDX-License-Identifier: Apache-2.0
"""Measures the objects of Python models without a server: the cost of a request that is received,
read and answered, and of an element of a BYTES tensor. Best of 20 rounds.

    build/venv/bin/python backends/python/runtime_tests/measure_objects.py
"""

import sys
import time
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "runtime"))

import triton_python_backend_utils as pb_utils  # noqa: E402
from nereid_pb import byte_strings  # noqa: E402

ROUNDS = 20
REQUESTED = frozenset(["OUT"])


def best(function, repeat):
    """Returns the shortest time of a call, in seconds."""
    times = []
    for _ in range(ROUNDS):
        start = time.perf_counter()
        for _ in range(repeat):
            function()
        times.append((time.perf_counter() - start) / repeat)
    return min(times)


def request_of(data_type, shape, content):
    """Returns a function that receives a request, reads its input and answers with it."""
    buffer = bytearray(content)

    def run():
        tensor = pb_utils.Tensor._received("IN", data_type, shape, buffer, 0, len(content))
        request = pb_utils.InferenceRequest._received(
            7, "", 0, 0, 0, b"", REQUESTED, [tensor], 0, False)
        array = pb_utils.get_input_tensor_by_name(request, "IN").as_numpy()
        response = pb_utils.InferenceResponse([pb_utils.Tensor("OUT", array)])
        for output in response._outputs:
            if output._name in request._requested:
                output._payload()

    return run


def main():
    text = (60).to_bytes(4, "little") + b"x" * 60
    print(f"request of 64 bytes, FP32: {best(request_of(11, (1, 16), bytes(64)), 5000) * 1e6:.1f} µs")
    print(f"request of 64 bytes, BYTES: {best(request_of(13, (1,), text), 5000) * 1e6:.1f} µs")
    count = 10_000
    for name, values in (("equal", [b"x" * 20] * count),
                         ("different", [b"x" * (i % 40) for i in range(count)])):
        array = np.array(values, np.object_)
        encoded = byte_strings.encode(array)
        encode = best(lambda array=array: byte_strings.encode(array), 3) / count
        decode = best(lambda data=encoded: byte_strings.decode(data, count), 3) / count
        print(f"an element of BYTES, {name} lengths: {encode * 1e9:.0f} ns to encode, "
              f"{decode * 1e9:.0f} ns to decode")


if __name__ == "__main__":
    main()
