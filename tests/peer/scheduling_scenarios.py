# SPDX-License-Identifier: Apache-2.0
"""The scheduling scenarios that test_scheduling_replay.py plays on Triton and on Nereid.

Each is a model (one identity model whose executions take EXECUTION ticks) and a script of requests.
Times are ticks of `TICK` seconds since the script's start, so coarse that a busy machine does not
turn them round. Triton's batcher sometimes sleeps through the end of an execution and looks at its
queue half a second later: no script depends on what happens in the eight ticks after that end. Names order requests in what a failure shows; a request is sent at `at`.
"""

from dataclasses import dataclass

TICK = 0.06
EXECUTION = 8


@dataclass
class Request:
    """One request of a script."""

    name: str
    at: float
    batch: int = 1
    dim: int = 4
    priority: int = 0
    timeout: float = 0  # ticks, the request parameter
    deadline: float = 0  # ticks, gRPC's own
    cancel: float = 0  # tick at which the client cancels
    fail: bool = False  # the backend answers with an error
    inputs: tuple = (0,)


@dataclass
class Scenario:
    """A model and its script."""

    id: str
    requests: list
    batch: int = 8
    dims: int = 4  # dims of each input; -1: variable
    instances: int = 1
    spread: int = 0  # instance k > 0 takes k * spread times as long
    inputs: tuple = ("",)  # further fields of each input's configuration
    scheduling: str = ""


def us(ticks) -> int:
    return round(ticks * TICK * 1e6)


def policy(*, reject=True, timeout=0, override=False, size=0) -> str:
    parts = []
    if not reject:
        parts.append("timeout_action: DELAY")
    if timeout:
        parts.append(f"default_timeout_microseconds: {us(timeout)}")
    if override:
        parts.append("allow_timeout_override: true")
    if size:
        parts.append(f"max_queue_size: {size}")
    return "{ " + " ".join(parts) + " }"


def dynamic(*, preferred=(), delay=0, levels=0, default=0, policy=None, policies=None,
            preserve=False) -> str:
    """The dynamic_batching message."""
    parts = []
    if preferred:
        parts.append(f"preferred_batch_size: [ {', '.join(map(str, preferred))} ]")
    if delay:
        parts.append(f"max_queue_delay_microseconds: {us(delay)}")
    if levels:
        parts.append(f"priority_levels: {levels} default_priority_level: {default}")
    if policy:
        parts.append(f"default_queue_policy {policy}")
    for level, text in (policies or {}).items():
        parts.append(f"priority_queue_policy {{ key: {level} value: {text} }}")
    if preserve:
        parts.append("preserve_ordering: true")
    return "dynamic_batching { " + " ".join(parts) + " }\n"


def row(names, start=0.0, step=1.0, **kwargs):
    """Returns requests that are sent one after the other, `step` ticks apart."""
    return [Request(name, start + i * step, **kwargs) for i, name in enumerate(names)]


def many(count, start=1.0, step=0.4, prefix="q", **kwargs):
    return [Request(f"{prefix}{i:02}", start + i * step, **kwargs) for i in range(count)]


BUSY = Request("a", 0)  # takes the only instance from tick 0 to EXECUTION
R = Request
TWO = ("", "")

DIRECT = [
    Scenario("direct-one-by-one", row("abc")),
    Scenario("direct-batches-of-clients", [R("a", 0, batch=5), R("b", 1, batch=3)]),
    Scenario("direct-without-batching", row("abc"), batch=0),
    Scenario("direct-two-instances", row("abcd"), instances=2),
    Scenario("direct-ignores-timeouts", [BUSY, R("b", 1, timeout=2), R("c", 2)]),
    Scenario("direct-ignores-priorities", [BUSY, R("b", 1, priority=2), R("c", 2, priority=1)]),
    Scenario("direct-error", [BUSY, R("b", 1, fail=True), R("c", 2)]),
    Scenario("direct-invalid-is-not-counted", [R("a", 0, batch=9), R("b", 1, dim=3), R("c", 2)]),
    Scenario("direct-cancelled-while-it-runs", [R("a", 0, cancel=3), R("b", 1)]),
    Scenario("direct-cancelled-in-the-queue", [BUSY, R("b", 1, cancel=3), R("c", 2)]),
    Scenario("direct-deadline-in-the-queue", [BUSY, R("b", 1, deadline=3), R("c", 2)]),
]

