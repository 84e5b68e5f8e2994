# SPDX-License-Identifier: Apache-2.0
"""Scheduling of sequences: the figures of the sequence document row by row, and the requests that
clients may send. (tests/peer/test_sequence_replay.py compares Triton and Nereid in a hundred
scenarios.)"""

import itertools
import json
import re
import time
from concurrent.futures import ThreadPoolExecutor

import grpc
import numpy as np
import pytest
import raw_http
import sequence_models
import tritonclient.grpc as grpc_client
from clients import TRANSPORTS, Transport
from raw_http import Wire, head
from sequence_models import picture
from sequences import Player, Plugin, batching, parameter, pending, wait_for, write_witness

IDS = itertools.count(10)


@pytest.fixture(scope="module")
def notes():
    return {}


@pytest.fixture(scope="module")
def plugin(request, test_plugins):
    peer = request.config.option.peer
    return Plugin(test_plugins / "libtriton_witness.so", peer and peer.resolve())


@pytest.fixture(scope="module")
def serving(start_server, plugin, test_plugins, notes):
    def write(root):
        notes.update(sequence_models.write_figures(root, test_plugins / "libtriple_operator.so"))
        notes["witness"] = write_witness(root, "witness", plugin, batching())
        notes["oldest"] = write_witness(root, "oldest", plugin,
                                        batching("oldest { max_candidate_sequences: 4 }"))
        notes["narrow"] = write_witness(root, "narrow", plugin, batching(), batch=1)
        notes["plain"] = write_witness(root, "plain", plugin, batching(controls=""))
        notes["forgetful"] = write_witness(root, "forgetful", plugin, batching(idle=500_000),
                                           batch=1)
        notes["iterating"] = write_witness(
            root, "iterating", plugin,
            batching("oldest { max_candidate_sequences: 4 }", idle=200_000,
                     extra="iterative_sequence: true\n"),
            extra=parameter("iterations", 3))
    return start_server("sequences", write)


@pytest.fixture(params=TRANSPORTS)
def client(request, serving, connect):
    return connect(request.param, serving)


@pytest.fixture
def pool():
    with ThreadPoolExecutor(16) as made:
        yield made


class Figure:
    """Plays a figure of the document: requests of named sequences that wait for each other."""

    def __init__(self, transport, server, loop, notes, model, pool):
        self.transport, self.server, self.loop = transport, server, loop
        self.model, self.pool = model, pool
        self.notes = notes[model]
        self.first = len(self.notes.executions())
        self.ids = {}
        self.sent = {}

    def hold(self):
        self.notes.allow(len(self.notes.executions()))

    def begun(self, count):
        wait_for(lambda: len(self.notes.executions()) - self.first >= count, f"execution {count}")

    def send(self, name, flags=""):
        """`name` is a letter for the sequence and the number of the request in it. Returns when the
        server has the request."""
        sequence = self.ids.setdefault(name[0], next(IDS))
        waiting = pending(self.server, self.model)
        begun = len(self.notes.executions())
        self.sent[name] = self.pool.submit(
            self.ask, picture(sequence * 100 + int(name[1])), sequence_id=sequence,
            sequence_start="S" in flags, sequence_end="E" in flags)
        wait_for(lambda: self.sent[name].done() or len(self.notes.executions()) > begun
                 or pending(self.server, self.model) > waiting, f"the arrival of {name}")

    def ask(self, array, **more):
        """Uses its own client, because a synchronous client may be used by one thread only."""
        client = Transport(self.transport, self.server, self.loop)
        try:
            return client.infer(self.model, [client.input("INPUT", array)], **more)
        finally:
            client.close()

    def answer(self, name):
        """Checks OUTPUT and returns {tensor: values}."""
        answer = self.sent[name].result(60)
        number = self.ids[name[0]] * 100 + int(name[1])
        assert answer.array("OUTPUT").tolist() == [[number] * 10]
        return {n: answer.array(n)[0].tolist() for n in answer.names if n != "OUTPUT"}

    def letters(self, row):
        names = {number: letter for letter, number in self.ids.items()}
        return "".join(names.get(number, "-") for number in row)


@pytest.fixture
def figure(client, serving, loop, notes, pool):
    made = []

    def make(model):
        made.append(Figure(client.name, serving, loop, notes, model, pool))
        return made[-1]

    yield make
    for one in made:
        one.notes.open()


