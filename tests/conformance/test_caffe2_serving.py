# SPDX-License-Identifier: Apache-2.0
"""The functions of the server with NetDef models: completion, batches, reshape, states, warm-up,
threads."""

import struct
import sys
from pathlib import Path

import grpc_raw
import numpy as np
import pytest
from explicit_models import EXPLICIT, configuration, statistics
from sequences import batching, instances, parameter
from tritonclient.grpc import service_pb2, service_pb2_grpc

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "models"))
from netdef_writer import given, op, save  # noqa: E402

WEIGHT = np.arange(12).reshape(3, 4).astype(np.float32)
BIAS = np.array([10, 20, 30], np.float32)
FILLS = [given("w", WEIGHT.ravel(), (3, 4)), given("b", BIAS, (3,))]
LAYER = [op("FC", ["x", "w", "b"], ["y"])]
START = ('control_input { name: "START" control { kind: CONTROL_SEQUENCE_START '
         "fp32_false_true: [ 0, 1 ] } }\n")
ROW = np.array([[1, 2, 3, 4]], np.float32)


def tensor(kind, name, dims, extra="", datatype="FP32"):
    return f'{kind} {{ name: "{name}" data_type: TYPE_{datatype} dims: [ {dims} ] {extra} }}\n'


LAYER_IO = tensor("input", "x", "4") + tensor("output", "y", "3")


def layer(root, name, config, ops=tuple(LAYER), inputs=("x", "w", "b"), outputs=("y",)):
    """y = x W' + b. With `config` None there is no configuration."""
    save(root / name / "1", FILLS, list(ops), inputs, outputs)
    if config is not None:
        (root / name / "config.pbtxt").write_text(
            'platform: "caffe2_netdef"\n' + instances(1) + config)


def write_accumulator(root):
    """OUTPUT = OUTPUT_STATE = INPUT + INPUT_STATE, without the state at a start."""
    save(root / "sum" / "1", [given("one", [1], (1,))],
         [op("Sub", ["one", "START"], ["goes_on"]),
          op("Mul", ["INPUT_STATE", "goes_on"], ["kept"]),
          op("Add", ["INPUT", "kept"], ["OUTPUT"]),
          op("Copy", ["OUTPUT"], ["OUTPUT_STATE"])],
         ["INPUT", "START", "INPUT_STATE", "one"], ["OUTPUT", "OUTPUT_STATE"])
    state = ('state [ { input_name: "INPUT_STATE" output_name: "OUTPUT_STATE" '
             "data_type: TYPE_FP32 dims: [ 1 ] } ]\n")
    (root / "sum" / "config.pbtxt").write_text(
        'platform: "caffe2_netdef"\nmax_batch_size: 4\n' + instances(1)
        + tensor("input", "INPUT", "1") + tensor("output", "OUTPUT", "1")
        + batching("oldest { max_candidate_sequences: 4 }", controls=START, extra=state))


def write_ragged(root):
    """Returns how many elements the requests of a batch have sent up to each one."""
    save(root / "ragged" / "1", [],
         [op("SumElements", ["numbers"], ["total"]), op("Copy", ["ends"], ["y"])],
         ["numbers", "ends"], ["y", "total"])
    (root / "ragged" / "config.pbtxt").write_text(
        'platform: "caffe2_netdef"\nmax_batch_size: 4\n' + instances(1)
        + "dynamic_batching { preferred_batch_size: [ 2 ] max_queue_delay_microseconds: 9000000 }\n"
        + tensor("input", "numbers", "-1", "allow_ragged_batch: true")
        + "batch_input { kind: BATCH_ACCUMULATED_ELEMENT_COUNT target_name: \"ends\" "
          'data_type: TYPE_FP32 source_input: "numbers" }\n'
        + tensor("output", "y", "1", "reshape { shape: [ ] }"))


def write_models(root):
    layer(root, "complete", None)
    layer(root, "no_dims", None, [op("Add", ["x", "b"], ["y"])])
    layer(root, "reshaped", "max_batch_size: 4\n"
          + tensor("input", "x", "2, 2", "reshape { shape: [ 4 ] }")
          + tensor("output", "y", "3, 1", "reshape { shape: [ 3 ] }"))
    layer(root, "flat", tensor("input", "x", "-1, 4") + tensor("output", "y", "-1, 3"))
    layer(root, "batched", "max_batch_size: 4\n" + LAYER_IO
          + "dynamic_batching { preferred_batch_size: [ 4 ] "
            "max_queue_delay_microseconds: 9000000 }\n")
    layer(root, "warm", "max_batch_size: 4\n" + LAYER_IO
          + 'model_warmup { name: "s" batch_size: 3 count: 2 inputs { key: "x" value { '
            "data_type: TYPE_FP32 dims: [ 4 ] random_data: true } } }\n")
    layer(root, "threads", "max_batch_size: 4\n" + LAYER_IO + parameter("intra_op_thread_count", 2)
          + parameter("share_session_between_instances", "false"))
    layer(root, "no_threads", "max_batch_size: 4\n" + LAYER_IO
          + parameter("intra_op_thread_count", "many"))
    layer(root, "strings", tensor("input", "x", "4", datatype="STRING") + tensor("output", "y", "3"))
    write_accumulator(root)
    write_ragged(root)


