# SPDX-License-Identifier: Apache-2.0
"""What a row is."""

from dataclasses import dataclass, field

from asks import Ask

PROTOCOLS = ("http", "grpc")
ALL = ("http", "grpc", "c")
TENSORS = ("http", "http_binary", "grpc", "grpc_contents", "grpc_stream", "c")


@dataclass(frozen=True)
class Row:
    """`before` and `after` are done on the same server around `ask`, their outcomes unseen.
    `differs`: door -> (code, text); `why` says what for, and why a door that has the operation is
    not among `doors`."""
    name: str
    ask: Ask
    code: str = "OK"
    doors: tuple = ALL
    before: tuple = ()
    after: tuple = ()
    differs: dict = field(default_factory=dict)
    why: str = ""
    server: str = "explicit"


# Why doors differ. Triton was asked for each: it has these words too.
OWN_TYPES = "Triton's words: each protocol names what its own types lack"
OWN_CHECK = "Triton's: each protocol refuses it by itself, before the service is asked"


def json_type(key, kind):
    """What HTTP says of a member of another type, whose name stands in front but for settings."""
    text = f"attempt to access JSON non-{kind} as {kind}"
    return "INTERNAL", f"Unable to parse '{key}': {text}" if key else text


def on_http(code, text):
    """The difference of both ways to send tensors over HTTP."""
    return {"http": (code, text), "http_binary": (code, text)}