BATCHES = [
    Scenario("all-that-waits", [BUSY, *many(8)], scheduling=dynamic()),
    Scenario("more-than-the-maximum", [BUSY, *many(11)], scheduling=dynamic()),
    Scenario("preferred-size", [BUSY, *many(11)], scheduling=dynamic(preferred=[4])),
    Scenario("largest-preferred-size", [BUSY, *many(7)], scheduling=dynamic(preferred=[2, 6])),
    Scenario("preferred-then-the-rest", [BUSY, *many(8)], scheduling=dynamic(preferred=[3])),
    Scenario("no-preferred-size-fits", [BUSY, *many(3)], scheduling=dynamic(preferred=[4, 8])),
    Scenario("preferred-one", [BUSY, *many(4)], scheduling=dynamic(preferred=[1])),
    Scenario("requests-are-not-split", [BUSY, *many(3, batch=3)], scheduling=dynamic()),
    Scenario("sizes-that-overflow", [BUSY, R("b", 1, batch=5), R("c", 2, batch=4),
                                     R("d", 3, batch=3)], scheduling=dynamic()),
    Scenario("sizes-that-fill", [BUSY, R("b", 1, batch=5), R("c", 2, batch=3),
                                 R("d", 3, batch=1)], scheduling=dynamic()),
    Scenario("preferred-by-size", [BUSY, R("b", 1, batch=2), R("c", 2, batch=2),
                                   R("d", 3, batch=3)], scheduling=dynamic(preferred=[4])),
    Scenario("full-request", [BUSY, R("b", 1, batch=8), R("c", 2)], scheduling=dynamic()),
    Scenario("batch-of-one-model", [BUSY, *many(3)], batch=1, scheduling=dynamic()),
    Scenario("dynamic-without-batching", [BUSY, *many(3)], batch=0, scheduling=dynamic()),
    Scenario("grows-while-it-waits", [BUSY, *many(7, step=0.9)], scheduling=dynamic()),
    Scenario("two-instances", [R("a", 0), R("b", 1), *many(6, start=2)], instances=2,
             scheduling=dynamic()),
    Scenario("two-instances-preferred", [R("a", 0), R("b", 1), *many(8, start=2)], instances=2,
             scheduling=dynamic(preferred=[4])),
    Scenario("three-instances", [*row("abc", step=0.7), *many(5, start=3)], instances=3,
             scheduling=dynamic()),
    Scenario("invalid-in-a-batch", [BUSY, R("b", 1), R("c", 2, batch=9), R("d", 3, dim=5)],
             scheduling=dynamic()),
    Scenario("error-in-a-batch", [BUSY, R("b", 1), R("c", 2, fail=True), R("d", 3)],
             scheduling=dynamic()),
    Scenario("errors-only", [BUSY, R("b", 1, fail=True), R("c", 2, fail=True)],
             scheduling=dynamic()),
]

