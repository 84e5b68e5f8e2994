# SPDX-License-Identifier: Apache-2.0
"""The messages between server and worker. backends/python/README.md describes them; the C++ side is
in messages.h and messages.cc. start.py uses this file in interpreters that are too old for the rest."""

import struct

VERSION = 4

# No message on a socket is longer; a longer one is passed in a file.
MAX_MESSAGE = 64 << 10
# Tensors of at most this size are in the message itself, up to MAX_DATA together.
MAX_INLINE_TENSOR = 16 << 10
MAX_DATA = 32 << 10

SEGMENT = 1
BLOCK = 2
COMPLETE = 16
INITIALIZE = 17
EXECUTE = 18
FINALIZE = 19
HELLO = 32
DONE = 33
RESULTS = 34
LOG = 64
IS_CANCELLED = 65
SEND = 66
ABANDON = 67
INFER = 68
CANCEL_INFER = 69
CLOSE_INFER = 70
CONTROL = 71
READY = 72
RELEASED = 73
REPLY = 96
INFER_RESPONSE = 97
ASK_READY = 98

FLAG_LONG = 1

LOAD_MODEL = 1
UNLOAD_MODEL = 2
IS_MODEL_READY = 3
NEW_METRIC_FAMILY = 4
DELETE_METRIC_FAMILY = 5
NEW_METRIC = 6
DELETE_METRIC = 7
CHANGE_METRIC = 8
METRIC_VALUE = 9
TRACE_CONTEXT = 10

# What a worker says about a request.
NONE = 0
RESPONSE = 1
ERROR = 2
RESCHEDULE = 3
LATER = 4

# Ids of segments that the worker has made have this bit.
WORKER_SEGMENT = 1 << 31

# Where a model wants the outputs of a call: where the called model has them, in host memory, or on the
# GPU with this number, less MEMORY_GPU, in the list that the server has sent.
MEMORY_AS_OFFERED = 0
MEMORY_CPU = 1
MEMORY_GPU = 2

REPLY_OK = 0xFFFFFFFF

# type, flags, 0, number of released segments, id
HEADER = struct.Struct("<BBHIQ")
# number of requests, where the data begin
BATCH = struct.Struct("<II")
# number, correlation id, timeout, flags, traced, inputs, sizes of: id, correlation text, parameters,
# names of outputs
REQUEST = struct.Struct("<QQQIIIIIII")
# data type, rank, size of the name, segment, offset, size
TENSOR = struct.Struct("<IIIIQQ")
U32 = struct.Struct("<I")
U32_PAIR = struct.Struct("<II")
U64 = struct.Struct("<Q")
# arena, offset, size
BLOCK_BODY = struct.Struct("<IQQ")
# ok, asynchronous, has is_ready, 0, size of the text
DONE_BODY = struct.Struct("<BBBBI")
# request, flags
SEND_BODY = struct.Struct("<QI")
# version, correlation id, timeout, trace, flags, whether the correlation id is a text, decoupled, memory
INFER_BODY = struct.Struct("<qQQQIBBH")

NO_TEXT = 0xFFFFFFFF

SHAPES = tuple(struct.Struct("<" + "q" * rank) for rank in range(16))


def shape_struct(rank: int) -> struct.Struct:
    """Returns the format of a shape."""
    return SHAPES[rank] if rank < len(SHAPES) else struct.Struct("<" + "q" * rank)


def text(value: bytes) -> bytes:
    """Returns a text after its length."""
    return U32.pack(len(value)) + value
