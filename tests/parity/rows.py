# SPDX-License-Identifier: Apache-2.0
"""The definition of a row."""

from dataclasses import dataclass, field

from asks import Ask

PROTOCOLS = ("http", "grpc")
ALL = ("http", "grpc", "c")
TENSORS = ("http", "http_binary", "grpc", "grpc_contents", "grpc_stream", "c")


@dataclass(frozen=True)
class Row:
    """`before` and `after` are done on the same server before and after `ask`; their outcomes are
    not compared. `differs` maps a door to (code, text). `why` is the reason for it, or the reason
    why a door that has the operation is not in `doors`."""
    name: str
    ask: Ask
    code: str = "OK"
    doors: tuple = ALL
    before: tuple = ()
    after: tuple = ()
    differs: dict = field(default_factory=dict)
    why: str = ""
    server: str = "explicit"


# The reasons for which doors differ. Triton has the same texts for each of them.
OWN_TYPES = "Triton's words: each protocol names what its own types lack"
OWN_CHECK = "Triton's: each protocol refuses it by itself, before the service is asked"


def json_type(key, kind):
    """Returns HTTP's text for a member of a wrong type."""
    return "INVALID_ARG", f"Unable to parse '{key}': attempt to access JSON non-{kind} as {kind}"


def on_http(code, text):
    """Returns a difference that applies to both forms of tensors over HTTP."""
    return {"http": (code, text), "http_binary": (code, text)}
