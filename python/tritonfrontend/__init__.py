# SPDX-License-Identifier: Apache-2.0
"""Triton's front ends for servers of the package `tritonserver`, served by Nereid."""

from nereid._version import __version__
from tritonfrontend._api._kservegrpc import KServeGrpc
from tritonfrontend._api._kservehttp import KServeHttp
from tritonfrontend._api._metrics import Metrics

__all__ = ["KServeGrpc", "KServeHttp", "Metrics", "__version__"]
