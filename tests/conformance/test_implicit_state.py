# SPDX-License-Identifier: Apache-2.0
"""States that stay in the server: the document's accumulators tensor for tensor, and states of
other types and shapes, and their ends."""

import itertools
import queue

import grpc_raw
import numpy as np
import pytest
import raw_http
import sequence_models
import tritonclient.grpc as grpc_client
from clients import TRANSPORTS
from tritonclient.utils import InferenceServerException

IDS = itertools.count(1000)
WIDE_ID = 2**40 + 5


def write(root, plugins):
    sequence_models.write_accumulators(root)
    sequence_models.write_texts(root)
    sequence_models.write_several(root)
    sequence_models.write_growing(root)
    sequence_models.write_failing(root)
    sequence_models.write_leaking(root)
    sequence_models.write_one_buffer(root, plugins / "libtriton_sequence.so")


@pytest.fixture(scope="module")
def serving(start_server, server_plugins):
    return start_server("states", lambda root: write(root, server_plugins))


@pytest.fixture(params=TRANSPORTS)
def client(request, serving, connect):
    return connect(request.param, serving)


@pytest.fixture
def http(serving, connect):
    return connect("http", serving)


def flags(place, count):
    return {"sequence_start": place == 0, "sequence_end": place == count - 1}


def play(client, model, values, sequence, *, flat=False, datatype=np.int32, output="OUTPUT"):
    """Sends each of `values` as one request of a sequence and returns the OUTPUT of each."""
    answers = []
    for place, number in enumerate(values):
        array = np.array(number if flat else [number], datatype)
        answer = client.infer(model, [client.input("INPUT", array)], sequence_id=sequence,
                              **flags(place, len(values)))
        found = answer.array(output)
        answers.append(found.tolist() if flat else found.tolist()[0])
    return answers


VALUES = [[3], [4], [5], [-2]]
SUMS = [[3], [7], [12], [10]]


@pytest.mark.parametrize("suffix", ["", "_direct", "_flat"])
@pytest.mark.parametrize("model,first", [
    ("sum", 0), ("sum_zero", 0), ("sum_file", sequence_models.FILE_STATE)])
def test_accumulators(client, model, first, suffix):
    expected = [[first + number for number in sums] for sums in SUMS]
    for _ in range(2):  # the second sequence begins with the same state
        assert play(client, model + suffix, VALUES, next(IDS), flat=suffix == "_flat") == expected


@pytest.mark.parametrize("model", ["sum", "sum_zero", "sum_file"])
def test_text_ids(client, model):
    first = sequence_models.FILE_STATE if model == "sum_file" else 0
    expected = [[first + number for number in sums] for sums in SUMS]
    assert play(client, model, VALUES, f"text-{next(IDS)}") == expected


@pytest.mark.parametrize("suffix", ["", "_direct"])
@pytest.mark.parametrize("model,first", [("sum", 0), ("sum_file", sequence_models.FILE_STATE)])
def test_sequences_between_each_other(client, model, first, suffix):
    ids = [next(IDS) for _ in range(4)]
    sums = dict.fromkeys(ids, first)
    for place in range(5):
        for number, sequence in enumerate(ids):
            sums[sequence] += 10 ** number
            answer = client.infer(model + suffix,
                                  [client.input("INPUT", np.array([[10 ** number]], np.int32))],
                                  sequence_id=sequence, **flags(place, 5))
            assert answer.array("OUTPUT").tolist() == [[sums[sequence]]]


def test_sequences_over_one_stream(serving):
    answers = queue.Queue()
    with grpc_client.InferenceServerClient(serving.grpc) as client:
        client.start_stream(lambda result, error: answers.put((result, error)))
        for place in range(6):
            for sequence in (WIDE_ID, "stream-text"):
                tensor = grpc_client.InferInput("INPUT", [1, 1], "INT32")
                tensor.set_data_from_numpy(np.array([[place + 1]], np.int32))
                client.async_stream_infer("sum", [tensor], request_id=f"{sequence}/{place}",
                                          sequence_id=sequence, **flags(place, 6))
        found = {}
        for _ in range(12):
            result, error = answers.get(timeout=30)
            assert error is None, error
            found[result.get_response().id] = result.as_numpy("OUTPUT").tolist()
        client.stop_stream()
    for sequence in (WIDE_ID, "stream-text"):
        assert [found[f"{sequence}/{place}"] for place in range(6)] == [
            [[total]] for total in (1, 3, 6, 10, 15, 21)]


