# SPDX-License-Identifier: Apache-2.0
"""TensorRT plans in a whole server: what clients see of the configuration, the tensors and the
errors. TensorRT is the fake of tests/tensorrt_stub, and the GPUs are those of the fake driver."""

import json
import os
import random
import struct
from pathlib import Path

import pytest
import raw_http

SIMPLE = """\
input x FP32 -1,4
output y FP32 -1,4
profile
range x 1,4 4,4 8,4
"""
SHAPES = """\
input x FP32 -1,-1
input shape INT32 3 shape
output y FP32 -1,-1
output shape_out INT32 3 shape
profile
range x 1,1 4,4 8,8
range shape 1,1,1 4,4,4 8,8,8
"""
CHANNELS = """\
input v INT8 -1,3,2,2 CHW4
output w INT8 -1,3,2,2 CHW4
profile
range v 1,3,2,2 1,3,2,2 8,3,2,2
"""
ONE_GPU = "instance_group { kind: KIND_GPU gpus: [ 0 ] }"


@pytest.fixture(scope="module")
def folders(backends, is_peer):
    if is_peer:
        pytest.skip("the peer has no fake TensorRT")
    fakes = [backends.parent / name for name in ("fake_gpu", "fake_tensorrt")]
    for folder in fakes:
        if not folder.is_dir():
            pytest.skip(f"{folder} is not built")
    return fakes


@pytest.fixture(scope="module")
def plan_server(start_server, folders):
    """Returns plan_server(name, plans, *flags, path=..., **environment): a server with one model
    for each entry of `plans`, {name: (plan, text of config.pbtxt)}."""
    def start(name, plans, *flags, path=None, **environment):
        def write(root):
            root.mkdir(parents=True, exist_ok=True)
            for model, (plan, config) in plans.items():
                write_plan(root, model, plan, config)
        path = folders if path is None else path
        return start_server(
            name, write, f"--backend-directory={folders[1] / 'backends'}", *flags,
            environment={"LD_LIBRARY_PATH": ":".join(map(str, path)), "NEREID_FAKE_GPUS": "2",
                         **environment})
    return start


def write_plan(root, model, plan, config=""):
    (root / model / "1").mkdir(parents=True, exist_ok=True)
    data = plan if isinstance(plan, bytes) else f"fake plan\n{plan}end\n".encode()
    (root / model / "1" / "model.plan").write_bytes(data)
    (root / model / "config.pbtxt").write_text('platform: "tensorrt_plan"\n' + config)


@pytest.fixture(scope="module")
def served(plan_server):
    return plan_server("tensorrt", {
        "simple": (SIMPLE, ""),
        "graphs": (SIMPLE, ONE_GPU + "optimization { cuda { graphs: true output_copy_stream: true "
                                     "busy_wait_events: true } priority: PRIORITY_MAX }"),
        "shapes": (SHAPES, ONE_GPU),
        "channels": (CHANNELS, ONE_GPU),
        "pairs": (SIMPLE, "instance_group { kind: KIND_GPU count: 2 }"),
    })


def infer(server, model, *inputs):
    return raw_http.infer(server, model, {"inputs": list(inputs)})


def ask(server, model, rows=1):
    """Asks for y, which is twice x, and returns the response."""
    data = [float(i) for i in range(rows * 4)]
    response = infer(server, model, raw_http.tensor("x", "FP32", [rows, 4], data))
    if response.status == 200:
        (output,) = response.json["outputs"]
        assert output["shape"] == [rows, 4]
        assert output["data"] == [2 * value for value in data]
    return response


def load(server, model):
    return raw_http.request(server, "POST", f"/v2/repository/models/{model}/load", b"{}")


def test_the_configuration_comes_from_the_plan(served):
    config = raw_http.get(served, "/v2/models/simple/config").json
    assert config["max_batch_size"] == 8
    assert "dynamic_batching" in config
    assert [(group["kind"], group["gpus"]) for group in config["instance_group"]] == [
        ("KIND_GPU", [0, 1])]
    (x,) = config["input"]
    assert (x["name"], x["data_type"], x["dims"]) == ("x", "TYPE_FP32", [4])
    shape = next(e for e in raw_http.get(served, "/v2/models/shapes/config").json["input"]
                 if e["name"] == "shape")
    assert (shape["dims"], shape["is_shape_tensor"]) == ([2], True)
    (v,) = raw_http.get(served, "/v2/models/channels/config").json["input"]
    assert (v["dims"], v["is_non_linear_format_io"]) == ([3, 2, 2], True)


