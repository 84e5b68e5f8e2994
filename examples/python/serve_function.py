#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Serves a Python function over HTTP and gRPC until Ctrl-C.

examples/python/serve_function.py [--port 8000]
curl localhost:8000/v2/models/statistics/infer -d '{"inputs": [
  {"name": "values", "datatype": "FP32", "shape": [1, 4], "data": [1, 2, 3, 4]}]}'
"""

import argparse

import numpy as np
from nereid.pytriton import DynamicBatcher, ModelConfig, Tensor, Triton, TritonConfig
from nereid.pytriton.decorators import batch


@batch
def statistics(values):
    """Returns the mean and the deviation of each row."""
    return {
        "mean": values.mean(axis=1, keepdims=True),
        "deviation": values.std(axis=1, keepdims=True),
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--port", type=int, default=8000)
    port = parser.parse_args().port
    config = TritonConfig(
        http_address="127.0.0.1", http_port=port, allow_grpc=False, allow_metrics=False
    )
    triton = Triton(config=config)
    triton.bind(
        "statistics",
        statistics,
        [Tensor(name="values", dtype=np.float32, shape=(-1,))],
        [
            Tensor(name="mean", dtype=np.float32, shape=(1,)),
            Tensor(name="deviation", dtype=np.float32, shape=(1,)),
        ],
        config=ModelConfig(
            max_batch_size=64, batcher=DynamicBatcher(max_queue_delay_microseconds=500)
        ),
    )
    triton.run()
    print(f"serving on port {triton.frontends.http_port}", flush=True)
    triton.serve()


if __name__ == "__main__":
    main()
