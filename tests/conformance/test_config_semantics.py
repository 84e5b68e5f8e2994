# SPDX-License-Identifier: Apache-2.0
"""The effects of a model's configuration on its backend: reshapes, ragged batches, optional inputs,
optimization settings, completion. All cases use the ONNX Runtime backend."""

import queue

import config_models
import numpy as np
import pytest
import raw_http
from clients import Transport
from test_statistics import batches, counted, counts, difference, wait_for_counts

MLP_INPUT = np.linspace(-1, 1, 128, dtype=np.float32).reshape(2, 64)


@pytest.fixture(scope="module")
def serving(start_server, test_plugins):
    operators = test_plugins / "libtriple_operator.so"
    return start_server("config_semantics",
                        lambda root: config_models.write_serving(root, operators),
                        "--backend-config=onnxruntime,default-max-batch-size=6")


@pytest.fixture(scope="module", params=["http", "grpc"])
def client(request, serving, loop):
    made = Transport(request.param, serving, loop)
    yield made
    made.close()


@pytest.fixture(params=["direct", "dynamic"])
def scheduler(request):
    return request.param


def ask(client, model, outputs=None, **arrays):
    return client.infer(model, [client.input(n, a) for n, a in arrays.items()], outputs)


def at_once(client, model, requests):
    """Sends all requests before it waits for the first answer. Returns each answer as {output:
    array}, or the exception."""
    waiting = []
    for arrays in requests:
        inputs = [client.input(n, a) for n, a in arrays.items()]
        if client.protocol == "http":
            waiting.append(client.client.async_infer(model, inputs).get_result)
        else:
            waiting.append(_grpc_async(client.client, model, inputs))
    answers = []
    for wait in waiting:
        try:
            answers.append(wait())
        except Exception as error:  # the case checks it
            answers.append(error)
    return answers


def _grpc_async(client, model, inputs):
    answers = queue.Queue()
    client.async_infer(model, inputs, lambda result, error: answers.put((result, error)))

    def wait():
        result, error = answers.get(timeout=60)
        if error is not None:
            raise error
        return result

    return wait


class Executions:
    """The statistics of a model's executions within a `with` block."""

    def __init__(self, client, model, requests):
        self.client, self.model, self.requests = client, model, requests

    def __enter__(self):
        self.before = counted(self.client, self.model)
        return self

    def __exit__(self, *failure):
        if failure[0] is None:
            after = wait_for_counts(self.client, self.model,
                                    counts(self.before)["success"] + self.requests)
            self.sizes = difference(batches(self.before), batches(after))


# Reshape


def test_reshape_of_inputs_and_outputs(client, scheduler):
    x = np.arange(36, dtype=np.float32).reshape(3, 12)
    answer = ask(client, f"folded_{scheduler}", x=x)
    assert answer.output("y")["shape"] == [3, 2, 6]
    assert answer.array("y").ravel().tolist() == x.ravel().tolist()
    assert answer.array("seen").tolist() == [[3, 4]] * 3


def test_reshape_of_variable_dimensions(client, scheduler):
    x = np.arange(60, dtype=np.float32).reshape(3, 2, 2, 5)
    answer = ask(client, f"folded_variable_{scheduler}", x=x)
    assert answer.output("y")["shape"] == [3, 2, 2, 5]
    assert (answer.array("y") == x).all()
    assert answer.array("seen").tolist() == [[4, 5]] * 3


def test_reshape_to_nothing(client, scheduler):
    x = np.array([[1.5], [2.5], [-3]], np.float32)
    answer = ask(client, f"numbers_{scheduler}", x=x)
    assert answer.output("y")["shape"] == [3, 1]
    assert answer.array("y").tolist() == [[3], [5], [-6]]


def test_reshape_without_batching(client):
    answer = ask(client, "folded_fixed", x=np.arange(6, dtype=np.float32))
    assert answer.output("y")["shape"] == [3, 2]
    assert answer.array("y").tolist() == [[0, 1], [2, 3], [4, 5]]


def test_reshaped_requests_share_a_batch(client):
    with Executions(client, "folded_dynamic", 3) as seen:
        answers = at_once(client, "folded_dynamic", [
            {"x": np.full((1, 12), i, np.float32)} for i in range(3)])
    assert [a.as_numpy("y").tolist() for a in answers] == [[[[i] * 6] * 2] for i in range(3)]
    assert seen.sizes == {3: 1}


def test_a_shape_is_checked_before_its_reshape(client, scheduler):
    client.expect("INVALID_ARG", "unexpected shape for input 'x'", ask, client,
                  f"folded_{scheduler}", x=np.zeros((1, 3, 4), np.float32))


def test_rank_0_without_batching(client):
    answer = ask(client, "rank_0", x=np.array([21], np.int64))
    assert answer.output("y")["shape"] == [1]
    assert answer.array("y").tolist() == [42]


