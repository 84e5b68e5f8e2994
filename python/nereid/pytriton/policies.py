# SPDX-License-Identifier: Apache-2.0
"""Who may manage the server of Triton, and when it starts."""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Optional

from nereid.binding.exceptions import PyTritonValidationError

#: The header with the token. Over gRPC it has a prefix.
ACCESS_TOKEN_HEADER = "triton-access-token"
_GRPC_PREFIX = "triton-grpc-protocol-"
_RESTRICTED = ("shared-memory", "model-repository", "statistics", "trace", "logging")


@dataclass(frozen=True)
class TritonLifecyclePolicy:
    """When the server starts.

    launch_triton_on_startup: whether ``with Triton(...)`` starts it; run() and serve() always do.
    local_model_store: accepted; models of functions need no files."""

    launch_triton_on_startup: bool = True
    local_model_store: bool = False


@dataclass(frozen=True)
class TritonSecurityConfig:
    """What only clients with a token may ask for.

    access_token: the token; a random one by default.
    restricted_endpoints: the categories of --http-restricted-api that need the token. An empty
        list restricts nothing."""

    access_token: Optional[str] = field(default=None, repr=False)
    restricted_endpoints: Optional[Sequence[str]] = None

    def __post_init__(self) -> None:
        if self.access_token is None:
            object.__setattr__(self, "access_token", secrets.token_urlsafe(32))
        if not self.access_token:
            raise PyTritonValidationError("The access token cannot be empty")
        if self.restricted_endpoints is None:
            object.__setattr__(self, "restricted_endpoints", _RESTRICTED)

    def flags(self) -> dict[str, str]:
        """Returns the flags of the server, as fields of TritonConfig."""
        if not self.restricted_endpoints:
            return {}
        rule = f"{','.join(self.restricted_endpoints)}:{ACCESS_TOKEN_HEADER}={self.access_token}"
        return {"http_restricted_api": rule, "grpc_restricted_protocol": rule}


def token_headers(access_token: Optional[str]) -> dict[str, str]:
    """Returns the headers and the metadata of requests with a token."""
    if access_token is None:
        return {}
    return {
        ACCESS_TOKEN_HEADER: access_token,
        _GRPC_PREFIX + ACCESS_TOKEN_HEADER: access_token,
    }
