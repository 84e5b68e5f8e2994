# SPDX-License-Identifier: Apache-2.0
"""The parameters of requests and responses: from names to bools, ints and texts."""

from __future__ import annotations

import json
import typing

from .errors import TritonModelException

_KINDS = (bool, int, str)


def encode(given: typing.Any) -> bytes:
    """Returns the JSON text of the parameters that a model gives; b"" if there are none.

    Raises TritonModelException for other keys than texts and other values than bools, ints and texts.
    """
    if given is None:
        return b""
    if not isinstance(given, dict):
        raise TritonModelException(f"Expect <class 'dict'> , got {type(given)}")
    for key, value in given.items():
        if not isinstance(key, str):
            raise TritonModelException(
                f"Expect parameters keys to have type str, found type {type(key)}")
        if not isinstance(value, _KINDS):
            raise TritonModelException(
                f"Expect parameters values to have type bool/int/str, found type {type(value)}")
    return json.dumps(given).encode() if given else b""


def decode(parameters: bytes) -> str:
    """Returns the JSON text that parameters() gives to models."""
    return parameters.decode("utf-8", "replace") if parameters else "{}"