@pytest.fixture(scope="module")
def nets(start_server, is_peer):
    if is_peer:
        pytest.skip("Triton no longer serves NetDef models")
    return start_server("caffe2_serving", write_models, *EXPLICIT)


@pytest.fixture(params=["http", "grpc"])
def client(request, nets, connect):
    return connect(request.param, nets)


def infer(client, model, array, output="y"):
    return client.infer(model, [client.input("x", array)]).array(output)


def together(server, model, name, arrays):
    """Sends all requests at once. Returns the raw first output of each."""
    with grpc_raw.channel(server) as channel:
        stub = service_pb2_grpc.GRPCInferenceServiceStub(channel)
        requests = [service_pb2.ModelInferRequest(
            model_name=model, raw_input_contents=[array.tobytes()],
            inputs=[service_pb2.ModelInferRequest.InferInputTensor(
                name=name, datatype="FP32", shape=array.shape)]) for array in arrays]
        return [f.result().raw_output_contents[0]
                for f in [stub.ModelInfer.future(r, timeout=60) for r in requests]]


def test_a_model_without_a_configuration(client):
    client.call("load_model", "complete")
    config = configuration(client, "complete")
    assert (config["backend"], config["platform"]) == ("caffe2", "caffe2_netdef")
    assert config["max_batch_size"] == 4
    assert "dynamic_batching" in config
    for kind, name, size in (("input", "x", 4), ("output", "y", 3)):
        (found,) = config[kind]
        assert (found["name"], found["data_type"]) == (name, "TYPE_FP32")
        assert [int(d) for d in found["dims"]] == [size]
    assert np.array_equal(infer(client, "complete", ROW), ROW @ WEIGHT.T + BIAS)


def test_a_net_that_does_not_tell_its_inputs(client):
    text = str(client.error(client.call, "load_model", "no_dims"))
    assert "1/model.netdef': the configuration must list the inputs: the net does not tell the " \
           "dimensions of 'x'" in text


def test_reshape(client):
    client.call("load_model", "reshaped")
    answer = infer(client, "reshaped", np.stack([ROW.reshape(2, 2)] * 3))
    assert answer.shape == (3, 3, 1)
    assert np.array_equal(answer[1, :, 0], (ROW @ WEIGHT.T + BIAS)[0])


def test_without_batching(client):
    client.call("load_model", "flat")
    rows = np.concatenate([ROW, 2 * ROW])
    assert np.array_equal(infer(client, "flat", rows), rows @ WEIGHT.T + BIAS)


def test_requests_of_a_batch_get_their_own_rows(client, nets):
    client.call("unload_model", "batched")
    client.call("load_model", "batched")
    answers = together(nets, "batched", "x", [i * ROW for i in range(4)])
    for i, answer in enumerate(answers):
        assert np.array_equal(np.frombuffer(answer, np.float32),
                              ((i * ROW) @ WEIGHT.T + BIAS)[0])
    assert statistics(client, "batched")["1"] == (4, 1, [4])


def test_ragged_requests(client, nets):
    client.call("load_model", "ragged")
    sizes = (3, 5)
    answers = together(nets, "ragged", "numbers", [np.ones((1, n), np.float32) for n in sizes])
    ends = {struct.unpack("<f", answer)[0] for answer in answers}
    assert ends in ({3.0, 8.0}, {5.0, 8.0})  # in any order


def test_states(client):
    client.call("load_model", "sum")
    for sequence, first in ((71, 1), (72, 100)):
        found = []
        for place in range(4):
            answer = client.infer("sum", [client.input("INPUT", np.array([[first + place]],
                                                                         np.float32))],
                                  sequence_id=sequence + (10 if client.protocol == "grpc" else 0),
                                  sequence_start=place == 0, sequence_end=place == 3)
            found.append(answer.array("OUTPUT").tolist()[0][0])
        assert found == np.cumsum([first + place for place in range(4)]).tolist()


def test_warmup(client):
    client.call("unload_model", "warm")
    client.call("load_model", "warm")
    assert statistics(client, "warm")["1"] == (6, 2, [3])
    assert np.array_equal(infer(client, "warm", ROW), ROW @ WEIGHT.T + BIAS)


def test_threads(client):
    client.call("load_model", "threads")
    assert np.array_equal(infer(client, "threads", ROW), ROW @ WEIGHT.T + BIAS)
    assert "parameter 'intra_op_thread_count' is 'many'" in str(
        client.error(client.call, "load_model", "no_threads"))


def test_texts_are_refused(client):
    assert "input 'x' has the data type TYPE_STRING, which Caffe2 nets do not take" in str(
        client.error(client.call, "load_model", "strings"))