@pytest.mark.parametrize("model", ["simple", "graphs", "pairs"])
def test_answers(served, model):
    for rows in (1, 2, 8, 3, 5, 1):
        assert ask(served, model, rows).status == 200
    response = ask(served, model, 9)
    assert response.status == 400
    assert "batch-size must be <= 8" in response.error


def test_shape_tensors_in_answers_have_a_row_for_each_item(served):
    response = infer(served, "shapes", raw_http.tensor("x", "FP32", [2, 3], [1, 2, 3, 4, 5, 6]),
                     raw_http.tensor("shape", "INT32", [2], [5, 6]))
    outputs = {output["name"]: output for output in response.json["outputs"]}
    assert outputs["y"]["data"] == [2, 4, 6, 8, 10, 12]
    assert outputs["shape_out"]["shape"] == [2, 2]
    assert outputs["shape_out"]["data"] == [5, 6, 5, 6]
    response = infer(served, "shapes", raw_http.tensor("x", "FP32", [1, 3], [1, 2, 3]),
                     raw_http.tensor("shape", "INT32", [2], [5, 9]))
    assert response.status == 400
    assert "input 'shape' is [1,5,9], but the engine takes [1,1,1] to [8,8,8]" in response.error


def test_data_in_the_format_of_the_engine(served):
    def send(data):
        document = {"inputs": [{"name": "v", "datatype": "INT8", "shape": [1, 3, 2, 2],
                                "parameters": {"binary_data_size": len(data)}}],
                    "outputs": [{"name": "w", "parameters": {"binary_data": True}}]}
        return raw_http.infer(served, "channels", document, data)
    data = bytes(range(16))  # three channels take the room of four
    response = send(data)
    head, binary = response.parts()
    assert binary == data
    assert head["outputs"][0]["shape"] == [1, 4, 2, 2]
    response = send(data[:12])
    assert response.status == 400
    assert "has 12 bytes, but 16 bytes in the format" in response.error


@pytest.mark.parametrize("name,environment,words", [
    ("none", {"path": []}, ["TensorRT needs a GPU", "libcuda.so.1"]),
    ("no GPU", {"NEREID_FAKE_GPUS": "0"}, ["the CUDA driver finds no GPU"]),
    ("cpu only", {"TRITON_SERVER_CPU_ONLY": "1"}, ["TRITON_SERVER_CPU_ONLY is set"]),
    ("no library", {"NEREID_TENSORRT_LIBRARY": "libnvinfer_none.so"},
     ["TensorRT cannot be opened", "libnvinfer10", "libnvinfer_none.so"]),
])
def test_what_is_missing(plan_server, name, environment, words):
    server = plan_server("tensorrt_missing", {"simple": (SIMPLE, "")},
                         "--model-control-mode=explicit", **environment)
    for _ in range(2):
        response = load(server, "simple")
        assert response.status == 400
        for word in words:
            assert word in response.error
        assert raw_http.get(server, "/v2/health/live").status == 200


@pytest.mark.parametrize("driver", [False, True])
def test_a_genuine_library_without_a_driver_that_it_can_use(plan_server, folders, driver):
    """TensorRT's lean runtime crashes a caller that does not look: NEREID_TEST_TENSORRT_LEAN names
    the folder of libnvinfer_lean.so.10 (from the package tensorrt-lean-cu12-libs)."""
    folder = os.environ.get("NEREID_TEST_TENSORRT_LEAN")
    if not folder:
        pytest.skip("NEREID_TEST_TENSORRT_LEAN is not set")
    server = plan_server("tensorrt_lean", {"simple": (SIMPLE, "")},
                         "--model-control-mode=explicit", path=folders[:1] if driver else [],
                         NEREID_TENSORRT_LIBRARY=str(Path(folder) / "libnvinfer_lean.so.10"))
    for _ in range(2):
        response = load(server, "simple")
        assert response.status == 400
        wanted = "TensorRT cannot start: " if driver else "there is no CUDA driver"
        assert wanted in response.error
        assert raw_http.get(server, "/v2/health/live").status == 200


