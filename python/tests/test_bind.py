# SPDX-License-Identifier: Apache-2.0
"""Python functions as models: nereid.bind, nereid.pytriton."""

import asyncio
import os
import threading
import time

import numpy as np
import pytest

import nereid
from nereid.pytriton import (
    DynamicBatcher,
    ModelConfig,
    ModelWarmup,
    QueuePolicy,
    Tensor,
    WarmupInput,
)
from nereid.pytriton.decorators import (
    ConstantPadder,
    batch,
    fill_optionals,
    first_value,
    group_by_keys,
    group_by_values,
    pad_batch,
    sample,
    triton_context,
)
from nereid.pytriton.exceptions import (
    PyTritonBadParameterError,
    PyTritonError,
    PyTritonInvalidOperationError,
    PyTritonValidationError,
)

FLOATS = Tensor(name="x", dtype=np.float32, shape=(-1,))
RESULT = Tensor(name="y", dtype=np.float32, shape=(-1,))
ONES = np.ones((2, 3), np.float32)


@pytest.fixture(scope="module")
def plain():
    """A server without models of its own."""
    with nereid.Server() as server:
        yield server


@pytest.fixture
def serve(plain, request):
    """Binds a function under the name of the test."""
    counter = iter(range(100))

    def bind(function, inputs=(FLOATS,), outputs=(RESULT,), **options):
        name = f"{request.node.name.split('[')[0]}_{os.urandom(3).hex()}_{next(counter)}"
        return nereid.bind(
            function, list(inputs), list(outputs), name=name, server=plain, **options
        )

    return bind


def wait_until(condition):
    deadline = time.monotonic() + 30
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.01)


def echo(requests):
    return [{"y": request["x"]} for request in requests]


def test_list_of_requests(serve):
    seen = []

    def function(requests):
        seen.extend(requests)
        return [{"y": request["x"] * 2, "unwanted": request["x"]} for request in requests]

    outputs = [RESULT, Tensor(name="unwanted", dtype=np.float32, shape=(-1,))]
    model = serve(function, outputs=outputs)
    response = model.infer({"x": ONES}, outputs=["y"], parameters={"a": 1, "b": "x"})
    assert response["y"].tolist() == (ONES * 2).tolist() and "unwanted" not in response
    assert seen[0].parameters == {"a": 1, "b": "x"} and seen[0].requested_output_names == ["y"]
    np.testing.assert_array_equal(seen[0]["x"], ONES)  # its memory is its own


def test_default_server_and_name():
    def doubled(requests):
        return [{"OUTPUT_1": request["INPUT_1"] * 2} for request in requests]

    unnamed = Tensor(dtype=np.float32, shape=(-1,))
    model = nereid.bind(doubled, [unnamed], [unnamed])
    assert model.name == "doubled"
    assert model.infer({"INPUT_1": ONES})["OUTPUT_1"].tolist() == (ONES * 2).tolist()


def test_the_server_forms_batches(serve):
    sizes = []

    @batch
    def function(x):
        sizes.append(len(x))
        return {"y": x}

    model = serve(
        function, max_batch_size=8, batcher=DynamicBatcher(max_queue_delay_microseconds=200_000)
    )

    async def main():
        asked = [model.infer_async({"x": ONES[:1] * i}) for i in range(8)]
        return [response["y"][0, 0] for response in await asyncio.gather(*asked)]

    assert asyncio.run(main()) == list(range(8))
    assert max(sizes) > 1 and sum(sizes) == 8
    # The execution is counted a moment after its answers.
    wait_until(lambda: model.statistics()["model_stats"][0]["inference_count"] == 8)


@pytest.mark.parametrize(
    "result", [lambda x: {"y": x}, lambda x: [x], lambda x: (x,)], ids=["dict", "list", "tuple"]
)
def test_batch_results(serve, result):
    model = serve(batch(result))
    assert model.infer({"x": ONES})["y"].tolist() == ONES.tolist()


