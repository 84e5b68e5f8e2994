# SPDX-License-Identifier: Apache-2.0
"""Models of platform "custom": a shared library with the functions of include/nereid/custom.h."""

import custom_models
import numpy as np
import pytest
from clients import Transport
from custom_models import REFUSED
from explicit_models import EXPLICIT, statistics
from models import DATATYPES
from test_config_semantics import at_once
from test_datatypes import same
from test_datatypes import sample as values_of
from tritonclient.grpc import model_config_pb2


@pytest.fixture(scope="module")
def serving(start_server, is_peer, test_plugins):
    if is_peer:
        pytest.skip("Triton no longer serves the platform custom")
    return start_server("custom", custom_models.write(test_plugins))


@pytest.fixture(scope="module", params=["http", "grpc"])
def client(request, serving, loop):
    made = Transport(request.param, serving, loop)
    yield made
    made.close()


def echo(client, model, array, datatype=None, **kwargs):
    answer = client.infer(model, [client.input("INPUT0", array, datatype)], **kwargs)
    return answer.array("OUTPUT0")


@pytest.mark.parametrize("outputs", [None, ["OUTPUT0"], ["OUTPUT1"], ["OUTPUT1", "OUTPUT0"]])
@pytest.mark.parametrize("batch", [1, 2, 8])
def test_the_example(client, batch, outputs):
    a = np.arange(batch * 16, dtype=np.int32).reshape(batch, 16)
    b = np.full((batch, 16), 3, np.int32)
    answer = client.infer("addsub", [client.input("INPUT0", a), client.input("INPUT1", b)], outputs)
    assert sorted(answer.names) == sorted(outputs or ["OUTPUT0", "OUTPUT1"])
    for name, expected in (("OUTPUT0", a + b), ("OUTPUT1", a - b)):
        if name in answer.names:
            same(answer.array(name), expected)


def test_metadata(client):
    assert client.json("get_model_metadata", "addsub")["platform"] == "custom"


@pytest.mark.parametrize("datatype", DATATYPES)
def test_every_data_type(client, datatype):
    array = values_of(datatype)
    same(echo(client, f"echo_{datatype.lower()}_unbatched", array, datatype), array)
    array = array.reshape(2, 3)
    same(echo(client, f"echo_{datatype.lower()}", array, datatype), array)


def test_requests_of_a_batch_are_executed_together(client):
    before = statistics(client, "batched")["1"]
    arrays = [np.full((1, n), n, np.float32) for n in (1, 4, 2)]  # of three shapes
    answers = at_once(client, "batched", [{"INPUT0": a} for a in arrays])
    for answer, array in zip(answers, arrays):
        same(answer.as_numpy("OUTPUT0"), array)
    after = statistics(client, "batched")["1"]
    assert (after[0] - before[0], after[1] - before[1]) == (3, 1)


def test_reshape(client):
    array = np.arange(8, dtype=np.float32).reshape(2, 4)
    same(echo(client, "reshaped", array), array)
    same(echo(client, "scalar", array[:, :1]), array[:, :1])


def test_warmup_comes_before_the_first_request(serving, client):
    assert client.json("get_model_metadata", "warmed")["name"] == "warmed"
    same(echo(client, "warmed", np.ones((1, 4), np.float32)), np.ones((1, 4), np.float32))


def test_a_file_name_of_its_own(client):
    same(echo(client, "renamed", np.ones((1, 4), np.float32)), np.ones((1, 4), np.float32))


def test_several_inputs_one_of_them_optional(client):
    floats = np.ones((2, 4), np.float32)
    texts = np.array([[b"a", b""], [b"\xff", b"z"]], np.object_)
    inputs = [client.input("INPUT0", floats), client.input("INPUT1", texts)]
    answer = client.infer("several", inputs)
    same(answer.array("OUTPUT0"), floats)
    same(answer.array("OUTPUT1"), texts)
    numbers = client.input("INPUT2", np.ones((2, 3, 2), np.int64))
    same(client.infer("several", inputs + [numbers]).array("OUTPUT1"), texts)


def play(client, model, steps):
    """Sends the `steps` (sequence, value, start, end) and returns the sums."""
    sums = []
    for sequence, value, start, end in steps:
        answer = client.infer(model, [client.input("INPUT", np.array([[value]], np.int32))],
                              sequence_id=sequence, sequence_start=start, sequence_end=end)
        sums.append(int(answer.array("OUTPUT")[0, 0]))
    return sums