DELAYS = [
    Scenario("one-waits-for-the-delay", [R("a", 0)], scheduling=dynamic(delay=4)),
    Scenario("three-wait-together", row("abc"), scheduling=dynamic(delay=5)),
    Scenario("preferred-ends-the-wait", row("abc", step=2),
             scheduling=dynamic(preferred=[2], delay=10)),
    Scenario("full-ends-the-wait", many(8, start=0), scheduling=dynamic(delay=12)),
    Scenario("overflow-ends-the-wait", [R("a", 0, batch=5), R("b", 2, batch=5)],
             scheduling=dynamic(delay=12)),
    Scenario("shape-ends-the-wait", [R("a", 0, dim=2), R("b", 2, dim=3)], dims=-1,
             scheduling=dynamic(delay=12)),
    Scenario("late-for-the-delay", [R("a", 0), R("b", 6)], scheduling=dynamic(delay=3)),
    Scenario("delay-passes-while-busy", [BUSY, *row("bcd", start=5)],
             scheduling=dynamic(delay=4)),
    Scenario("delay-passes-before-preferred", [R("a", 0), *row("bcd", start=5)],
             scheduling=dynamic(preferred=[4], delay=2)),
    Scenario("larger-preferred-is-waited-for", row("abcdef", step=0.7),
             scheduling=dynamic(preferred=[4, 6], delay=10)),
    Scenario("delay-two-instances", row("abcd"), instances=2,
             scheduling=dynamic(preferred=[2], delay=10)),
    Scenario("cancelled-during-the-delay", [R("a", 0, cancel=2), R("b", 1)],
             scheduling=dynamic(delay=6)),
]

SHAPES = [
    Scenario("same-variable-shape", [BUSY, *row("bcd", 1)], dims=-1, scheduling=dynamic()),
    Scenario("other-shapes-apart", [BUSY, *row("bc", 1), R("d", 3, dim=2), R("e", 4)], dims=-1,
             scheduling=dynamic()),
    Scenario("shapes-in-turn", [BUSY, R("b", 1, dim=1), R("c", 2, dim=2), R("d", 3, dim=1)],
             dims=-1, scheduling=dynamic()),
    Scenario("ragged-together", [BUSY, R("b", 1, dim=1), R("c", 2, dim=2), R("d", 3, dim=3)],
             dims=-1, inputs=("allow_ragged_batch: true",), scheduling=dynamic()),
    Scenario("one-ragged-one-not", [BUSY, R("b", 1, dim=1, inputs=(0, 1)),
                                    R("c", 2, dim=2, inputs=(0, 1))],
             dims=-1, inputs=("allow_ragged_batch: true", ""), scheduling=dynamic()),
    Scenario("optional-left-out-by-some", [BUSY, R("b", 1, inputs=(0, 1)), R("c", 2),
                                           R("d", 3), R("e", 4, inputs=(0, 1))],
             inputs=("", "optional: true"), scheduling=dynamic()),
    Scenario("optional-left-out-by-all", [BUSY, *row("bcd", 1)],
             inputs=("", "optional: true"), scheduling=dynamic()),
    Scenario("required-input-missing", [BUSY, R("b", 1), R("c", 2, inputs=(0, 1))], inputs=TWO,
             scheduling=dynamic()),
]

LEVELS = [
    Scenario("strict-priority", [BUSY, R("d", 1, priority=1), R("h", 2, priority=1),
                                 R("b", 3, priority=2), R("c", 4, priority=3)], batch=1,
             scheduling=dynamic(levels=3, default=2)),
    Scenario("low-level-waits", [BUSY, R("b", 1, priority=3), R("c", 2, priority=2),
                                 R("d", 3, priority=1)], batch=1,
             scheduling=dynamic(levels=3, default=2)),
    Scenario("no-priority-is-the-default", [BUSY, R("b", 1, priority=3), R("c", 2),
                                            R("d", 3, priority=1)], batch=1,
             scheduling=dynamic(levels=3, default=2)),
    Scenario("priority-out-of-range", [BUSY, R("b", 1, priority=3), R("c", 2, priority=9),
                                       R("d", 3, priority=1)], batch=1,
             scheduling=dynamic(levels=3, default=2)),
    Scenario("huge-priority", [BUSY, R("b", 1, priority=2), R("c", 2, priority=2**64 - 1)],
             batch=1, scheduling=dynamic(levels=2, default=1)),
    Scenario("levels-share-a-batch", [BUSY, R("b", 1, priority=2), R("c", 2, priority=1),
                                      R("d", 3, priority=2)],
             scheduling=dynamic(levels=2, default=1)),
    Scenario("levels-and-preferred", [BUSY, *many(3, priority=2), *many(3, 4, prefix="p",
                                                                         priority=1)],
             scheduling=dynamic(preferred=[2], levels=2, default=1)),
    Scenario("levels-and-delay", [R("a", 0, priority=2), R("b", 2, priority=1)],
             scheduling=dynamic(delay=5, levels=2, default=1)),
    Scenario("one-level", [BUSY, *row("bc", 1)], batch=1, scheduling=dynamic(levels=1, default=1)),
]

