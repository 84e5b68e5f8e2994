# SPDX-License-Identifier: Apache-2.0
"""How many replicas there should be: decided by the time that requests wait in the engines' queues.

Serve's own policy counts requests. With a server that batches, many requests at once may be just
what it is good at; requests that wait are what clients notice."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import Any, Optional

#: The names of the metrics that replicas record.
QUEUE_MS = "nereid_queue_ms"
BUSY = "nereid_busy"


class QueueMeter:
    """Computes the metrics of one replica from the engine's statistics, which only grow.

    cores: what the replica may use; "busy" is a share of it."""

    def __init__(self, cores: float) -> None:
        self._cores = max(cores, 0.1)
        self._before: dict[tuple[str, str], tuple[int, int, int]] = {}
        self._time: Optional[float] = None

    def measure(self, statistics: Mapping[str, Any], now: float) -> dict[str, float]:
        """Returns the mean time in the queue, in milliseconds, of the requests that were executed
        since the last call, and the share of the time that executions took. now: seconds of a
        clock that never goes back."""
        seen: dict[tuple[str, str], tuple[int, int, int]] = {}
        requests = queue_ns = compute_ns = 0
        for model in statistics.get("model_stats", ()):
            stats = model.get("inference_stats", {})
            queue = stats.get("queue", {})
            # Of a batch, every request has the time of the whole; an execution counts once.
            batches = model.get("batch_stats", ())
            key = (str(model.get("name")), str(model.get("version")))
            value = (
                int(queue.get("count", 0)),
                int(queue.get("ns", 0)),
                sum(int(batch.get("compute_infer", {}).get("ns", 0)) for batch in batches),
            )
            seen[key] = value
            before = self._before.get(key, (0, 0, 0))
            if value[0] < before[0]:  # the model was loaded again
                before = (0, 0, 0)
            requests += value[0] - before[0]
            queue_ns += value[1] - before[1]
            compute_ns += value[2] - before[2]
        elapsed = 0.0 if self._time is None else now - self._time
        is_first = self._time is None
        self._before, self._time = seen, now
        if is_first or elapsed <= 0:
            return {QUEUE_MS: 0.0, BUSY: 0.0}
        return {
            QUEUE_MS: queue_ns / requests / 1e6 if requests else 0.0,
            BUSY: min(1.0, compute_ns / 1e9 / elapsed / self._cores),
        }


def desired_replicas(
    current: int, queue_ms: Iterable[float], busy: Iterable[float], target_queue_ms: float
) -> int:
    """Returns how many replicas the load needs, at least 1.

    queue_ms, busy: the metrics of the replicas. Above the target the number grows in proportion to
    the wait, at most to the double. Below half of the target it is what keeps the replicas 70 %
    busy at most. In between it stays."""
    waits = list(queue_ms)
    if current <= 0 or not waits:
        return max(current, 1)
    wait = sum(waits) / len(waits)
    if wait > target_queue_ms:
        return math.ceil(current * min(2.0, wait / target_queue_ms))
    if wait > target_queue_ms / 2:
        return current
    return max(1, min(current, math.ceil(sum(busy) / 0.7)))


class QueueTimePolicy:
    """An autoscaling policy of Ray Serve.

    target_queue_ms: the mean time in the queue above which replicas are added.
    down_delay_s: how long fewer replicas must suffice before one leaves."""

    def __init__(self, target_queue_ms: float = 10.0, down_delay_s: float = 60.0) -> None:
        self.target_queue_ms = target_queue_ms
        self.down_delay_s = down_delay_s

    def __call__(self, context: Any) -> tuple[int, dict[str, Any]]:
        """Returns the number of replicas and the state for the next call. context: Serve's
        AutoscalingContext."""
        metrics = context.aggregated_metrics or {}
        current = context.target_num_replicas
        desired = desired_replicas(
            current,
            metrics.get(QUEUE_MS, {}).values(),
            metrics.get(BUSY, {}).values(),
            self.target_queue_ms,
        )
        desired = max(desired, context.capacity_adjusted_min_replicas)
        desired = min(desired, context.capacity_adjusted_max_replicas)
        if desired >= current:
            return desired, {}
        calm_since = (context.policy_state or {}).get("calm_since", context.current_time)
        if context.current_time - calm_since < self.down_delay_s:
            return current, {"calm_since": calm_since}
        return desired, {}
