# SPDX-License-Identifier: Apache-2.0
"""Metrics of one's own, which the metrics page shows beside the server's."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Optional

from nereid import _core
from nereid.enums import MetricKind


class MetricFamily:
    """Metrics with one name, kind and description, which differ in their labels. A family of the
    same name, kind and description is the same family. It is on the page as long as an object of it
    lives."""

    def __init__(self, kind: MetricKind, name: str, description: str) -> None:
        self._core = _core.metric_family_new(kind, name, description)
        self.kind = kind
        self.name = name
        self.description = description


class Metric:
    """A metric of a family, with these labels."""

    def __init__(self, family: MetricFamily, labels: Optional[Mapping[str, str]] = None) -> None:
        self._core = _core.metric_new(family._core, dict(labels or {}))

    @property
    def kind(self) -> MetricKind:
        """The kind of the family."""
        return MetricKind(_core.metric_kind(self._core))

    @property
    def value(self) -> float:
        """The value."""
        return _core.metric_value(self._core)

    def increment(self, value: float) -> None:
        """Adds a number; a counter refuses negative ones with InvalidArgumentError."""
        _core.metric_increment(self._core, value)

    def set_value(self, value: float) -> None:
        """Sets a gauge; a counter refuses it with UnsupportedError."""
        _core.metric_set(self._core, value)
