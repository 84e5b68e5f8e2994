# SPDX-License-Identifier: Apache-2.0
"""Nereid on several machines, with Ray Serve. Each replica has an engine in its process; Serve's
proxies forward HTTP and gRPC to the replicas.

    from nereid.ray import application, start
    start(grpc_port=9000)
    serve.run(application("/models"), name="models", route_prefix="/")

Needs the package `ray[serve]`, 2.60 or newer. docs/user/ray.md explains what clients must do for
sequences, and how replicas follow the load."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from nereid.ray.replica import application as application
    from nereid.ray.replica import start as start
    from nereid.ray.router import SequenceRouter as SequenceRouter
    from nereid.ray.scaling import QueueTimePolicy as QueueTimePolicy

__all__ = ["QueueTimePolicy", "SequenceRouter", "application", "start"]

_MODULES = {
    "QueueTimePolicy": "scaling",
    "SequenceRouter": "router",
    "application": "replica",
    "start": "replica",
}


def __getattr__(name: str) -> Any:
    """Imports Ray when it is needed: parts of this package work without it."""
    if name not in _MODULES:
        raise AttributeError(f"module 'nereid.ray' has no attribute {name!r}")
    import importlib

    return getattr(importlib.import_module(f"nereid.ray.{_MODULES[name]}"), name)