# Ragged batches


def test_ragged_requests_share_a_batch(client):
    model = "ragged_int32_dynamic"
    with Executions(client, model, 3) as seen:
        answers = at_once(client, model, [
            {"values": np.arange(1, n + 1, dtype=np.float32).reshape(1, n)} for n in (3, 4, 5)])
    assert seen.sizes == {3: 1}
    for n, answer in zip((3, 4, 5), answers):
        assert answer.as_numpy("doubled").tolist() == [[2 * i for i in range(1, n + 1)]]
        assert answer.as_numpy("out_count").tolist() == [[n]]
        assert answer.as_numpy("out_shape").tolist() == [[n]]
        assert answer.as_numpy("out_flat").tolist() == [[n]]
        assert answer.as_numpy("out_widest").tolist() == [[5]]
        end, begin = answer.as_numpy("out_end")[0][0], answer.as_numpy("out_begin")[0][0]
        assert end - begin == n
    # The rows are concatenated, in the order of arrival.
    begins = sorted(a.as_numpy("out_begin")[0][0] for a in answers)
    ends = sorted(a.as_numpy("out_end")[0][0] for a in answers)
    assert begins == [0] + ends[:2] and ends[2] == 12


@pytest.mark.parametrize("datatype", ["int32", "fp32"])
def test_one_ragged_request(client, datatype):
    answer = ask(client, f"ragged_{datatype}_direct", values=np.array([[7, 8]], np.float32))
    assert answer.output("out_end")["datatype"] == datatype.upper()
    assert answer.array("doubled").tolist() == [[14, 16]]
    for name, value in {"out_count": 2, "out_end": 2, "out_begin": 0, "out_shape": 2,
                        "out_flat": 2, "out_widest": 2}.items():
        assert answer.array(name).tolist() == [[value]], name


def test_ragged_requests_one_by_one(client):
    with Executions(client, "ragged_int32_direct", 3) as seen:
        answers = at_once(client, "ragged_int32_direct", [
            {"values": np.ones((1, n), np.float32)} for n in (1, 2, 6)])
    assert [a.as_numpy("out_widest").tolist() for a in answers] == [[[1]], [[2]], [[6]]]
    assert seen.sizes == {1: 3}


def test_ragged_requests_share_a_batch_of_any_backend(client):
    with Executions(client, "ragged_identity", 3) as seen:
        answers = at_once(client, "ragged_identity", [
            {"values": np.arange(n, dtype=np.int32).reshape(1, n)} for n in (2, 0, 3)])
    assert [a.as_numpy("copied").tolist() for a in answers] == [[[0, 1]], [[]], [[0, 1, 2]]]
    assert seen.sizes == {3: 1}


def test_ragged_texts(client):
    with Executions(client, "ragged_texts_dynamic", 2) as seen:
        answers = at_once(client, "ragged_texts_dynamic", [
            {"texts": np.array([[b"one"]], np.object_)},
            {"texts": np.array([[b"", b"two"], [b"three", b"4"]], np.object_)}])
    assert seen.sizes == {3: 1}
    assert answers[0].as_numpy("y").tolist() == [[b"one"]]
    assert answers[1].as_numpy("y").tolist() == [[b"", b"two"], [b"three", b"4"]]


def test_a_batch_output_that_does_not_add_up(client):
    """The model drops zeros, so that the second request gets too few elements."""
    answers = at_once(client, "ragged_short_dynamic", [
        {"values": np.array([[1, 2]], np.float32)}, {"values": np.array([[3, 0, 4]], np.float32)},
        {"values": np.array([[5]], np.float32)}])
    assert answers[0].as_numpy("y").tolist() == [[1, 2]]
    assert "output 'y' has 2 elements, but the 1 requests of the batch need 3" in str(answers[1])
    assert answers[2].as_numpy("y").tolist() == [[5]]


# Optional inputs


def test_an_optional_input(client, scheduler):
    x = np.zeros((3, 4), np.float32)
    assert ask(client, f"defaulted_{scheduler}", x=x).array("y").tolist() == [[1, 2, 3, 4]] * 3
    given = ask(client, f"defaulted_{scheduler}", x=x, bias=np.full((3, 4), 9, np.float32))
    assert given.array("y").tolist() == [[9] * 4] * 3


def test_requests_with_and_without_do_not_share_a_batch(client):
    if client.protocol == "http":
        pytest.skip("its requests go over several connections, in any order")
    x, bias = np.zeros((1, 4), np.float32), np.full((1, 4), 9, np.float32)
    with Executions(client, "defaulted_dynamic", 6) as seen:
        answers = at_once(client, "defaulted_dynamic",
                          [{"x": x}] * 2 + [{"x": x, "bias": bias}] * 3 + [{"x": x.repeat(3, 0)}])
    assert [a.as_numpy("y").tolist() for a in answers] == (
        [[[1, 2, 3, 4]]] * 2 + [[[9] * 4]] * 3 + [[[1, 2, 3, 4]] * 3])
    assert seen.sizes == {2: 1, 3: 2}


