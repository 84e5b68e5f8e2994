# SPDX-License-Identifier: Apache-2.0
"""A backend as other projects build theirs (tests/plugins/plain.cc): it names no library for the
functions of the C API, and reads its configuration again after it has completed it."""

import models
import numpy as np
import pytest
from clients import Transport
from config_models import put_plugin

WRITTEN = """
backend: "plain"
max_batch_size: 2
input { name: "INPUT" data_type: TYPE_FP32 dims: [ 3 ] }
output { name: "OUTPUT" data_type: TYPE_FP32 dims: [ 3 ] }
"""


def write(library):
    def write_models(root):
        for name, config in (("completed", 'backend: "plain"\n'), ("written", WRITTEN)):
            (root / name / "1").mkdir(parents=True)
            (root / name / "config.pbtxt").write_text(config + models.ONE_CPU_INSTANCE)
            put_plugin(root / name, library)
    return write_models


@pytest.fixture(scope="module")
def serving(start_server, is_peer, test_plugins):
    if is_peer:
        pytest.skip("the wheel's library is not among the global symbols of its program")
    return start_server("plain", write(test_plugins / "libtriton_plain.so"))


@pytest.fixture(scope="module", params=["http", "grpc"])
def client(request, serving, loop):
    made = Transport(request.param, serving, loop)
    yield made
    made.close()


@pytest.mark.parametrize("model", ["completed", "written"])
def test_it_serves(client, model):
    x = np.array([[1, 2, 3]], np.float32)
    answer = client.infer(model, [client.input("INPUT", x)])
    assert answer.array("OUTPUT").tolist() == x.tolist()


def test_what_it_completed_is_normalized(client):
    config = client.json("get_model_config", "completed")
    config = config.get("config", config)
    assert config["max_batch_size"] == 4
    assert [tensor["name"] for tensor in config["input"]] == ["INPUT"]
    assert config["dynamic_batching"]["preferred_batch_size"] == [4]
