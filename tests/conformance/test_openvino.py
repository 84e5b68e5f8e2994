# SPDX-License-Identifier: Apache-2.0
"""OpenVINO models: results equal to OpenVINO's own, and the effects of a configuration."""

import itertools
import threading
from pathlib import Path

import numpy as np
import openvino_models as models
import pytest
from openvino_models import ANSWERS, PARAMETERS, TYPES, array
from server_process import sanitized

IDS = itertools.count(5000)


@pytest.fixture(scope="module")
def serving(start_server, require_backends):
    require_backends("openvino")
    return start_server("openvino", models.write_serving)


@pytest.fixture(params=["http", "grpc"])
def client(request, serving, connect):
    return connect(request.param, serving)


@pytest.fixture
def http(serving, connect):
    return connect("http", serving)


def same(got, want, what):
    assert got.shape == tuple(want.shape), what
    if want.dtype.kind in "fV":  # ml_dtypes has the kind V
        np.testing.assert_allclose(got.astype("f8"), want.astype("f8"), 1e-5, 1e-6, err_msg=what)
    else:
        np.testing.assert_array_equal(got, want, err_msg=what)


def ask(client, model, inputs, outputs=None, **more):
    """`inputs`: name -> (datatype, values)."""
    return client.infer(model, [client.input(n, v, datatype=d) for n, (d, v) in inputs.items()],
                        outputs, **more)


def check(client, model, run, rank0=()):
    """Checks one run of answers.json. A model without batching calls a tensor of rank 0 [1]."""
    def values(tensor):
        return array(tensor).reshape(1) if tensor["shape"] == [] else array(tensor)

    answer = ask(client, model, {n: (t["datatype"], values(t)) for n, t in run["inputs"].items()})
    for name, tensor in run["outputs"].items():
        assert answer.output(name)["datatype"] == tensor["datatype"]
        same(answer.array(name), values(tensor), name)


@pytest.mark.parametrize("datatype", TYPES)
@pytest.mark.parametrize("kind", ["type", "flat"])
def test_datatypes(client, kind, datatype):
    check(client, f"{kind}_{datatype}", ANSWERS[f"type_{datatype}"][0])


@pytest.mark.parametrize("model", ["mlp", "scalar", "places", "onnx_mlp"])
def test_answers_are_openvinos_own(client, model):
    for run in ANSWERS[model]:
        check(client, model, run)


@pytest.mark.parametrize("model", ["mlp_dynamic", "mlp_warm", "renamed"])
def test_the_same_network(client, model):
    run = ANSWERS["mlp"][0]
    for count in (1, 3):
        check(client, model, {kind: {n: {**t, "shape": [count] + t["shape"][1:],
                                         "data": t["data"][:count * t["shape"][1]]}
                                     for n, t in run[kind].items()} for kind in run})


def test_one_output_of_several(client):
    run = ANSWERS["mlp"][0]
    answer = ask(client, "mlp", {"x": ("FP32", array(run["inputs"]["x"]))}, ["best"])
    assert answer.names == ["best"]


def rows(name="mlp", tensor="x", kind="inputs"):
    return array(ANSWERS[name][0][kind][tensor])


