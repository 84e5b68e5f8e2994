# SPDX-License-Identifier: Apache-2.0
"""Nereid's backends, compiled against Nereid's headers, load and serve in the real Triton.

The libraries are the files of the build folder. Only the name of libtritonserver.so in them is
changed, because the wheel renamed that library.
"""

import queue
import subprocess

import models
import numpy as np
import pytest
import raw_http
import tritonclient.grpc as grpc_client
import tritonclient.http as http_client
from tritonclient.utils import np_to_triton_dtype


def write(root):
    repository = models.Repository(root)
    for datatype in ("FP32", "INT64", "BYTES", "BF16"):
        repository.identity(models.type_model(datatype, True), [(datatype, [-1])], batch=8)
    repository.identity("batched", [("INT32", [4])], batch=4, extra=models.ONE_CPU_INSTANCE
                        + "dynamic_batching { preferred_batch_size: [ 4 ] "
                          "max_queue_delay_microseconds: 5000000 }\n")
    repository.identity("several", [("INT32", [-1]), ("BYTES", [-1])])
    repository.onnx("sum", models.sum_graph())
    repository.onnx("document", models.document_graph(), models.DOCUMENT_CONFIG)


@pytest.fixture(scope="module")
def triton(start_triton):
    return start_triton("backends", write)


@pytest.fixture(scope="module", params=["http", "grpc"])
def client(request, triton):
    module, url = ((http_client, triton.http) if request.param == "http"
                   else (grpc_client, triton.grpc))
    made = module.InferenceServerClient(url)
    made.module = module
    yield made
    made.close()


def ask(client, model, **arrays):
    inputs = []
    for name, array in arrays.items():
        datatype = np_to_triton_dtype(array.dtype)
        tensor = client.module.InferInput(name, list(array.shape), datatype)
        tensor.set_data_from_numpy(array)
        inputs.append(tensor)
    return client.infer(model, inputs)


def test_it_is_triton(triton):
    metadata = raw_http.get(triton, "/v2").json
    assert (metadata["name"], metadata["version"]) == ("triton", "2.51.0")


@pytest.mark.parametrize("name", ["identity", "onnxruntime"])
def test_only_the_needed_name_differs(peer, name, request):
    """The plug-in in the peer has the same exports and, except for one name, the same needed
    libraries."""
    built = request.config.option.build / "backends" / name / f"libtriton_{name}.so"
    copied = peer / "backends" / name / f"libtriton_{name}.so"

    def needed(path):
        text = subprocess.run(["patchelf", "--print-needed", str(path)], check=True,
                              capture_output=True, text=True).stdout
        return [line for line in text.split() if not line.startswith("libtritonserver")]

    assert needed(built) == needed(copied)


@pytest.mark.parametrize("model,backend", [("identity_fp32_batch", "identity"),
                                           ("sum", "onnxruntime")])
def test_our_library_is_loaded(triton, peer, model, backend):
    assert raw_http.get(triton, f"/v2/models/{model}/config").json["backend"] == backend
    pid = triton.process.pid
    with open(f"/proc/{pid}/maps") as maps:
        assert f"{peer}/backends/{backend}/libtriton_{backend}.so" in maps.read()


@pytest.mark.parametrize("datatype,values", [
    ("FP32", np.array([[1.5, -2.0, 3e10]], np.float32)),
    ("INT64", np.array([[2**63 - 1, -(2**63)], [0, 1]], np.int64)),
    ("BYTES", np.array([[b"", b"text", b"\x00\xff"]], np.object_)),
])
def test_identity_answers(client, datatype, values):
    result = ask(client, models.type_model(datatype, True), INPUT0=values)
    assert result.as_numpy("OUTPUT0").tolist() == values.tolist()


def test_identity_takes_several_tensors(client):
    result = ask(client, "several", INPUT0=np.arange(3, dtype=np.int32),
                 INPUT1=np.array([b"x", b"yz"], np.object_))
    assert result.as_numpy("OUTPUT0").tolist() == [0, 1, 2]
    assert result.as_numpy("OUTPUT1").tolist() == [b"x", b"yz"]


@pytest.mark.parametrize("batch", [1, 4])
def test_onnxruntime_answers_and_completes_the_configuration(client, batch):
    first = np.arange(batch * 4, dtype=np.float32).reshape(batch, 4)
    result = ask(client, "sum", A=first, B=np.ones((batch, 4), np.float32))
    assert (result.as_numpy("SUM") == first + 1).all()


def test_onnxruntime_answers_with_other_types_and_shapes(client):
    result = ask(client, "document", input0=np.array([[1, 2], [30, 400]], np.uint32),
                 input1=np.array([True, False, True]))
    assert result.as_numpy("output0").tolist() == [[1, 2], [30, 400], [1, 0]]


def test_triton_batches_into_our_backend(triton):
    client = grpc_client.InferenceServerClient(triton.grpc)
    answers = queue.Queue()
    for i in range(4):
        tensor = grpc_client.InferInput("INPUT0", [1, 4], "INT32")
        tensor.set_data_from_numpy(np.full((1, 4), i, np.int32))
        client.async_infer("batched", [tensor], lambda result, error: answers.put((result, error)))
    results = [answers.get(timeout=60) for _ in range(4)]
    client.close()
    assert [error for _, error in results] == [None] * 4
    assert sorted(int(r.as_numpy("OUTPUT0")[0][0]) for r, _ in results) == [0, 1, 2, 3]
    stats = raw_http.get(triton, "/v2/models/batched/stats").json["model_stats"][0]
    assert (stats["inference_count"], stats["execution_count"]) == (4, 1)
    assert [b["batch_size"] for b in stats["batch_stats"]] == [4]


def test_what_the_backend_reports_is_counted(triton):
    stats = raw_http.get(triton, "/v2/models/identity_fp32_batch/stats").json["model_stats"][0]
    durations = stats["inference_stats"]
    assert durations["success"]["count"] == stats["inference_count"] > 0
    assert durations["compute_infer"]["count"] == stats["execution_count"] > 0
    assert durations["fail"]["count"] == 0
