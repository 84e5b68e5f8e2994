# SPDX-License-Identifier: Apache-2.0
"""What `nereid` is in the process of a Python model: the decorator for functions that are models, and
the types for their annotations.

    from nereid import FP32, model

The Python package of the same name, which contains the server, is not imported in these processes;
nereid_worker.loader puts this one before it. The modules of that package that need no server can be
imported, for example nereid.pytriton.client.
"""

from nereid_pb.function_model import (
    BOOL,
    FP16,
    FP32,
    FP64,
    INT8,
    INT16,
    INT32,
    INT64,
    STRING,
    UINT8,
    UINT16,
    UINT32,
    UINT64,
    TensorType,
    model,
)

__all__ = ["BOOL", "FP16", "FP32", "FP64", "INT16", "INT32", "INT64", "INT8", "STRING", "TensorType",
           "UINT16", "UINT32", "UINT64", "UINT8", "model"]


def __getattr__(name: str) -> object:
    raise AttributeError(f"module 'nereid' has no attribute '{name}' in the process of a Python model: "
                         f"it has {', '.join(__all__)}")
