# SPDX-License-Identifier: Apache-2.0
"""The conversions of arguments that Triton's bindings make: texts may be bytes, and integers those of
NumPy. `what` names the argument in the TypeError for other types."""

from __future__ import annotations

import operator
import typing

MAX_UINT32 = 2**32 - 1
MIN_INT64, MAX_INT64 = -2**63, 2**63 - 1
MAX_UINT64 = 2**64 - 1


def text(what: str, value: typing.Any) -> str:
    """Returns a text. Bytes are UTF-8; what is not becomes the replacement character."""
    if isinstance(value, str):
        return value
    if isinstance(value, (bytes, bytearray)):
        return bytes(value).decode("utf-8", "replace")
    raise TypeError(f"{what} must be of type str or bytes, not {type(value)}")


def integer(what: str, value: typing.Any, least: int, most: int) -> int:
    """Returns an integer from `least` to `most`. Floats have no conversion."""
    try:
        number = int(operator.index(value))
    except TypeError:
        if isinstance(value, float) or not hasattr(value, "__int__"):
            raise TypeError(f"{what} must be of type int, not {type(value)}") from None
        number = int(value)
    if not least <= number <= most:
        raise TypeError(f"{what} must be from {least} to {most}, not {number}")
    return number


def truth(what: str, value: typing.Any) -> bool:
    """Returns the truth of a bool, a number, or another object that has one."""
    if isinstance(value, bool):
        return value
    if value is None or not hasattr(value, "__bool__"):
        raise TypeError(f"{what} must be of type bool, not {type(value)}")
    return bool(value)


def items(what: str, kind: str, values: typing.Any) -> list[typing.Any]:
    """Returns the elements of a list, a tuple or another collection of `kind`, which is no text."""
    if isinstance(values, (str, bytes)) or not hasattr(values, "__iter__"):
        raise TypeError(f"{what} must be a list of {kind}, not {type(values)}")
    return list(values)
