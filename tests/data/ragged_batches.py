# SPDX-License-Identifier: Apache-2.0
"""The batches of the ragged models of tests/data/*: their requests, and the batch inputs that a
backend must derive from them.

A ragged model takes `values` of all requests in one dimension, and one input for each kind of
`batch_input`. Its outputs: doubled[n], and for each request the sum of its values (`sums`) and what
the batch inputs say about it (out_count, out_end, out_begin, out_shape, out_flat, out_widest), all
[requests,1].
"""

import itertools

import numpy as np

LENGTHS = (3, 1, 5)
# The requests may be batched in any order.
ORDERS = list(itertools.permutations(range(len(LENGTHS))))
COLUMNS = ("sums", "out_count", "out_end", "out_begin", "out_shape", "out_flat", "out_widest")


def request(index):
    """The values of a request, unlike those of any other; their sums are exact in FP32."""
    return np.arange(LENGTHS[index], dtype=np.float32) + 10 ** index


def batch(order):
    """The inputs of the model for the requests in this order."""
    counts = np.array([LENGTHS[i] for i in order], np.int32)
    ends = np.cumsum(counts, dtype=np.int32)
    return {"values": np.concatenate([request(i) for i in order]), "count": counts, "ends": ends,
            "bounds": np.concatenate([[0], ends]).astype(np.int32),
            "widest": np.zeros(counts.max(), np.int32), "shapes": counts.reshape(-1, 1),
            "flat": counts}