@pytest.mark.parametrize("model", ["sequence", "state"])
def test_two_sequences_at_once(client, model):
    assert play(client, model, [
        (11, 1, True, False), (12, 100, True, False), (11, 2, False, False),
        (12, 200, False, True), (11, 3, False, True), (11, 7, True, True)]) == [
            1, 100, 3, 300, 6, 7]


def test_a_state_that_is_shown(client):
    answer = client.infer("state", [client.input("INPUT", np.array([[4]], np.int32))],
                          ["STATE_OUT"], sequence_id=31, sequence_start=True, sequence_end=True)
    assert answer.array("STATE_OUT").tolist() == [[4]]


def test_what_the_library_is_told(serving, client):
    answer = client.infer("params", [client.input("INPUT", np.ones(1, np.int8))])
    instance, device, version, repository, config = answer.array("OUTPUT").tolist()
    assert instance.decode().startswith("params_0")
    assert device == b"-1"
    assert version.decode() == client.json("get_server_metadata")["version"]
    assert repository.decode() == str(serving.repository)
    message = model_config_pb2.ModelConfig.FromString(config)
    assert (message.name, message.platform) == ("params", "custom")
    assert message.parameters["speed"].string_value == "high"
    assert message.output[0].data_type == model_config_pb2.TYPE_STRING


# Fault of the library -> the text of the response.
FAULTS = {
    1: "CustomExecute of '{path}' failed with code 7 (all of them)",
    2: "CustomExecute of '{path}' failed with code 5 (only this one)",
    3: "asked twice for the output 'OUTPUT0'",
    4: "in the shape [1,1] with 3 bytes, but TYPE_INT32 needs 4",
    5: "asked for the output 'OUTPUT9', which the configuration lacks",
    6: "asked for an output with a null pointer",
    7: "in the shape [1,2], but the configuration says [1,1] (with the batch)",
    8: "asked for the input 'INPUT9', which the request lacks",
    9: "failed with code -1 (no text for it)",
    10: "CustomExecute of '{path}' threw: thrown by the custom library",
    13: "failed with code 13 (\\xff\\xfe)",  # not UTF-8, which JSON and gRPC cannot carry
}


def ask(client, fault, model="faulty"):
    return echo(client, model, np.array([[fault]], np.int32),
                outputs=["OUTPUT0"]).tolist()


@pytest.mark.parametrize("fault", FAULTS)
def test_a_library_that_misbehaves(serving, client, fault):
    path = serving.repository / "faulty" / "1" / "libcustom.so"
    client.expect("INTERNAL", FAULTS[fault].format(path=path), ask, client, fault)
    assert ask(client, 0) == [[0]]


def test_one_of_a_batch_fails(client):
    answers = at_once(client, "faulty_of_three",
                      [{"INPUT0": np.array([[fault]], np.int32)} for fault in (0, 2, 0)])
    assert "only this one" in str(answers[1])
    for answer in (answers[0], answers[2]):
        assert answer.as_numpy("OUTPUT0").tolist() == [[0]]


@pytest.fixture(scope="module")
def refusing(start_server, is_peer, test_plugins):
    if is_peer:
        pytest.skip("Triton no longer serves the platform custom")
    return start_server("refused_custom", custom_models.write_refused(test_plugins), *EXPLICIT,
                        wait_path="/v2/health/live")


@pytest.mark.parametrize("name", REFUSED)
def test_a_library_that_cannot_be_used(refusing, connect, name):
    path = refusing.repository / name / "1" / "libcustom.so"
    for transport in ("http", "grpc"):
        client = connect(transport, refusing)
        _, text = client.error(client.call, "load_model", name)
        assert REFUSED[name][2].format(path=path) in text
        assert f"'{name}'" in text
    client.call("load_model", "good")
    same(echo(client, "good", np.ones((1, 4), np.float32)), np.ones((1, 4), np.float32))


def test_a_library_does_not_say_its_tensors(refusing, connect):
    client = connect("grpc", refusing)
    _, text = client.error(client.call, "load_model", "no_tensors")
    assert "write input and output into the configuration" in text


def test_a_library_is_loaded_anew(refusing, connect, test_plugins):
    """A new file with the old name is loaded as a new library."""
    client = connect("grpc", refusing)
    client.call("load_model", "good")
    client.call("unload_model", "good")
    client.call("load_model", "good")
    same(echo(client, "good", np.ones((1, 4), np.float32)), np.ones((1, 4), np.float32))
