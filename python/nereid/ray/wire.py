# SPDX-License-Identifier: Apache-2.0
"""Messages of the inference protocol as bytes: proxies and replicas forward them without decoding
them. Format: https://protobuf.dev/programming-guides/encoding."""

from __future__ import annotations


class RawMessage:
    """A serialized message. Serve asks messages for SerializeToString only."""

    __slots__ = ("data",)

    def __init__(self, data: bytes) -> None:
        self.data = data

    def SerializeToString(self) -> bytes:
        """Returns the bytes; the name is protobuf's."""
        return self.data

    def __reduce__(self) -> tuple[type[RawMessage], tuple[bytes]]:
        return RawMessage, (self.data,)


def _varint(data: bytes, at: int) -> tuple[int, int]:
    value = 0
    for shift in range(0, 64, 7):
        byte = data[at]  # IndexError if the message ends here
        at += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value, at
    raise ValueError("a number has more than ten bytes")


def first_text(data: bytes) -> str:
    """Returns field 1 of a message, which is a text; "" if it is absent or the message is damaged.
    It names the model in every message about one model. The last value counts, as in protobuf."""
    text = b""
    at = 0
    try:
        while at < len(data):
            tag, at = _varint(data, at)
            kind = tag & 7
            if kind == 0:
                _, at = _varint(data, at)
            elif kind == 1:
                at += 8
            elif kind == 5:
                at += 4
            elif kind == 2:
                size, at = _varint(data, at)
                if size > len(data) - at:
                    return ""
                if tag >> 3 == 1:
                    text = data[at : at + size]
                at += size
            else:
                return ""
        return text.decode()
    except (IndexError, ValueError):  # also UnicodeDecodeError
        return ""