def test_hostile_plans(plan_server):
    server = plan_server("tensorrt_hostile", {"good": (SIMPLE, "")},
                         "--model-control-mode=explicit")
    root = Path(server.repository)
    rng = random.Random(7)
    text = f"fake plan\n{SHAPES}end\n".encode()
    plans = [b"", b"\0" * 100, b"fake plan\n", text[:-5], rng.randbytes(100000),
             b"fake plan\ninput x FP32 -1,4\noutput y FP32 -1,4\nend\n",
             b"fake plan\nprofile\nend\n"]
    for _ in range(40):
        plan = bytearray(text)
        for _ in range(rng.randint(1, 5)):
            plan[rng.randrange(len(plan))] = rng.choice(b"0123456789,- \nxs")
        plans.append(bytes(plan))
    refused = 0
    for plan in plans:
        write_plan(root, "bad", plan)
        response = load(server, "bad")
        assert response.status in (200, 400)
        refused += response.status == 400
        if response.status == 400:
            assert "bad" in response.error
    assert refused > 7
    assert load(server, "good").status == 200
    assert ask(server, "good").status == 200


def test_a_gpu_that_is_lost_makes_its_models_unready(plan_server, tmp_path):
    failures = tmp_path / "failures"
    failures.write_text("")
    server = plan_server("tensorrt_lost", {
        "first": (SIMPLE, ONE_GPU),
        "second": (SIMPLE, "instance_group { kind: KIND_GPU gpus: [ 1 ] }")},
        NEREID_FAKE_CUDA_FAIL_FILE=str(failures))
    assert ask(server, "first").status == 200
    failures.write_text("cuEventSynchronize:1!=719")  # at the next run only
    response = ask(server, "first")
    assert response.status != 200
    assert "unspecified launch failure" in response.error
    failures.write_text("cuEventSynchronize:1000000=719")
    assert raw_http.get(server, "/v2/models/first/ready").status == 400
    assert "GPU 0 cannot be used until the server is started again" in ask(server, "first").error
    assert ask(server, "second").status == 200
    assert raw_http.get(server, "/v2/models/second/ready").status == 200
    assert raw_http.get(server, "/v2/health/live").status == 200


def test_a_gpu_that_is_full(plan_server, tmp_path):
    failures = tmp_path / "failures"
    failures.write_text("")
    server = plan_server("tensorrt_full", {"simple": (SIMPLE, ONE_GPU)},
                         NEREID_FAKE_CUDA_FAIL_FILE=str(failures))
    failures.write_text("cuMemAlloc_v2=2")
    response = ask(server, "simple", 8)
    assert response.status == 503
    assert "out of memory" in response.error
    failures.write_text("cuMemAlloc_v2:1000000=2")
    assert raw_http.get(server, "/v2/models/simple/ready").status == 200
    assert ask(server, "simple", 8).status == 200


def test_settings_of_the_backend(plan_server):
    server = plan_server(
        "tensorrt_settings", {"simple": ("host_code\n" + SIMPLE, "")},
        "--backend-config=tensorrt,version-compatible=true",
        "--backend-config=tensorrt,execution-policy=DEVICE_BLOCKING",
        "--backend-config=tensorrt,coalesce-request-input=true")
    for rows in (1, 8):
        assert ask(server, "simple", rows).status == 200


def test_tensors_are_binary_too(served):
    data = struct.pack("<4f", 1, 2, 3, 4)
    document = {"inputs": [{"name": "x", "datatype": "FP32", "shape": [1, 4],
                            "parameters": {"binary_data_size": len(data)}}],
                "outputs": [{"name": "y", "parameters": {"binary_data": True}}]}
    _, binary = raw_http.infer(served, "simple", document, data).parts()
    assert struct.unpack("<4f", binary) == (2, 4, 6, 8)
    assert json.loads(raw_http.get(served, "/v2/models/simple").body)["platform"] == "tensorrt_plan"
