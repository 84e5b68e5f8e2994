# SPDX-License-Identifier: Apache-2.0
"""Inputs of requests to the test models."""

import numpy as np


def repeat(values, delay_ms=0):
    """The inputs that make the model `repeat` send each value in a response."""
    return {
        "IN": np.array(values, np.int32),
        "DELAY": np.full(len(values), delay_ms, np.uint32),
        "WAIT": np.zeros(1, np.uint32),
    }