def test_raw_parameters_over_http(serving):
    totals = []
    for place in range(3):
        answer = raw_http.infer(serving, "sum", {
            "parameters": {"sequence_id": 77, "sequence_start": place == 0,
                           "sequence_end": place == 2},
            "inputs": [raw_http.tensor("INPUT", "INT32", [1, 1], [5])]})
        assert answer.status == 200, answer.body
        totals.append(answer.json["outputs"][0]["data"])
    assert totals == [[5], [10], [15]]


@pytest.mark.parametrize("as_parameter", [
    lambda number: grpc_raw.pb.InferParameter(int64_param=number),
    lambda number: grpc_raw.pb.InferParameter(string_param=str(number)),
], ids=["int64", "string"])
def test_raw_parameters_over_grpc(serving, as_parameter):
    sequence = as_parameter(next(IDS))
    totals = []
    for place in range(3):
        answer = grpc_raw.call(serving, "ModelInfer", grpc_raw.infer_request(
            "sum", [grpc_raw.tensor("INPUT", "INT32", [1, 1], int_contents=[7])],
            parameters={"sequence_id": sequence, "sequence_start": place == 0,
                        "sequence_end": place == 2}))
        totals.append(int.from_bytes(answer.raw_output_contents[0], "little"))
    assert totals == [7, 14, 21]


def test_the_state_is_given_to_who_asks(client):
    sequence = next(IDS)
    for place, total in enumerate((4, 8, 12)):
        inputs = [client.input("INPUT", np.array([[4]], np.int32))]
        outputs = (["OUTPUT", "OUTPUT_STATE"], ["OUTPUT"], ["OUTPUT_STATE"])[place]
        answer = client.infer("sum_shown", inputs, outputs, sequence_id=sequence,
                              **flags(place, 3))
        assert answer.names == outputs
        assert all(answer.array(name).tolist() == [[total]] for name in outputs)


def test_a_state_that_is_no_output_cannot_be_asked_for(client):
    inputs = [client.input("INPUT", np.array([[4]], np.int32))]
    client.expect("INVALID_ARG", "unexpected inference output 'OUTPUT_STATE' for model 'sum'",
                  client.infer, "sum", inputs, ["OUTPUT_STATE"], sequence_id=next(IDS),
                  sequence_start=True, sequence_end=True)


@pytest.mark.parametrize("name", ["INPUT_STATE", "START"])
def test_what_the_server_adds_is_no_input(client, name):
    array = np.array([[1]], np.int32 if name == "INPUT_STATE" else np.float32)
    inputs = [client.input("INPUT", np.array([[4]], np.int32)), client.input(name, array)]
    status, message = client.error(client.infer, "sum", inputs, sequence_id=next(IDS),
                                   sequence_start=True, sequence_end=True)
    assert status == (400 if client.protocol == "http" else "INVALID_ARGUMENT"), message


def test_states_and_controls_are_not_in_the_metadata(client):
    metadata = client.json("get_model_metadata", "sum")
    assert [t["name"] for t in metadata["inputs"]] == ["INPUT"]
    assert [t["name"] for t in metadata["outputs"]] == ["OUTPUT"]


def test_texts(client):
    for _ in range(2):
        answers = play(client, "texts", [["a"], ["\N{SNOWMAN}"], [""], ["b" * 1000]], next(IDS),
                       datatype=object)
        assert answers == [[text.encode()] for text in (
            "a", "a\N{SNOWMAN}", "a\N{SNOWMAN}", "a\N{SNOWMAN}" + "b" * 1000)]


def test_several_states(client):
    sequence, other = next(IDS), next(IDS)
    seen = []
    for place, number in enumerate((5, -3, 9, 1)):
        for one in (sequence, other):
            given = number if one == sequence else -number
            answer = client.infer("several", [client.input("INPUT", np.array([[given]], np.int32))],
                                  sequence_id=one, **flags(place, 4))
            if one == sequence:
                seen.append([answer.array(n)[0, 0].item() for n in ("SUM", "COUNT", "MOST")])
    assert seen == [[5, 1, 5], [2, 2, 5], [11, 3, 9], [12, 4, 9]]


def test_a_state_that_grows(client):
    numbers = [[number] for number in range(10, 60)]
    for _ in range(2):
        answers = play(client, "growing", numbers, next(IDS))
        assert answers == [list(range(10, 11 + place)) for place in range(50)]


def test_the_width_is_free_where_the_dimension_is_variable(http):
    """A variable dimension of the state is 1 at the start; later the model determines it."""
    sequence = next(IDS)
    wide = [[1, 2, 3], [10, 20, 30], [100, 200, 300]]
    assert play(http, "sum", wide, sequence) == [[1, 2, 3], [11, 22, 33], [111, 222, 333]]
    assert play(http, "sum", [[5], [6]], next(IDS)) == [[5], [11]]