def test_direct_figure(figure):
    """START and READY over time, of two slots: first one slot, then both, then slot by slot, then
    another sequence in the first slot."""
    f = figure("direct_stateful_model")
    f.send("a0", "S")
    assert f.answer("a0") == {"START_ROW": [1], "READY_ROW": [1]}

    f.hold()  # two requests close in time: while the instance executes a1
    f.send("a1")
    f.begun(2)
    f.send("a2")
    f.send("b0", "S")
    f.notes.open()
    assert f.answer("a1") == {"START_ROW": [0], "READY_ROW": [1]}
    assert f.answer("a2") == f.answer("b0") == {"START_ROW": [0, 1], "READY_ROW": [1, 1]}

    f.send("b1")  # only slot 1
    assert f.answer("b1") == {"START_ROW": [0, 0], "READY_ROW": [0, 1]}
    f.send("a3")  # only slot 0
    assert f.answer("a3") == {"START_ROW": [0], "READY_ROW": [1]}

    f.hold()
    f.send("a4", "E")
    f.begun(6)
    f.send("b2")
    f.send("c0", "S")  # takes the slot of a
    f.notes.open()
    assert f.answer("b2") == f.answer("c0") == {"START_ROW": [1, 0], "READY_ROW": [1, 1]}
    f.send("b3", "E")
    assert f.answer("b3") == {"START_ROW": [0, 0], "READY_ROW": [0, 1]}
    f.send("c1", "E")
    assert f.answer("c1") == {"START_ROW": [0], "READY_ROW": [1]}


def test_direct_figure_backlog(figure):
    """Sequences 0 to 5 on two instances with two slots each: four at once, the fifth and the sixth
    in the slots that become free first."""
    f = figure("direct_two_instances")
    for letter in "abcd":
        f.send(f"{letter}0", "S")
        rows = f.answer(f"{letter}0")
        assert rows["START_ROW"][-1] == 1
        assert rows["READY_ROW"] == ([1] if letter in "ab" else [0, 1])
    f.send("e0", "S")
    f.send("f0", "S")
    f.send("e1")
    assert not any(f.sent[name].done() for name in ("e0", "f0", "e1"))
    f.send("c1", "E")  # e moves into the second slot of the first instance
    f.answer("c1")
    assert f.answer("e0")["READY_ROW"] == [0, 1] and f.answer("e0")["START_ROW"][1] == 1
    assert f.answer("e1")["START_ROW"][1] == 0
    assert not f.sent["f0"].done()
    f.send("b1", "E")  # f into the first slot of the second
    f.answer("b1")
    assert f.answer("f0") == {"START_ROW": [1], "READY_ROW": [1]}
    for letter, number in (("a", 1), ("d", 1), ("e", 2), ("f", 1)):
        f.send(f"{letter}{number}", "E")
        f.answer(f"{letter}{number}")


def test_oldest_figure(figure):
    """Sequences A to D, batches of the two oldest requests, never two of the same sequence."""
    f = figure("oldest_stateful_model")
    f.hold()
    f.send("A0", "S")
    f.begun(1)
    lengths = {"A": 4, "B": 3, "C": 3, "D": 5}
    for number in range(5):
        for letter in "ABCD":
            if number < lengths[letter] and (letter, number) != ("A", 0):
                f.send(f"{letter}{number}", "S" if number == 0 else
                       "E" if number == lengths[letter] - 1 else "")
    f.notes.open()
    seen = {name: f.answer(name) for name in f.sent}
    for name, rows in seen.items():
        batch = f.letters(rows["CORRID_ROW"])
        assert name[0] in batch and len(batch) == len(set(batch)) <= 2
        place = batch.index(name[0])
        assert rows["START_ROW"][place] == (name[1] == "0")
        assert rows["END_ROW"][place] == (int(name[1]) == lengths[name[0]] - 1)
    assert f.letters(seen["A0"]["CORRID_ROW"]) == "A"
    # The two oldest waiting requests are the first batch after A0: B0 and C0.
    assert f.letters(seen["B0"]["CORRID_ROW"]) == f.letters(seen["C0"]["CORRID_ROW"]) == "BC"
    # The last two requests of D, the longest sequence, are executed separately.
    assert f.letters(seen["D4"]["CORRID_ROW"]) == "D"


# The requests of a client.

def ask(client, model, sequence, value=1, **more):
    return client.infer(model, [client.input("INPUT", np.array([[value]], np.int32))],
                        sequence_id=sequence, **more).array("OUTPUT").tolist()


def test_a_sequence_must_start(client):
    sequence = next(IDS)
    text = (f"inference request for sequence {sequence} to model 'witness' must specify the START "
            "flag on the first request of the sequence")
    client.expect("INVALID_ARG", text, ask, client, "witness", sequence)
    client.expect("INVALID_ARG", text, ask, client, "witness", sequence, sequence_end=True)
    ask(client, "witness", sequence, sequence_start=True)
    ask(client, "witness", sequence, sequence_end=True)
    client.expect("INVALID_ARG", text, ask, client, "witness", sequence)


