# SPDX-License-Identifier: Apache-2.0
"""What the paths of HTTP requests say to a replica that forwards them."""

from __future__ import annotations

import re

_MODEL = re.compile(r"/v2/models/(?!stats(?:$|/))([^/]+)(?:/|$)")
_OF_ONE_REPLICA = re.compile(
    r"/v2/(repository/models/[^/]+/(load|unload)|(system|cuda)sharedmemory/)"
)

#: What a client is told that asks for an operation on one replica.
ONE_REPLICA = (
    "this operation would change one replica only: change the repository and deploy the "
    "application again, or let replicas load models on demand (models_per_replica)"
)


def model_of_path(path: str) -> str:
    """Returns the model that a request is about; "" if it is about none."""
    found = _MODEL.match(path)
    return found.group(1) if found else ""


def is_of_one_replica(path: str) -> bool:
    """Returns whether a request is about the state of the server that answers it."""
    return _OF_ONE_REPLICA.match(path) is not None
