# SPDX-License-Identifier: Apache-2.0
"""The parts of nereid.ray that need no cluster; tests/ray has the rest."""

import pickle
from types import SimpleNamespace

import pytest

from nereid.ray import routes, scaling, sessions, wire


def field(number, text):
    return bytes([number << 3 | 2, len(text)]) + text


@pytest.mark.parametrize(
    ("data", "text"),
    [
        (field(1, b"model") + field(2, b"3"), "model"),
        (field(2, b"3") + field(1, b"model"), "model"),
        (field(1, b"a") + field(1, b"b"), "b"),
        (b"\x18\xff\x01" + field(1, b"m"), "m"),  # a number first
        (b"\x21" + bytes(8) + b"\x2d" + bytes(4) + field(1, b"m"), "m"),
        (b"", ""),
        (b"\x0a\x05abc", ""),  # shorter than it says
        (b"\x0a\xff\xff\xff\xff\xff\xff\xff\xff\xff\x7f", ""),  # a size of 2^70
        (b"\x0a\xff", ""),
        (b"\x0b", ""),  # a group
        (b"\x80" * 11, ""),
        (field(1, b"\xff"), ""),  # no UTF-8
    ],
)
def test_the_first_text_of_a_message(data, text):
    assert wire.first_text(data) == text


def test_a_message_survives_pickling():
    assert pickle.loads(pickle.dumps(wire.RawMessage(b"\x0a\x01m"))).data == b"\x0a\x01m"


@pytest.mark.parametrize(
    ("path", "model"),
    [
        ("/v2/models/m/infer", "m"),
        ("/v2/models/m/versions/2/ready", "m"),
        ("/v2/models/m", "m"),
        ("/v2/models/stats", "stats"),
        ("/v2/health/ready", ""),
        ("/v2/repository/index", ""),
    ],
)
def test_the_model_of_a_path(path, model):
    assert routes.model_of_path(path) == ("" if path == "/v2/models/stats" else model)


@pytest.mark.parametrize(
    "path",
    [
        "/v2/repository/models/m/load",
        "/v2/repository/models/m/unload",
        "/v2/systemsharedmemory/region/r/register",
        "/v2/cudasharedmemory/status",
    ],
)
def test_operations_on_one_replica(path):
    assert routes.is_of_one_replica(path)
    assert not routes.is_of_one_replica("/v2/models/m/infer")


def statistics(count, queue_ns, compute_ns):
    return {
        "model_stats": [
            {
                "name": "m",
                "version": "1",
                "inference_stats": {"queue": {"count": count, "ns": queue_ns}},
                "batch_stats": [{"compute_infer": {"count": 1, "ns": compute_ns}}],
            }
        ]
    }


def test_metrics_are_of_the_time_between_two_calls():
    meter = scaling.QueueMeter(cores=2)
    assert meter.measure(statistics(10, 10_000_000, 0), now=1.0) == {
        scaling.QUEUE_MS: 0.0,
        scaling.BUSY: 0.0,
    }
    # 5 more requests waited 100 ms in total; a second of computing in two seconds on two cores.
    assert meter.measure(statistics(15, 110_000_000, 10**9), now=3.0) == {
        scaling.QUEUE_MS: 20.0,
        scaling.BUSY: 0.25,
    }
    assert meter.measure(statistics(15, 110_000_000, 10**9), now=4.0) == {
        scaling.QUEUE_MS: 0.0,
        scaling.BUSY: 0.0,
    }
    # The model was loaded again: its counters began anew.
    assert meter.measure(statistics(2, 2_000_000, 0), now=5.0)[scaling.QUEUE_MS] == 1.0


@pytest.mark.parametrize(
    ("current", "queue_ms", "busy", "replicas"),
    [
        (1, [5], [0.9], 1),
        (1, [11], [1.0], 2),
        (4, [15] * 4, [1.0] * 4, 6),
        (4, [1000] * 4, [1.0] * 4, 8),  # at most the double
        (4, [6] * 4, [0.1] * 4, 4),  # between half of the target and the target
        (4, [1] * 4, [0.7] * 4, 4),
        (4, [1] * 4, [0.3] * 4, 2),
        (4, [0] * 4, [0.0] * 4, 1),
        (3, [], [], 3),
        (0, [], [], 1),
    ],
)
def test_how_many_replicas_the_load_needs(current, queue_ms, busy, replicas):
    assert scaling.desired_replicas(current, queue_ms, busy, 10) == replicas


def context(now, queue_ms, state, current=4, low=1, high=6):
    return SimpleNamespace(
        aggregated_metrics={
            scaling.QUEUE_MS: dict.fromkeys("abcd", queue_ms),
            scaling.BUSY: dict.fromkeys("abcd", 0.1),
        },
        target_num_replicas=current,
        capacity_adjusted_min_replicas=low,
        capacity_adjusted_max_replicas=high,
        policy_state=state,
        current_time=now,
    )


def test_replicas_come_at_once_and_leave_after_a_while():
    policy = scaling.QueueTimePolicy(target_queue_ms=10, down_delay_s=30)
    assert policy(context(0, 100, {})) == (6, {})  # the maximum
    replicas, state = policy(context(100, 0, {}))
    assert replicas == 4
    assert policy(context(129, 0, state))[0] == 4
    assert policy(context(130, 0, state)) == (1, {})
    # A wait in between begins the time anew.
    assert policy(context(129, 8, state)) == (4, {})


def test_sessions_are_bounded_and_forgotten():
    table = sessions.SessionTable(limit=2, idle_s=10)
    table.set_owner("a", 1, now=0)
    table.set_owner("b", 2, now=1)
    assert table.owner("a", now=5) == 1
    table.set_owner("a", 1, now=5)
    table.set_owner("c", 3, now=6)  # "b" was not used for the longest time
    assert (table.owner("a", 6), table.owner("b", 6), table.owner("c", 6)) == (1, None, 3)
    assert table.owner("a", now=16) is None
    table.set_owner("d", 4, now=17)
    assert len(table) == 1