@pytest.mark.parametrize("sequence", [0, ""])
def test_no_id(client, sequence):
    client.expect("INVALID_ARG", "inference request to model 'witness' must specify a non-zero or "
                  "non-empty correlation ID", ask, client, "witness", sequence,
                  sequence_start=True)


def test_one_request_at_a_time(client):
    array = np.array([[1], [2]], np.int32)
    client.expect("INVALID_ARG", "inference request to model 'witness' must specify batch-size 1 "
                  "due to requirements of sequence batcher", client.infer, "witness",
                  [client.input("INPUT", array)], sequence_id=next(IDS), sequence_start=True)


def test_the_longest_text_id(client):
    for length, fits in ((128, True), (129, False)):
        sequence = "x" * length
        if fits:
            assert ask(client, "plain", sequence, 4, sequence_start=True,
                       sequence_end=True) == [[4]]
        else:
            client.expect("UNSUPPORTED", "string correlation ID cannot be longer than 128 "
                          "characters", ask, client, "plain", sequence, sequence_start=True)


def test_start_twice(client, notes):
    sequence = next(IDS)
    first = len(notes["witness"].executions())
    for flags in ({"sequence_start": True}, {}, {"sequence_start": True}, {"sequence_end": True}):
        ask(client, "witness", sequence, **flags)
    rows = [row for e in notes["witness"].executions()[first:] for row in e["rows"] if row["id"]
            or row["sequence"]]
    assert [(row["inputs"]["START"], row["inputs"]["END"]) for row in rows] == [
        ([1], [0]), ([0], [0]), ([1], [0]), ([0], [1])]


def test_wide_ids(client, notes):
    for sequence in (2**63 - 1, 2**32, 1):
        ask(client, "witness", sequence, sequence_start=True, sequence_end=True)
        assert notes["witness"].executions()[-1]["rows"][-1]["inputs"]["CORRID"] == [sequence]


def test_the_widest_ids_over_http(serving, notes):
    for sequence in (2**64 - 1, 2**63):
        answer = raw_http.infer(serving, "witness", {
            "parameters": {"sequence_id": sequence, "sequence_start": True, "sequence_end": True},
            "inputs": [raw_http.tensor("INPUT", "INT32", [1, 1], [5])]})
        assert answer.status == 200, answer.body
        assert notes["witness"].executions()[-1]["rows"][-1]["sequence"] == sequence


def test_a_sequence_over_all_protocols(serving, connect):
    """The client of a request does not matter: the id identifies the sequence."""
    sequence = next(IDS)
    for place, name in enumerate(TRANSPORTS):
        client = connect(name, serving)
        assert ask(client, "narrow", sequence, place, sequence_start=place == 0,
                   sequence_end=place == len(TRANSPORTS) - 1) == [[place]]


# Ends of sequences.

@pytest.fixture
def player(serving, notes):
    made = []

    def make(model):
        made.append(Player(serving, model, notes[model]))
        return made[-1]

    yield make
    for one in made:
        one.close()


def test_the_statistics_count_no_null_requests(player):
    p = player("witness")
    p.hold()
    p.send("a0", 1, 1, "S")
    p.begun(1)
    p.send("b0", 2, 2, "S")
    p.send("c0", 3, 3, "S")
    p.finish()
    p.send("c1", 3, 4, "E")
    p.finish()
    p.send("b1", 2, 5, "E")
    p.send("a1", 1, 6, "E")
    p.finish()
    counts, batches = p.changes()
    assert counts["success"] == counts["inference_count"] == 6
    assert counts["execution_count"] == sum(batches.values())
    assert p.executions()[1:3] == [[(0, None, "-"), (2, 2, "S"), (3, 3, "S")],
                                   [(0, None, "-"), (0, None, "-"), (3, 4, "E")]]
    assert batches[3] == 2


def test_a_lost_client_frees_the_slot_in_time(player):
    """A client vanishes in the middle of its sequence: the next sequence gets the slot after
    max_sequence_idle_microseconds."""
    p = player("forgetful")
    with grpc.insecure_channel(p.server.grpc):
        p.send("a0", 1, 1, "S")
    p.gone("a0")
    p.send("b0", 2, 2, "S")
    p.send("b1", 2, 3, "E")
    p.finish()
    assert p.executions() == [[(1, 1, "S")], [(2, 2, "S")], [(2, 3, "E")]]
    p.send("a1", 1, 4)
    assert "must specify the START flag" in p.outcome("a1")


