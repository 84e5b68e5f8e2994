# SPDX-License-Identifier: Apache-2.0
"""The data types of tensors: Triton's numbers, the names of the configuration, and NumPy's types."""

from __future__ import annotations

import typing

import numpy as np

BOOL = 1
BYTES = 13
BF16 = 14

# The number of a data type (TRITONSERVER_DataType) -> the type of an array's elements. BF16 has none.
NUMPY_TYPES: dict[int, typing.Any] = {
    1: np.bool_,
    2: np.uint8,
    3: np.uint16,
    4: np.uint32,
    5: np.uint64,
    6: np.int8,
    7: np.int16,
    8: np.int32,
    9: np.int64,
    10: np.float16,
    11: np.float32,
    12: np.float64,
    13: np.object_,
}

# The same as dtype objects. The elements of BF16 are read as 16-bit numbers.
DTYPES: dict[int, np.dtype[typing.Any]] = {
    **{number: np.dtype(kind) for number, kind in NUMPY_TYPES.items()},
    BF16: np.dtype(np.uint16),
}

NAMES: dict[int, str] = {
    1: "BOOL", 2: "UINT8", 3: "UINT16", 4: "UINT32", 5: "UINT64", 6: "INT8", 7: "INT16",
    8: "INT32", 9: "INT64", 10: "FP16", 11: "FP32", 12: "FP64", 13: "BYTES", 14: "BF16",
}

# The names in config.pbtxt. TYPE_BF16 is missing because no array has this type.
CONFIG_NAMES: dict[str, typing.Any] = {
    **{f"TYPE_{NAMES[number]}": kind for number, kind in NUMPY_TYPES.items() if number != BYTES},
    "TYPE_STRING": np.object_,
}

# dtype -> number. Finds native types in one look-up; number_of() decides about the others.
_NUMBERS: dict[np.dtype[typing.Any], int] = {
    np.dtype(kind): number for number, kind in NUMPY_TYPES.items()
}
_LIKE_BYTES = "S"


def number_of(dtype: np.dtype[typing.Any]) -> int:
    """Returns the number of the data type of an array, or 0 if no data type has such elements.

    Arrays of fixed-length bytes ("S5") are BYTES. Texts of NumPy ("U5"), numbers of a foreign byte
    order, complex numbers and dates have no data type.
    """
    number = _NUMBERS.get(dtype, 0)
    if number == 0 and dtype.kind == _LIKE_BYTES:
        return BYTES
    return number


def triton_string_to_numpy(name: str) -> typing.Any:
    """Returns the NumPy type of a data type of the configuration, such as "TYPE_FP32".

    Raises KeyError for other texts, and for TYPE_BF16.
    """
    return CONFIG_NAMES[name]


def triton_to_numpy_type(number: int) -> typing.Any:
    """Returns the NumPy type of a data type's number (1 to 13). Raises KeyError for others."""
    return NUMPY_TYPES[number]


def numpy_to_triton_type(dtype: typing.Any) -> int | None:
    """Returns the number of the data type of a NumPy type or dtype, or None if there is none."""
    try:
        return number_of(np.dtype(dtype)) or None
    except TypeError:
        return None