def test_an_optional_input_without_a_default(client, scheduler):
    x = np.ones((3, 4), np.float32)
    assert ask(client, f"undefaulted_{scheduler}", x=x, state=x).array("y").tolist() == [[2] * 4] * 3
    client.expect("INVALID_ARG", "the request lacks the input 'state', for which model "
                  f"'undefaulted_{scheduler}' has no default", ask, client,
                  f"undefaulted_{scheduler}", x=x)


# A failing request in a batch


def test_a_bad_request_fails_alone(client):
    answers = at_once(client, "table_dynamic", [
        {"index": np.array([[i]], np.int64)} for i in (2, 9, 3)])
    assert answers[0].as_numpy("y").tolist() == [[[20, 21]]]
    assert "onnx runtime error" in str(answers[1])
    assert answers[2].as_numpy("y").tolist() == [[[30, 31]]]


# Optimization and parameters


@pytest.mark.parametrize("model", ["level_-1", "level_1", "level_2", "tuned", "for_gpus"])
def test_settings_that_must_not_change_the_answer(client, model):
    expected = ask(client, "level_0", x=MLP_INPUT).array("y")
    assert np.allclose(ask(client, model, x=MLP_INPUT).array("y"), expected, atol=1e-5)


def test_operators_of_the_models_own(client):
    x = np.array([[1, 2], [-3, 0]], np.float32)
    assert ask(client, "operators", x=x).array("y").tolist() == [[3, 6], [-9, 0]]


def test_what_is_for_gpus_is_named_in_one_line(serving):
    line = ("model 'for_gpus' runs on the CPU and ignores these settings for GPUs: optimization.priority, "
            "optimization.cuda, cc_model_filenames, the Execution Accelerator 'tensorrt'")
    assert serving.log.read_text(errors="replace").count(line) == 1


# Completion


def config(serving, model):
    return raw_http.get(serving, f"/v2/models/{model}/config").json


def tensors(entries):
    return [(e["name"], e["data_type"], e["dims"], e.get("reshape")) for e in entries]


def test_everything_is_completed(serving):
    made = config(serving, "all_completed")
    assert made["max_batch_size"] == 6
    assert made["dynamic_batching"]["preferred_batch_size"] == [6]
    assert tensors(made["input"]) == [("x", "TYPE_FP32", [64], None)]
    assert tensors(made["output"]) == [("y", "TYPE_FP32", [10], None)]


def test_a_model_that_does_not_batch(serving):
    made = config(serving, "fixed_completed")
    assert made["max_batch_size"] == 0
    assert "dynamic_batching" not in made
    assert tensors(made["input"]) == [("x", "TYPE_FP32", [2, 3], None)]


def test_empty_dimensions_become_one(serving, client):
    made = config(serving, "numbers_completed")
    assert tensors(made["input"]) == [("x", "TYPE_FP32", [1], {"shape": []})]
    assert tensors(made["output"]) == [("y", "TYPE_FP32", [1], {"shape": []})]
    answer = ask(client, "numbers_completed", x=np.array([[4]], np.float32))
    assert answer.array("y").tolist() == [[8]]


def test_what_is_given_stays(serving, client):
    made = config(serving, "output_given")
    assert made["max_batch_size"] == 16
    assert tensors(made["input"]) == [("x", "TYPE_FP32", [64], None)]
    assert tensors(made["output"]) == [("y", "TYPE_FP32", [5, 2], {"shape": [10]})]
    assert ask(client, "output_given", x=MLP_INPUT).output("y")["shape"] == [2, 5, 2]


def test_completion_is_skipped_where_both_lists_are_given(serving):
    made = config(serving, "both_given")
    assert made["max_batch_size"] == 0
    assert "dynamic_batching" not in made


def test_a_batch_size_of_one_gets_no_batcher(serving):
    made = config(serving, "one_batch")
    assert made["max_batch_size"] == 1
    assert "dynamic_batching" not in made


# Models that do not load


@pytest.fixture(scope="module")
def reasons(start_server):
    server = start_server("config_refused", config_models.write_refused, "--exit-on-error=false",
                          wait_path="/v2/models/good/ready")
    answer = raw_http.request(server, "POST", "/v2/repository/index", "{}")
    return {entry["name"]: entry.get("reason", "") for entry in answer.json}


@pytest.mark.parametrize("model", list(config_models.REFUSED))
def test_refused_models(reasons, model):
    assert config_models.REFUSED[model][2] in reasons[model]


def test_the_others_serve(reasons):
    assert reasons["good"] == ""