def test_coroutines(serve):
    @batch
    async def function(x):
        await asyncio.sleep(0)
        return {"y": x + 1}

    assert serve(function).infer({"x": ONES})["y"][0, 0] == 2


def test_sample(serve):
    @sample
    def function(x):
        return {"y": x + 1}

    model = serve(function, batching=False)
    assert model.infer({"x": ONES[0]})["y"].tolist() == [2, 2, 2]
    wrong = serve(function)
    with pytest.raises(nereid.InternalError, match="@sample decorator"):
        wrong.infer({"x": ONES})


@pytest.mark.parametrize("kind", ["generator", "async generator", "batch generator"])
def test_decoupled(serve, kind):
    def generator(requests):
        for i in range(3):
            yield [{"y": request["x"] + i} for request in requests]

    async def async_generator(requests):
        for responses in generator(requests):
            yield responses

    @batch
    def batch_generator(x):
        for i in range(3):
            yield {"y": x + i}

    functions = {
        "generator": generator,
        "async generator": async_generator,
        "batch generator": batch_generator,
    }
    model = serve(functions[kind], decoupled=True)
    assert [response["y"][0, 0] for response in model.stream({"x": ONES})] == [1, 2, 3]


def test_strings(serve):
    text = Tensor(name="x", dtype=bytes, shape=(-1,))
    model = serve(echo, inputs=[text], outputs=[Tensor(name="y", dtype=np.bytes_, shape=(-1,))])
    assert model.infer({"x": [["a", "ü"]]})["y"].tolist() == [[b"a", "ü".encode()]]


def test_outputs_get_the_configured_type(serve):
    model = serve(lambda requests: [{"y": request["x"].astype(np.float64)} for request in requests])
    assert model.infer({"x": ONES})["y"].dtype == np.float32


def test_several_functions_run_at_once(serve):
    barrier = threading.Barrier(2, timeout=30)

    def function(requests):
        barrier.wait()
        return echo(requests)

    model = serve([function, function], max_batch_size=1)

    async def main():
        await asyncio.gather(*[model.infer_async({"x": ONES[:1]}) for _ in range(2)])

    asyncio.run(main())


def test_optional_inputs(serve):
    optional = Tensor(name="z", dtype=np.float32, shape=(1,), optional=True)

    @fill_optionals(z=np.array([5], np.float32))
    @group_by_keys
    @batch
    def function(x, z):
        return {"y": x + z}

    model = serve(function, inputs=[FLOATS, optional])
    assert model.infer({"x": ONES})["y"][1, 0] == 6
    assert model.infer({"x": ONES, "z": np.zeros((2, 1), np.float32)})["y"][1, 0] == 1
    for default, message in (
        ({"q": np.zeros(1)}, "Could not found q inputs"),
        ({"z": 1}, "as they are not NumPy arrays"),
        ({"z": np.zeros(1)}, "different than input signature dtypes"),
        ({"z": np.zeros(2, np.float32)}, "different than input signature shapes"),
    ):
        with pytest.raises(nereid.InternalError, match=message):
            serve(fill_optionals(**default)(echo), inputs=[FLOATS, optional]).infer({"x": ONES})


def test_first_value_and_groups(serve):
    factor = Tensor(name="factor", dtype=np.int32, shape=(1,))
    calls = []

    @batch
    @group_by_values("factor")
    @first_value("factor")
    def function(x, factor):
        calls.append((int(factor), len(x)))
        return {"y": x * factor}

    model = serve(function, inputs=[FLOATS, factor])
    rows = np.arange(3, dtype=np.float32).reshape(3, 1)
    result = model.infer({"x": rows, "factor": np.array([[2], [3], [2]], np.int32)})
    assert result["y"].ravel().tolist() == [0, 3, 4]
    assert calls == [(2, 2), (3, 1)]
    strict = serve(
        batch(first_value("factor")(lambda x, factor: {"y": x})), inputs=[FLOATS, factor]
    )
    with pytest.raises(nereid.InternalError, match="values on the 'factor' input are not equal"):
        strict.infer({"x": rows[:2], "factor": np.array([[2], [3]], np.int32)})
    wrong = serve(group_by_values("x")(echo))
    with pytest.raises(nereid.InternalError, match="must be used after the @batch decorator"):
        wrong.infer({"x": ONES})