LIMITS = [
    Scenario("full-queue", [BUSY, *row("bcde", 1)], scheduling=dynamic(policy=policy(size=2))),
    Scenario("full-queue-one-by-one", [BUSY, *row("bcde", 1)], batch=1,
             scheduling=dynamic(policy=policy(size=3))),
    Scenario("room-again", [BUSY, *row("bcd", 1), R("e", 2.5 * EXECUTION)], batch=1,
             scheduling=dynamic(policy=policy(size=2))),
    Scenario("queue-size-two-instances", row("abcdef"), instances=2, batch=1,
             scheduling=dynamic(policy=policy(size=2))),
    Scenario("queue-size-counts-requests", [BUSY, R("b", 1, batch=5), R("c", 2, batch=5),
                                            R("d", 3)],
             scheduling=dynamic(policy=policy(size=2))),
    Scenario("queue-size-of-each-level",
             [BUSY, *row("bcd", 1, priority=1), *row("efg", 4, priority=2)], batch=1,
             scheduling=dynamic(levels=2, default=1, policies={1: policy(size=1),
                                                               2: policy(size=2)})),
    Scenario("default-policy-for-other-levels",
             [BUSY, *row("bc", 1, priority=1), *row("def", 3, priority=2)], batch=1,
             scheduling=dynamic(levels=2, default=1, policy=policy(size=1),
                                policies={2: policy(size=2)})),
    Scenario("cancelled-makes-room", [BUSY, R("b", 1, cancel=3), R("c", 2), R("d", 5)], batch=1,
             scheduling=dynamic(policy=policy(size=2))),
]

TIMEOUTS = [
    Scenario("rejected", [BUSY, *row("bc", 1)], scheduling=dynamic(policy=policy(timeout=3))),
    Scenario("some-rejected", [BUSY, R("b", 1, timeout=3), R("c", 2, timeout=40), R("d", 3)],
             scheduling=dynamic(policy=policy(timeout=60, override=True))),
    Scenario("in-time", [BUSY, *row("bc", 1)],
             scheduling=dynamic(policy=policy(timeout=3 * EXECUTION))),
    Scenario("override-shortens", [BUSY, R("b", 1, timeout=3), R("c", 2)],
             scheduling=dynamic(policy=policy(timeout=3 * EXECUTION, override=True))),
    Scenario("override-cannot-lengthen", [BUSY, R("b", 1, timeout=40)],
             scheduling=dynamic(policy=policy(timeout=4, override=True))),
    Scenario("override-of-nothing", [BUSY, R("b", 1, timeout=3)],
             scheduling=dynamic(policy=policy(override=True))),
    Scenario("override-not-allowed", [BUSY, R("b", 1, timeout=3)],
             scheduling=dynamic(policy=policy(timeout=3 * EXECUTION))),
    Scenario("timeout-without-policy", [BUSY, R("b", 1, timeout=2)], scheduling=dynamic()),
    Scenario("timeout-of-one-level", [BUSY, R("b", 1, priority=1), R("c", 2, priority=2)],
             batch=1, scheduling=dynamic(levels=2, default=1, policies={2: policy(timeout=3)})),
    Scenario("rejected-before-the-delay", [R("a", 0), R("b", 1)],
             scheduling=dynamic(delay=8, policy=policy(timeout=3))),
    Scenario("expired-step-back", [BUSY, R("b", 1, timeout=2), R("c", 2)], batch=1,
             scheduling=dynamic(policy=policy(reject=False, timeout=90, override=True))),
    Scenario("expired-are-overtaken", [BUSY, R("b", 1, timeout=2), R("c", 2, timeout=3),
                                       R("d", 3), R("e", 4)], batch=1,
             scheduling=dynamic(policy=policy(reject=False, timeout=90, override=True))),
    Scenario("expired-join-the-batch", [BUSY, R("b", 1), R("c", 6)],
             scheduling=dynamic(policy=policy(reject=False, timeout=3))),
    Scenario("expired-count-for-the-size", [BUSY, *row("bc", 1), R("d", 6)], batch=1,
             scheduling=dynamic(policy=policy(reject=False, timeout=3, size=2))),
    Scenario("override-and-step-back", [BUSY, R("b", 1, timeout=2), R("c", 5)], batch=1,
             scheduling=dynamic(policy=policy(reject=False, timeout=40, override=True))),
    Scenario("rejected-makes-room", [BUSY, R("b", 1, timeout=1), R("c", 3), R("d", 5)],
             batch=1,
             scheduling=dynamic(policy=policy(timeout=40, override=True, size=2))),
]

