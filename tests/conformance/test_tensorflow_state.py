# SPDX-License-Identifier: Apache-2.0
"""TensorFlow models whose requests write variables: each instance has a session of its own, or as many
share one as MAX_SESSION_SHARE_COUNT says."""

import itertools

import numpy as np
import pytest
import tensorflow_models as tfm
from sequences import batching, instances

IDS = itertools.count(1)
START = ('control_input { name: "START" control { kind: CONTROL_SEQUENCE_START '
         "fp32_false_true: [ 0, 1 ] } }\n")
CONFIG = ("max_batch_size: 1\n" + tfm.tensor("input", "INPUT", "FP32", [1])
          + tfm.tensor("output", "OUTPUT", "FP32", [1]) + batching("direct { }", controls=START)
          + instances(2))
SHAPE = (2**64 - 1, 1)


def write_graphdef(root, name, config):
    folder = tfm.graphdef(root, name, None, config, 1, tfm.accumulator())
    (folder / "config.pbtxt").write_text('platform: "tensorflow_graphdef"\n' + config
                                         + tfm.parameters(TF_INIT_OPS_FILE="init_ops.json"))
    (folder / "1" / "init_ops.json").write_text('{"init_ops": ["init"]}')


def write_savedmodel(root, name, config):
    folder = root / name
    (folder / "1" / "model.savedmodel").mkdir(parents=True)
    (folder / "config.pbtxt").write_text('platform: "tensorflow_savedmodel"\n' + config)
    (folder / "1" / "model.savedmodel" / "saved_model.pb").write_bytes(tfm.saved_model(
        tfm.accumulator(),
        serving_default=tfm.signature({"INPUT": ("INPUT:0", 1, SHAPE), "START": ("START:0", 1, SHAPE)},
                                      {"OUTPUT": ("OUTPUT:0", 1, SHAPE)}),
        __saved_model_init_op=tfm.signature({}, {"__saved_model_init_op": ("init", 1, None)})))


def write(root):
    for kind, write_model in (("graphdef", write_graphdef), ("savedmodel", write_savedmodel)):
        write_model(root, f"{kind}_own", CONFIG)
        write_model(root, f"{kind}_shared", CONFIG + tfm.parameters(MAX_SESSION_SHARE_COUNT=2))
    tfm.graphdef(root, "uninitialized", None, CONFIG.partition("\n")[2], 1, tfm.accumulator())


@pytest.fixture(scope="module")
def serving(start_server, require_backends):
    require_backends("tensorflow")
    return start_server("tensorflow_state", write)


@pytest.mark.parametrize("kind", ["graphdef", "savedmodel"])
@pytest.mark.parametrize("sessions, sums", [("own", (3, 300)), ("shared", (102, 302))])
def test_sequences_of_two_instances(serving, connect, kind, sessions, sums):
    client = connect("http", serving)
    ids = next(IDS) + 100, next(IDS) + 200

    def send(which, value, **flags):
        answer = client.infer(f"{kind}_{sessions}",
                              [client.input("INPUT", np.array([[value]], np.float32))],
                              sequence_id=ids[which], **flags)
        return answer.array("OUTPUT").tolist()

    assert send(0, 1, sequence_start=True) == [[1]]
    assert send(1, 100, sequence_start=True) == [[100]]
    assert send(0, 2, sequence_end=True) == [[sums[0]]]
    assert send(1, 200, sequence_end=True) == [[sums[1]]]


def test_errors_begin_with_tensorflows_code(serving, connect):
    client = connect("http", serving)
    status, text = client.error(
        client.infer, "uninitialized", [client.input("INPUT", np.array([[1]], np.float32))],
        sequence_id=next(IDS), sequence_start=True, sequence_end=True)
    assert status == 400
    assert "FAILED_PRECONDITION: Could not find variable total. This could mean that" in text
