# SPDX-License-Identifier: Apache-2.0
"""The configuration of bound models that the server has, and what the batches of their functions
need."""

import numpy as np
import pytest

import nereid
from nereid.pytriton import (
    DynamicBatcher,
    ModelConfig,
    QueuePolicy,
    Tensor,
    TimeoutAction,
    Triton,
    TritonConfig,
)
from nereid.pytriton.decorators import batch, first_value, group_by_keys, sample

FLOATS = Tensor(name="x", dtype=np.float32, shape=(-1,))
RESULT = Tensor(name="y", dtype=np.float32, shape=(-1,))
ONES = np.ones((1, 3), np.float32)


@pytest.fixture(scope="module")
def plain():
    """A server without models of its own."""
    with nereid.Server() as server:
        yield server


def echo(requests):
    return [{"y": request["x"]} for request in requests]


def batching_of(server, name, batcher):
    """Returns the settings of a model's dynamic batching; those that are not set are left out."""
    model = server.bind(name, echo, [FLOATS], [RESULT], config=ModelConfig(batcher=batcher))
    return model.config()["dynamic_batching"]


def policy_of(entry):
    """Returns an entry of the configuration as a QueuePolicy."""
    return QueuePolicy(
        TimeoutAction(entry.get("timeout_action", "REJECT")),
        int(entry.get("default_timeout_microseconds", 0)),
        entry.get("allow_timeout_override", False),
        int(entry.get("max_queue_size", 0)),
    )


POLICIES = [
    QueuePolicy(),
    QueuePolicy(timeout_action=TimeoutAction.DELAY),
    QueuePolicy(default_timeout_microseconds=11),
    QueuePolicy(allow_timeout_override=True),
    QueuePolicy(max_queue_size=12),
    QueuePolicy(TimeoutAction.DELAY, 13, True, 14),
]


@pytest.mark.parametrize("number", range(len(POLICIES)))
def test_queue_policies(plain, number):
    policy, other = POLICIES[number], POLICIES[number - 1]
    batching = batching_of(
        plain,
        f"policy_{number}",
        DynamicBatcher(
            priority_levels=3,
            default_priority_level=2,
            default_queue_policy=policy,
            priority_queue_policy={1: other, 3: policy},
        ),
    )
    assert (int(batching["priority_levels"]), int(batching["default_priority_level"])) == (3, 2)
    assert policy_of(batching["default_queue_policy"]) == policy
    policies = batching["priority_queue_policy"]
    assert {level: policy_of(entry) for level, entry in policies.items()} == {
        "1": other,
        "3": policy,
    }


def test_settings_of_the_batcher(plain):
    for number, preserved in enumerate((True, False)):
        batching = batching_of(
            plain,
            f"batcher_{number}",
            DynamicBatcher(
                max_queue_delay_microseconds=5,
                preferred_batch_size=[2, 3],
                preserve_ordering=preserved,
            ),
        )
        assert batching.get("preserve_ordering", False) is preserved
        assert batching["preferred_batch_size"] == [2, 3]
        assert int(batching["max_queue_delay_microseconds"]) == 5
        assert int(batching.get("priority_levels", 0)) == 0
    # Without a batcher's settings a model batches all the same.
    assert isinstance(batching_of(plain, "batcher", DynamicBatcher()), dict)


@pytest.mark.parametrize(
    ("explicit", "environment", "expected"),
    [
        (None, None, "triton"),
        (None, "environment", "environment"),
        ("explicit", None, "explicit"),
        ("explicit", "environment", "explicit"),
    ],
)
def test_explicit_settings_come_before_the_environment(
    monkeypatch, explicit, environment, expected
):
    monkeypatch.setenv("PYTRITON_TRITON_CONFIG_HTTP_PORT", "0")
    monkeypatch.setenv("PYTRITON_TRITON_CONFIG_HTTP_ADDRESS", "127.0.0.1")
    monkeypatch.setenv("PYTRITON_TRITON_CONFIG_ALLOW_GRPC", "true")
    if environment is not None:
        monkeypatch.setenv("PYTRITON_TRITON_CONFIG_ID", environment)
    config = TritonConfig(id=explicit, allow_grpc=False, allow_metrics=False)
    with Triton(config=config) as triton:
        assert triton.server.metadata()["name"] == expected
        assert triton.frontends.http_port not in (0, 8000)  # of the environment
        assert not triton.frontends.grpc_port  # explicit


def test_requests_with_other_inputs_in_a_batch(plain):
    calls = []

    @batch
    def double(**inputs):
        calls.append(sorted(inputs))
        return {"y": inputs["x"] * 2}

    def with_another_request(function):
        """The server makes no batch of such requests: the outer function adds one."""

        def outer(requests):
            (request,) = requests
            other = request.with_data({"x": request["x"] + 1, "z": request["x"]})
            first, second = function([request, other])
            return [{"y": first["y"] + second["y"]}]

        return outer

    optional = Tensor(name="z", dtype=np.float32, shape=(-1,), optional=True)
    model = plain.bind("keys", with_another_request(double), [FLOATS, optional], [RESULT])
    with pytest.raises(
        nereid.InternalError, match="Cannot batch requests with different set of inputs keys"
    ):
        model.infer({"x": ONES})
    assert calls == []
    grouped = with_another_request(group_by_keys(double))
    model = plain.bind("groups", grouped, [FLOATS, optional], [RESULT])
    assert model.infer({"x": ONES})["y"].tolist() == [[6, 6, 6]]
    assert sorted(calls) == [["x"], ["x", "z"]]


def test_first_value_needs_batches(plain):
    function = sample(first_value("x")(lambda x: {"y": x}))
    config = ModelConfig(batching=False)
    model = plain.bind("unbatched", function, [FLOATS], [RESULT], config=config)
    with pytest.raises(
        nereid.InternalError,
        match="The @first_value decorator can only be used with models that support batching.",
    ):
        model.infer({"x": ONES[0]})
