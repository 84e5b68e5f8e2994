#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A server in this process: sends a model zeros and prints the shapes of its outputs.

examples/python/embed.py REPOSITORY MODEL
"""

import sys

import nereid
import numpy as np

NUMPY = {
    "BOOL": np.bool_,
    "FP16": np.float16,
    "FP32": np.float32,
    "FP64": np.float64,
    "BYTES": np.object_,
}


def zeros(tensor):
    """Returns an input of zeros; dimensions of any size are 1."""
    shape = [max(1, int(dim)) for dim in tensor["shape"]]
    data_type = tensor["datatype"]
    if data_type == "BYTES":
        return np.full(shape, b"", np.object_)
    return np.zeros(shape, NUMPY.get(data_type) or data_type.lower())


def main():
    repository, name = sys.argv[1:]
    with nereid.Server(repository, load_model=[name]) as server:
        model = server.model(name)
        response = model.infer(
            {entry["name"]: zeros(entry) for entry in model.metadata()["inputs"]}
        )
        for output, array in response.numpy().items():
            print(output, array.dtype, array.shape)


if __name__ == "__main__":
    main()
