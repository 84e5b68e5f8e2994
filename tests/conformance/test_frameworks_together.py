# SPDX-License-Identifier: Apache-2.0
"""ONNX Runtime, TensorFlow, PyTorch and OpenVINO in one process, in any order of loading."""

import json
import shutil
import threading
from pathlib import Path

import openvino_models
import pytest
import tensorflow_models
from openvino_models import ANSWERS

PYTORCH = Path(__file__).resolve().parents[1] / "data" / "pytorch"
CASES = {"by_openvino": ANSWERS["mlp"][0], "by_onnxruntime": ANSWERS["onnx_mlp"][0],
         "accelerated": ANSWERS["onnx_mlp"][0],
         "by_tensorflow": tensorflow_models.CASES["matmul"][0],
         "by_pytorch": json.loads((PYTORCH / "dense" / "cases.json").read_text())[0]}
ORDERS = [sorted(CASES), sorted(CASES, reverse=True)]


def write(root):
    openvino_models.copy(root, "by_openvino", "mlp",
                         "max_batch_size: 8\n" + openvino_models.MLP + openvino_models.FP32)
    for name, text in (("by_onnxruntime", ""), (
            "accelerated", "optimization { execution_accelerators { cpu_execution_accelerator "
            '[ { name: "openvino" } ] } }\n')):
        folder = openvino_models.copy(root, name, "onnx_mlp", "")
        (folder / "config.pbtxt").write_text('backend: "onnxruntime"\nmax_batch_size: 8\n' + text)
    tensorflow_models.graphdef(root, "by_tensorflow", "matmul",
                               tensorflow_models.tensors("matmul", True), batch=8)
    shutil.copytree(PYTORCH / "dense", root / "by_pytorch")


@pytest.fixture(scope="module", params=ORDERS, ids=["forth", "back"])
def serving(request, start_server, require_backends):
    require_backends("openvino", "tensorflow", "pytorch")
    server = start_server("together", write, "--model-control-mode=explicit")
    server.order = request.param
    return server


def test_all_answer_in_any_order_and_at_once(serving, connect):
    loader = connect("http", serving)
    for name in serving.order:
        loader.call("load_model", name)
        for loaded in serving.order[:serving.order.index(name) + 1]:
            for protocol in ("http", "grpc"):
                tensorflow_models.check_case(connect(protocol, serving), loaded, CASES[loaded])
    failures = []

    def ask(name, protocol):
        client = connect(protocol, serving)
        try:
            for _ in range(20):
                tensorflow_models.check_case(client, name, CASES[name])
        except Exception as failure:  # exceptions of a thread would be lost
            failures.append((name, failure))

    threads = [threading.Thread(target=ask, args=(name, protocol))
               for name in CASES for protocol in ("http_aio", "grpc")]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures
    for name in serving.order:
        loader.call("unload_model", name)
        loader.call("load_model", name)
        tensorflow_models.check_case(loader, name, CASES[name])