def test_constant_padder(serve):
    groups = [{"y": np.ones((1, 2))}, {"y": np.ones((1, 3))}]
    padded = ConstantPadder(7)(groups)
    assert padded[0]["y"].tolist() == [[1, 1, 7]] and padded[1]["y"].shape == (1, 3)


def test_pad_batch_and_context(serve):
    sizes = []

    @batch
    @pad_batch
    @triton_context
    def function(x, triton_context):
        sizes.append(len(x))
        (model,) = triton_context.model_configs.values()
        assert model.max_batch_size == 8
        return {"y": x}

    model = serve(function, max_batch_size=8, batcher=DynamicBatcher(preferred_batch_size=[4]))
    assert model.infer({"x": ONES})["y"].shape == (2, 3)
    assert model.infer({"x": np.ones((5, 1), np.float32)})["y"].shape == (5, 1)
    assert sizes == [4, 8]


def test_unbound_decorators():
    with pytest.raises(PyTritonError, match="must bound with triton"):
        sample(lambda x: {"y": x})([{"x": ONES}])


@pytest.mark.parametrize(
    ("result", "message"),
    [
        (None, "must be list of response dicts with numpy arrays. Got outputs=None"),
        ([], r"Number of outputs returned by `.*` inference callable \(0\) does not match"),
        ([[]], r"must be list of response dicts with numpy arrays. Got response=\[\]"),
        ([{"y": 1}], "Not all values returned by `.*` model callable are numpy arrays"),
        ([{1: ONES}], "Not all keys returned by"),
        ([{"y": np.zeros(1, complex)}], "Only bool, numeric, string, unicode and object arrays"),
        ([{"y": np.array(["a"], object)}], "Use string/byte-string instead of object"),
        ([{"y": np.array([{}], object)}], "Only bytes as objects dtype are supported"),
    ],
)
def test_wrong_results(serve, result, message):
    with pytest.raises(nereid.InternalError, match=f"Model execute error: (?s:.*){message}"):
        serve(lambda requests: result).infer({"x": ONES})


@pytest.mark.parametrize(
    ("result", "message"),
    [
        ({"q": ONES}, "Returned output `q` is not defined in model config"),
        ({"y": ONES.astype(int)}, "has invalid type"),
        ({"y": ONES[0]}, "has invalid shapes"),
        ({"y": np.ones((2, 4), np.float32)}, "invalid shapes at one or more positions"),
    ],
)
def test_strict(serve, result, message):
    outputs = [Tensor(name="y", dtype=np.float32, shape=(3,))]
    model = serve(lambda requests: [result], outputs=outputs, strict=True)
    with pytest.raises(nereid.InternalError, match=message):
        model.infer({"x": ONES})


def test_wrong_batches(serve):
    with pytest.raises(nereid.InternalError, match="Received output tensors with different batch"):
        serve(batch(lambda x: {"y": x[:1]})).infer({"x": ONES})
    with pytest.raises(nereid.InternalError, match="Outputs length different than config outputs"):
        serve(batch(lambda x: [x, x])).infer({"x": ONES})
    with pytest.raises(nereid.InternalError, match="Unsupported output type"):
        serve(batch(lambda x: x)).infer({"x": ONES})


def test_errors_in_the_middle_of_a_stream(serve):
    def function(requests):
        yield [{"y": request["x"]} for request in requests]
        raise ValueError("half-way")

    stream = serve(function, decoupled=True).stream({"x": ONES})
    assert next(stream)["y"].shape == (2, 3)
    with pytest.raises(nereid.InternalError, match="half-way"):
        next(stream)