CANCELLED = [
    Scenario("cancelled-in-the-queue", [BUSY, R("b", 1), R("c", 2, cancel=4), R("d", 3)],
             scheduling=dynamic()),
    Scenario("all-cancelled-in-the-queue", [BUSY, R("b", 1, cancel=4), R("c", 2, cancel=4)],
             scheduling=dynamic()),
    Scenario("cancelled-while-it-runs", [R("a", 0, cancel=3), R("b", 1)], scheduling=dynamic()),
    Scenario("cancelled-among-others", [BUSY, R("b", 1, cancel=EXECUTION + 3), R("c", 2)],
             scheduling=dynamic()),
    Scenario("cancelled-first-of-its-shape", [BUSY, R("b", 1, dim=2, cancel=4), R("c", 2),
                                              R("d", 3)], dims=-1, scheduling=dynamic()),
    Scenario("deadline-in-the-queue", [BUSY, R("b", 1, deadline=3), R("c", 2)],
             scheduling=dynamic()),
    Scenario("deadline-while-it-runs", [R("a", 0, deadline=3), R("b", 1)], scheduling=dynamic()),
    Scenario("cancelled-with-a-policy", [BUSY, R("b", 1, cancel=3), R("c", 2)],
             scheduling=dynamic(policy=policy(timeout=3 * EXECUTION))),
]

ORDER = [
    Scenario("order-kept-over-instances", row("abcd"), batch=1, instances=2, spread=2,
             scheduling=dynamic(preserve=True)),
    Scenario("order-kept-with-an-error", [R("a", 0), R("b", 1, fail=True), R("c", 2)], batch=1,
             instances=2, spread=2, scheduling=dynamic(preserve=True)),
    Scenario("order-kept-with-batches", [R("a", 0), R("b", 1), *many(4, start=2)], instances=2,
             spread=2, scheduling=dynamic(preserve=True)),
    Scenario("order-kept-with-a-delay", row("abcd"), instances=2,
             scheduling=dynamic(preserve=True, preferred=[2], delay=6)),
    Scenario("order-kept-with-a-cancelled-one", [R("a", 0), R("b", 1), R("c", 2, cancel=4),
                                                 R("d", 3)], batch=1, instances=2,
             scheduling=dynamic(preserve=True)),
    Scenario("order-kept-with-a-full-queue", [BUSY, *row("bcd", 1)], batch=1,
             scheduling=dynamic(preserve=True, policy=policy(size=2))),
]

SCENARIOS = [*DIRECT, *BATCHES, *DELAYS, *SHAPES, *LEVELS, *LIMITS, *TIMEOUTS, *CANCELLED, *ORDER]