def test_a_failed_execution_leaves_the_old_state(client):
    sequence = next(IDS)

    def ask(index, **more):
        inputs = [client.input("INPUT", np.array([[index]], np.int64))]
        return client.infer("failing", inputs, sequence_id=sequence, **more).array("OUTPUT")[0, 0]

    assert ask(1, sequence_start=True) == 10
    assert ask(2) == 110
    with pytest.raises(InferenceServerException):
        ask(9)
    assert ask(0) == 111
    assert ask(3, sequence_end=True) == 1111


@pytest.mark.parametrize("model", ["sum_in_place", "sum_in_place_direct"])
def test_one_buffer_for_both_sides(client, model):
    assert play(client, model, [[1], [2], [3]], next(IDS)) == [[1], [3], [6]]
    first, second = next(IDS), next(IDS)
    totals = []
    for place in range(4):
        for sequence, number in ((first, 1), (second, 100)):
            answer = client.infer(model, [client.input("INPUT", np.array([[number]], np.int32))],
                                  sequence_id=sequence, **flags(place, 4))
            totals.append(answer.array("OUTPUT")[0, 0])
    assert totals == [1, 100, 2, 200, 3, 300, 4, 400]


@pytest.mark.parametrize("model", ["growing_in_place", "growing_ahead"])
def test_a_state_outgrows_its_one_buffer(client, model):
    numbers = [[number] for number in range(10, 60)]
    for _ in range(2):
        answers = play(client, model, numbers, next(IDS))
        assert answers == [list(range(10, 11 + place)) for place in range(50)]


@pytest.mark.parametrize("model", ["list_in_place", "list_ahead"])
def test_a_backend_writes_where_it_reads(client, model):
    numbers = [[number] for number in range(1, 41)]
    for _ in range(2):
        states = play(client, model, numbers, next(IDS), output="OUTPUT_STATE")
        assert states == [list(range(1, 2 + place)) for place in range(40)]


@pytest.mark.parametrize("model,kept", [("written_twice", 11), ("written_in_place", 31)])
def test_what_a_failed_execution_has_written(client, is_peer, model, kept):
    """With two buffers the write is discarded; with one buffer the old state cannot be restored."""
    if is_peer and model == "written_twice":
        pytest.skip("in Triton what a failed execution has written counts")
    sequence = next(IDS)

    def ask(number, place, **parameters):
        inputs = [client.input("INPUT", np.array([[number]], np.int32))]
        return client.infer(model, inputs, sequence_id=sequence, parameters=parameters,
                            **flags(place, 3)).array("OUTPUT")[0, 0]

    assert ask(10, 0) == 10
    with pytest.raises(InferenceServerException, match="on purpose"):
        ask(20, 1, fail="on purpose")
    assert ask(1, 2) == kept


def test_a_start_in_the_middle_begins_anew(client):
    for model, first in (("sum_zero", 0), ("sum_file", sequence_models.FILE_STATE)):
        sequence = next(IDS)
        totals = []
        for place in range(6):
            answer = client.infer(model, [client.input("INPUT", np.array([[1]], np.int32))],
                                  sequence_id=sequence, sequence_start=place in (0, 3),
                                  sequence_end=place == 5)
            totals.append(answer.array("OUTPUT")[0, 0] - first)
        assert totals == [1, 2, 3, 1, 2, 3]


def test_nothing_leaks_from_one_sequence_to_the_next(client):
    """A state without an initial value is cleared: a client sees no byte of another one."""
    secret = np.full((1, 4096), 0x5EC2E7, np.int32)
    for _ in range(8):
        sequence = next(IDS)
        for place in range(3):
            answer = client.infer("leaking", [client.input("INPUT", secret)], sequence_id=sequence,
                                  **flags(place, 3))
            expected = 0 if place == 0 else 0x5EC2E7
            assert (answer.array("OUTPUT") == expected).all()


def test_the_initial_state_is_not_used_up(client):
    """Sequences that start while others are live get the state of the file."""
    ids = [next(IDS) for _ in range(4)]
    for place, sequence in enumerate(ids):
        for count in range(place + 1):
            answer = client.infer("sum_file", [client.input("INPUT", np.array([[1]], np.int32))],
                                  sequence_id=sequence, sequence_start=count == 0)
        assert answer.array("OUTPUT").tolist() == [[sequence_models.FILE_STATE + place + 1]]
    for sequence in ids:
        client.infer("sum_file", [client.input("INPUT", np.array([[1]], np.int32))],
                     sequence_id=sequence, sequence_end=True)