def test_requests_that_are_batched_get_what_they_get_alone(serving, connect, http):
    before = http.json("get_inference_statistics", "mlp_dynamic")["model_stats"][0]
    results = {}

    def send(i):
        client = connect(("grpc_aio", "grpc", "http_aio")[i], serving)
        results[i] = ask(client, "mlp_dynamic", {"x": ("FP32", rows()[i:i + 1])})

    threads = [threading.Thread(target=send, args=(i,)) for i in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for i in range(3):
        same(results[i].array("y"), rows(tensor="y", kind="outputs")[i:i + 1], str(i))
        same(results[i].array("best"), rows(tensor="best", kind="outputs")[i:i + 1], str(i))
    after = http.json("get_inference_statistics", "mlp_dynamic")["model_stats"][0]
    assert after["execution_count"] - before["execution_count"] == 1


def test_reshape(client):
    answer = ask(client, "folded", {"x": ("FP32", rows().reshape(3, 2, 2))})
    same(answer.array("y"), rows(tensor="y", kind="outputs").reshape(3, 3, 1), "y")
    answer = ask(client, "fixed", {"x": ("FP32", np.arange(1, 7, dtype="f4"))})
    same(answer.array("y"), array(ANSWERS["fixed"][0]["outputs"]["y"]), "y")


def test_a_model_of_one_row_serves_batches(client):
    answer = ask(client, "one_row", {"x": ("FP32", rows())})
    same(answer.array("y"), rows(tensor="y", kind="outputs"), "y")


def test_a_fixed_batch(client):
    four = np.concatenate([rows(), rows()[:1]])
    y = rows(tensor="y", kind="outputs")
    want = np.concatenate([y, y[:1]])
    for model in ("one_row_fixed", "one_row_padded"):
        same(ask(client, model, {"x": ("FP32", four)}).array("y"), want, model)
    for count in (1, 2, 3):
        answer = ask(client, "one_row_padded", {"x": ("FP32", rows()[:count])})
        same(answer.array("y"), want[:count], "padded")
    client.expect("INVALID_ARG", "takes batches of 4 rows (SKIP_OV_DYNAMIC_BATCHSIZE), this one "
                  "has 3", ask, client, "one_row_fixed", {"x": ("FP32", rows())})
    texts = array(ANSWERS["type_bytes"][0]["inputs"]["x"])
    same(ask(client, "texts_padded", {"x": ("BYTES", texts)}).array("y"),
         array(ANSWERS["type_bytes"][0]["outputs"]["y"]), "texts")


def test_other_shapes_than_the_files(client):
    x = np.arange(15, dtype="f4").reshape(3, 5)
    same(ask(client, "reshaped", {"x": ("FP32", x)}).array("y"), 2 * x, "y")


COMPLETED = {
    "mlp": (4, {"x": ("FP32", [4])}, {"y": ("FP32", [3]), "best": ("INT32", [1])}),
    "onnx_mlp": (4, {"x": ("FP32", [64])}, {"y": ("FP32", [10])}),
    "two_inputs": (4, {"a": ("FP32", [2]), "b": ("INT32", [2])}, {"y": ("FP32", [2])}),
    "unnamed": (4, {"input_0": ("FP32", [2])}, {"output_0": ("FP32", [2])}),
    "fixed": (0, {"x": ("FP32", [2, 3])}, {"y": ("FP32", [2, 3])}),
    "only_one_row": (0, {"x": ("FP32", [1, 4])}, {"y": ("FP32", [1, 2, 2])}),
    "scalar": (0, {"x": ("FP32", [1])}, {"y": ("FP32", [1])}),
    # The file has one row, and its layout declares this dimension as the batch.
    "one_row": (4, {"x": ("FP32", [4])}, {"y": ("FP32", [3])}),
    "places": (0, {"x": ("FP32", [-1, -1])},
               {"places": ("INT64", [2, -1]), "sums": ("FP32", [-1])}),
}


@pytest.mark.parametrize("model", COMPLETED)
def test_completion(http, model):
    batch, inputs, outputs = COMPLETED[model]
    config = http.json("get_model_config", model + "_completed")
    assert config["backend"] == "openvino"
    assert config["max_batch_size"] == batch
    assert ("dynamic_batching" in config) == (batch > 1)
    for key, tensors in (("input", inputs), ("output", outputs)):
        assert {t["name"]: (t["data_type"].removeprefix("TYPE_"), t["dims"])
                for t in config[key]} == tensors


def test_completed_models_answer(client):
    for model in ("two_inputs", "fixed", "scalar", "places", "only_one_row", "one_row"):
        for run in ANSWERS[model]:
            check(client, model + "_completed", run)


@pytest.mark.parametrize("model", [f"with_{key.lower()}" for key in PARAMETERS] + ["with_all"])
def test_parameters(client, model):
    answer = ask(client, model, {"x": ("FP32", rows())})
    # Some of them allow BF16.
    np.testing.assert_allclose(answer.array("y"), rows(tensor="y", kind="outputs"), 0.05, 0.02)


def test_parameters_without_effect_are_named(serving):
    assert ("model 'with_compilation_num_threads': OpenVINO's CPU device has no use for "
            "COMPILATION_NUM_THREADS") in serving.log.read_text()


def play(client, model, datatype, values, output, sequence):
    answers = []
    for i, row in enumerate(values):
        answer = ask(client, model, {"x": (datatype, row)}, sequence_id=sequence,
                     sequence_start=i == 0, sequence_end=i == len(values) - 1)
        answers.append(answer.array(output).tolist()[0])
    return answers


def test_controls(client):
    number = next(IDS)
    values = [np.array([[i]], np.int32) for i in (1, 2, 3)]
    assert play(client, "controls", "INT32", values, "y", number) == [[10101], [10002], [11003]]
    assert play(client, "controls", "INT32", values, "id", number) == [[number]] * 3


def test_states_as_inputs_and_outputs(client):
    values = [np.array([[1, 2]], np.int32)] * 3
    for _ in range(2):
        assert play(client, "carries", "INT32", values, "total", next(IDS)) == [
            [101, 102], [102, 104], [103, 106]]


def test_variables_are_states_of_the_sequence(client):
    runs = ANSWERS["remembers"]
    values = [array(run["inputs"]["x"]) for run in runs]
    want = [array(run["outputs"]["total"]).tolist()[0] for run in runs]
    for _ in range(2):
        assert play(client, "remembers", "FP32", values, "total", next(IDS)) == want


def test_variables_of_two_sequences_stay_apart(client):
    first, second = next(IDS), next(IDS)
    x = np.array([[1, 2]], np.float32)
    for step in range(1, 4):
        for number, factor in ((first, 1), (second, 10)):
            answer = ask(client, "remembers", {"x": ("FP32", factor * x)}, sequence_id=number,
                         sequence_start=step == 1, sequence_end=step == 3)
            assert answer.array("total").tolist() == [[step * factor, 2 * step * factor]]


def test_variables_that_nobody_keeps_begin_anew(client):
    x = np.array([[1, 2]], np.float32)
    for _ in range(3):
        same(ask(client, "remembers_direct", {"x": ("FP32", x)}).array("total"), x, "total")


def test_empty_tensors(client):
    answer = ask(client, "places", {"x": ("FP32", np.zeros((0, 3), "f4"))})
    assert answer.array("sums").shape == (0,)
    tensor = client.input("x", np.zeros((0, 3), "f4"), shape=[0, 2**40])
    status, _ = client.error(client.infer, "places", [tensor])
    assert status in (400, "INVALID_ARGUMENT")
    check(client, "places", ANSWERS["places"][0])


def test_wrong_inputs(client):
    client.expect("INVALID_ARG", "x", ask, client, "mlp", {"x": ("FP32", np.zeros((1, 5), "f4"))})
    client.expect("INVALID_ARG", "x", ask, client, "mlp", {"x": ("INT32", np.zeros((1, 4), "i4"))})
    client.expect("INVALID_ARG", "b", ask, client, "two_inputs_completed",
                  {"a": ("FP32", np.zeros((1, 2), "f4"))})


ACCELERATED = ('backend: "onnxruntime"\nmax_batch_size: 8\noptimization { execution_accelerators { '
               'cpu_execution_accelerator [ { name: "openvino" %s } ] } }\n')


def accelerated(root, name, parameters="", text=""):
    folder = models.copy(root, name, "onnx_mlp", "")
    (folder / "config.pbtxt").write_text(ACCELERATED % "".join(
        f'parameters {{ key: "{k}" value: "{v}" }} ' for k, v in parameters.items())
        + models.ONE_CPU + text)


@pytest.fixture(scope="module")
def accelerating(start_server, require_backends):
    require_backends("openvino", "onnxruntime")

    def write(root):
        accelerated(root, "by_openvino", {})
        accelerated(root, "with_parameters", {"num_of_threads": "1", "num_streams": "1",
                                              "precision": "FP32", "device_type": "CPU_FP32"})
        accelerated(root, "batched", {}, models.OF_THREE)
        accelerated(root, "unknown_parameter", {"threads": "1"})
        plain = models.copy(root, "by_onnxruntime", "onnx_mlp", "")
        (plain / "config.pbtxt").write_text('backend: "onnxruntime"\nmax_batch_size: 8\n')

    return start_server("accelerated", write, "--model-control-mode=explicit",
                        "--load-model=by_openvino", "--load-model=with_parameters",
                        "--load-model=batched", "--load-model=by_onnxruntime")


@pytest.mark.parametrize("protocol", ["http", "grpc"])
@pytest.mark.parametrize("model", ["by_openvino", "with_parameters", "by_onnxruntime"])
def test_an_accelerated_model_answers_the_same(accelerating, connect, protocol, model):
    check(connect(protocol, accelerating), model, ANSWERS["onnx_mlp"][0])


def test_openvino_runs_the_accelerated_models_alone(accelerating, connect):
    log = accelerating.log.read_text()
    for model in ("by_openvino", "with_parameters", "batched"):
        assert f"model '{model}' is run by OpenVINO 2026" in log
    assert "'by_onnxruntime' is run by OpenVINO" not in log
    client = connect("http", accelerating)
    assert client.json("get_model_config", "by_openvino")["backend"] == "onnxruntime"
    maps = Path(f"/proc/{accelerating.process.pid}/maps").read_text()
    assert "libopenvino_intel_cpu_plugin" in maps


def test_an_accelerated_model_batches(accelerating, connect):
    x, y = rows("onnx_mlp"), rows("onnx_mlp", "y", "outputs")
    results = {}

    def send(i):
        client = connect(("grpc_aio", "grpc", "http_aio")[i], accelerating)
        results[i] = ask(client, "batched", {"x": ("FP32", x[i % 2:i % 2 + 1])}).array("y")

    threads = [threading.Thread(target=send, args=(i,)) for i in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for i in range(3):
        same(results[i], y[i % 2:i % 2 + 1], str(i))
    statistics = connect("http", accelerating).json("get_inference_statistics", "batched")
    assert statistics["model_stats"][0]["execution_count"] == 1


def test_an_accelerated_model_is_loaded_again(accelerating, connect):
    client = connect("http", accelerating)
    for _ in range(3):
        client.call("unload_model", "by_openvino")
        client.call("load_model", "by_openvino")
        check(client, "by_openvino", ANSWERS["onnx_mlp"][0])


def test_parameters_that_the_accelerator_lacks(accelerating, connect):
    client = connect("http", accelerating)
    client.expect("INVALID_ARG", "the Execution Accelerator 'openvino' has no parameter 'threads'; "
                  "it has: device_type, num_of_threads", client.call, "load_model",
                  "unknown_parameter")


def anonymous_memory(server):
    """In KiB."""
    status = Path(f"/proc/{server.process.pid}/status").read_text()
    (line,) = [line for line in status.splitlines() if line.startswith("RssAnon")]
    return int(line.split()[1])


def test_reloads_give_memory_back(accelerating, connect):
    """After forty loads, OpenVINO has allocated all memory that it keeps."""
    if sanitized(accelerating):
        pytest.skip("a sanitizer keeps a record of all threads and libraries that there were")
    client = connect("http", accelerating)
    after = {}
    for i in range(1, 121):
        client.call("unload_model", "with_parameters")
        client.call("load_model", "with_parameters")
        check(client, "with_parameters", ANSWERS["onnx_mlp"][0])
        after[i] = anonymous_memory(accelerating)
    assert after[120] - after[40] < 4_000, after
