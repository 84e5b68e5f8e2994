# SPDX-License-Identifier: Apache-2.0
"""MetricFamily and Metric: a model's own metrics among those of the server."""

from __future__ import annotations

import enum
import typing
import weakref

from nereid_worker import host as hosts

from . import arguments
from .errors import TritonModelException
from .server_calls import call


class MetricKind(enum.IntEnum):
    """The kind of a family."""

    COUNTER = 0
    GAUGE = 1
    HISTOGRAM = 2


_WITHOUT_FAMILY = (
    "Invalid metric operation as the corresponding 'MetricFamily' has been deleted. The "
    "'MetricFamily' object should be deleted AFTER its corresponding 'Metric' objects have been "
    "deleted.")


class Metric:
    """A metric with its labels, made by MetricFamily.Metric(). Its deletion removes the metric from
    the server, unless another object has the same labels. May be used on any thread."""

    # _handle: the host's number; 0 after the family was deleted.
    __slots__ = ("__weakref__", "_handle")

    _handle: int

    def __init__(self) -> None:
        raise TypeError("Metric: use MetricFamily.Metric()")

    def increment(self, value: float) -> None:
        """Adds to a counter or a gauge. A counter takes no negative values."""
        self._change("Failed to increment metric value", "increment", value)

    def set(self, value: float) -> None:
        """Sets a gauge."""
        self._change("Failed to set metric value", "set", value)

    def observe(self, value: float) -> None:
        """Adds a value to a histogram."""
        self._change("Failed to observe metric value", "observe", value)

    def value(self) -> float:
        """Returns the value of a counter or a gauge."""
        what = "Failed to get metric value"
        return call(what, hosts.current().metric_value, self._living(what))

    def _change(self, what: str, operation: str, value: float) -> None:
        if not hasattr(value, "__float__") or isinstance(value, str):
            raise TypeError(f"Metric.{operation}: the value must be a float, not {type(value)}")
        call(what, hosts.current().change_metric, self._living(what), operation, float(value))

    def _living(self, what: str) -> int:
        """Returns the handle. Raises a TritonModelException that begins with `what` if the family was
        deleted."""
        if not self._handle:
            raise TritonModelException(f"{what}: {_WITHOUT_FAMILY}")
        return self._handle

    def _delete(self) -> None:
        handle, self._handle = self._handle, 0
        if handle:
            hosts.current().delete_metric(handle)

    def __del__(self) -> None:
        if getattr(self, "_handle", 0):
            self._delete()


class MetricFamily:
    """A family of metrics: a name, a description and a kind. Families of the same name and kind are
    the same. Its deletion ends its metrics."""

    COUNTER: typing.ClassVar[MetricKind] = MetricKind.COUNTER
    GAUGE: typing.ClassVar[MetricKind] = MetricKind.GAUGE
    HISTOGRAM: typing.ClassVar[MetricKind] = MetricKind.HISTOGRAM

    __slots__ = ("_handle", "_kind", "_metrics")

    _handle: int
    _kind: MetricKind
    _metrics: weakref.WeakSet[Metric]

    def __init__(self, name: str | bytes, description: str | bytes, kind: MetricKind) -> None:
        name = arguments.text("MetricFamily: name", name)
        description = arguments.text("MetricFamily: description", description)
        if not isinstance(kind, MetricKind):
            raise TypeError("MetricFamily: kind must be MetricFamily.COUNTER, MetricFamily.GAUGE or "
                            f"MetricFamily.HISTOGRAM, not {kind!r}")
        self._handle = 0
        self._kind = kind
        self._metrics = weakref.WeakSet()
        self._handle = call("Error when creating MetricFamily", hosts.current().new_metric_family,
                            name, description, int(kind))

    def Metric(self, labels: dict[str, str] | None = None,
               buckets: list[float] | None = None) -> Metric:
        """Returns the metric with these labels. Histograms need `buckets`: the upper bounds, in rising
        order. Raises TritonModelException if the arguments do not fit the kind."""
        self._check(labels, buckets)
        metric = object.__new__(Metric)
        metric._handle = 0
        metric._handle = call("Error when creating Metric", _new_metric, self._handle,
                              labels or {}, buckets)
        self._metrics.add(metric)
        return metric

    def _check(self, labels: typing.Any, buckets: typing.Any) -> None:
        if labels is not None and not isinstance(labels, dict):
            raise TritonModelException(
                "Failed to create metric. Labels must be a dictionary.")
        if self._kind != MetricKind.HISTOGRAM:
            if buckets is not None:
                raise TritonModelException(
                    "Failed to create metric. Unexpected buckets found.")
        elif buckets is None:
            raise TritonModelException("Failed to create metric. Missing required buckets.")
        elif not isinstance(buckets, list):
            raise TritonModelException("Failed to create metric. Buckets must be a list.")

    def __del__(self) -> None:
        if not getattr(self, "_handle", 0):
            return
        for metric in list(self._metrics):
            metric._delete()
        hosts.current().delete_metric_family(self._handle)


def _new_metric(family: int, labels: dict[typing.Any, typing.Any],
                buckets: list[typing.Any] | None) -> int:
    for key, value in labels.items():
        if not isinstance(key, str) or not isinstance(value, str):
            raise hosts.HostError("attempt to access JSON non-string as string")
    bounds = None if buckets is None else [float(bound) for bound in buckets]
    return hosts.current().new_metric(family, labels, bounds)