def test_an_iteration_that_outlives_the_idle_time_is_the_last(player):
    """The backend cannot reschedule the request; its answer is the error of the scheduler."""
    p = player("iterating")
    p.hold(after=1)
    p.send("a", None, 5, arrive=False)
    p.begun(2)
    time.sleep(0.5)
    p.finish()
    code, _, text = p.outcome("a").partition(": ")
    assert code == "INVALID_ARGUMENT"
    assert re.fullmatch(r"inference request for sequence \d+ to model 'iterating' must specify the "
                        "START flag on the first request of the sequence", text), text
    assert len(p.executions()) == 2
    p.send("b", None, 6)
    p.finish()
    assert p.outcome("b") == 6
    assert len(p.executions()) == 5


@pytest.mark.parametrize("request_id", ["", "mine"])
def test_errors_of_the_batcher_have_no_prefix(serving, request_id):
    """The errors are the same for requests with and without an id."""
    def ask(batch=1, **parameters):
        document = {"id": request_id, "parameters": parameters,
                    "inputs": [raw_http.tensor("INPUT", "INT32", [batch, 1], [1] * batch)]}
        answer = raw_http.infer(serving, "witness", document)
        assert answer.status == 400
        return answer.error

    assert ask(sequence_id=4711) == (
        "inference request for sequence 4711 to model 'witness' must specify the START flag on the "
        "first request of the sequence")
    assert ask() == ("inference request to model 'witness' must specify a non-zero or non-empty "
                     "correlation ID")
    assert ask(2, sequence_id=4711, sequence_start=True) == (
        "inference request to model 'witness' must specify batch-size 1 due to requirements of "
        "sequence batcher")


def test_a_closed_connection_cancels_the_sequence(player, serving):
    """Requests that wait when their client's connection closes are not executed, and neither are
    the later requests of their sequence."""
    p = player("narrow")
    p.hold()
    p.send("a0", 1, 1, "S")
    p.begun(1)
    with grpc.insecure_channel(serving.grpc, options=[
            ("grpc.use_local_subchannel_pool", 1)]) as channel:
        own, p.stub = p.stub, grpc_client.service_pb2_grpc.GRPCInferenceServiceStub(channel)
        p.send("b0", 2, 2, "S")
        p.send("b1", 2, 3)
        p.stub = own
    p.send("c0", 3, 4, "SE")
    p.send("a1", 1, 5, "E")
    p.finish()
    assert p.executions() == [[(1, 1, "S")], [(1, 5, "E")], [(3, 4, "SE")]]
    counts, _ = p.changes()
    assert counts["fail"] == counts["fail CANCELED"] == 2


def test_a_closed_http_connection_cancels_the_sequence(player, serving):
    p = player("narrow")
    p.hold()
    p.send("a0", 1, 1, "S")
    p.begun(1)
    body = json.dumps({"id": "b0", "parameters": {"sequence_id": 2, "sequence_start": True},
                       "inputs": [raw_http.tensor("INPUT", "INT32", [1, 1], [2])]}).encode()
    with Wire(serving) as wire:
        waiting = pending(serving, "narrow")
        wire.send(head("POST", raw_http.infer_path("narrow"), f"Content-Length: {len(body)}"))
        wire.send(body)
        wait_for(lambda: pending(serving, "narrow") > waiting)
    wait_for(lambda: pending(serving, "narrow") == waiting)
    p.send("a1", 1, 5, "E")
    p.finish()
    p.send("b1", 2, 6)
    assert "must specify the START flag" in p.outcome("b1")
    assert p.executions() == [[(1, 1, "S")], [(1, 5, "E")]]


def test_a_deadline_in_the_backlog(player):
    p = player("narrow")
    p.hold()
    p.send("a0", 1, 1, "S")
    p.begun(1)
    p.send("b0", 2, 2, "S", deadline=0.2)
    p.gone("b0")
    assert p.outcome("b0").startswith("DEADLINE_EXCEEDED")
    p.send("c0", 3, 3, "SE")
    p.send("a1", 1, 4, "E")
    p.finish()
    assert p.executions() == [[(1, 1, "S")], [(1, 4, "E")], [(3, 3, "SE")]]


def test_a_slot_is_given_to_one_sequence(player):
    """An END that is followed by a cancellation of its sequence frees the slot once: each of the
    next two sequences has its own slot."""
    p = player("narrow")
    p.hold()
    p.send("a0", 1, 1, "S")
    p.begun(1)
    p.send("a1", 1, 2, "E")
    p.cancel("a0")
    p.cancel("a1")
    p.send("b0", 2, 3, "S")
    p.send("c0", 3, 4, "S")
    p.notes.open()
    p.gone("b0")
    assert not p.futures["c0"].done()
    p.send("b1", 2, 5, "E")
    p.send("c1", 3, 6, "E")
    p.finish()
    assert [rows for rows in p.executions() if rows[0][0] != 1] == [
        [(2, 3, "S")], [(2, 5, "E")], [(3, 4, "S")], [(3, 6, "E")]]