def test_wrong_names_and_settings(plain):
    def bind(name="m", config=None, outputs=(RESULT,)):
        plain.bind(name, echo, [FLOATS], list(outputs), config=config)

    with pytest.raises(PyTritonValidationError, match="Model name cannot be empty"):
        bind("")
    for name in ("a/b", "..", "a b"):
        with pytest.raises(PyTritonValidationError, match="can only contain alphanumeric"):
            bind(name)
    with pytest.raises(PyTritonValidationError, match="Output tensors cannot be optional."):
        bind(outputs=[Tensor(name="y", dtype=np.float32, shape=(1,), optional=True)])
    for config, message in (
        (ModelConfig(max_batch_size=0), "`max_batch_size` must be greater or equal to 1."),
        (
            ModelConfig(batcher=DynamicBatcher(priority_levels=2, default_priority_level=3)),
            "`default_priority_level` must be between 1 and 2.",
        ),
        (
            ModelConfig(batcher=DynamicBatcher(priority_queue_policy={1: QueuePolicy()})),
            "Provide the `priority_levels` if you want to define",
        ),
        (
            ModelConfig(
                batcher=DynamicBatcher(
                    priority_levels=2,
                    default_priority_level=1,
                    priority_queue_policy={3: QueuePolicy()},
                )
            ),
            "Invalid `priority`=3 provided.",
        ),
    ):
        with pytest.raises(PyTritonBadParameterError, match=message):
            bind(config=config)
    bind("twice")
    with pytest.raises(PyTritonInvalidOperationError, match="same name twice"):
        bind("Twice")


def test_every_field_reaches_the_configuration(plain):
    warmups = []

    def function(requests):
        warmups.append(len(requests))
        return echo(requests)

    config = ModelConfig(
        max_batch_size=16,
        batcher=DynamicBatcher(
            max_queue_delay_microseconds=7,
            preferred_batch_size=[4, 8],
            priority_levels=2,
            default_priority_level=1,
            default_queue_policy=QueuePolicy(max_queue_size=9, allow_timeout_override=True),
            priority_queue_policy={2: QueuePolicy(default_timeout_microseconds=5)},
        ),
        model_warmup=[ModelWarmup("w", 2, {"x": WarmupInput(np.float32, (3,), True)}, 3)],
    )
    model = plain.bind("fields", function, [FLOATS], [RESULT], config=config)
    assert warmups == [3]
    batching = model.config()["dynamic_batching"]
    assert model.config()["max_batch_size"] == 16
    assert batching["preferred_batch_size"] == [4, 8]
    assert batching["priority_levels"] == 2 and batching["max_queue_delay_microseconds"] == 7
    assert batching["default_queue_policy"]["max_queue_size"] == 9
    assert batching["priority_queue_policy"]["2"]["default_timeout_microseconds"] in (5, "5")


def test_versions(plain):
    for version in (1, 2):
        plain.bind(
            "versions",
            lambda requests, v=version: [{"y": request["x"] * v} for request in requests],
            [FLOATS],
            [RESULT],
            version=version,
        )
    assert plain.model("versions", 1).infer({"x": ONES})["y"][0, 0] == 1
    assert plain.model("versions", 2).infer({"x": ONES})["y"][0, 0] == 2


def test_bound_before_the_start_and_after_a_restart():
    server = nereid.Server()
    model = server.bind("early", echo, [FLOATS], [RESULT])
    for _ in range(2):
        with server:
            assert model.infer({"x": ONES})["y"].tolist() == ONES.tolist()


def test_a_bound_function_may_call_the_server(serve, plain):
    inner = serve(echo)
    outer = serve(batch(lambda x: {"y": inner.infer({"x": x})["y"] + 1}))
    assert outer.infer({"x": ONES})["y"][0, 0] == 2
