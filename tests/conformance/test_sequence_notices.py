# SPDX-License-Identifier: Apache-2.0
"""Information about sequences that Triton does not give: notices of their ends for a backend that
requests them, and the list of live sequences."""

import pytest
import raw_http
from sequences import (ALL_CONTROLS, CONTROLS, Player, Plugin, batching, metric, parameter, pending,
                       wait_for, write_witness)

TOLD = parameter("sequence_end_notice", "true")
OLDEST = "oldest { max_candidate_sequences: 1 }"
STRATEGIES = {"direct": "direct { }", "oldest": OLDEST}
NO_CORRID = ALL_CONTROLS.replace(CONTROLS["CORRID"], "")


@pytest.fixture(scope="module", autouse=True)
def nereid_only(is_peer):
    if is_peer:
        pytest.skip("not in Triton")


@pytest.fixture(scope="module")
def notes():
    return {}


@pytest.fixture(scope="module")
def serving(start_server, test_plugins, notes):
    plugin = Plugin(test_plugins / "libtriton_witness.so")

    def write(root):
        def add(name, scheduling, **more):
            notes[name] = write_witness(root, name, plugin, scheduling, batch=1, **more)

        for name, strategy in STRATEGIES.items():
            add(f"{name}_told", batching(strategy), extra=TOLD)
            add(f"{name}_told_soon", batching(strategy, idle=300_000), extra=TOLD)
            add(f"{name}_not_told", batching(strategy, idle=300_000))
            add(f"{name}_listed", batching(strategy, controls=NO_CORRID))
        add("no_sequences", "")
    return start_server("notices", write, "--enable-sequence-listing=true")


@pytest.fixture
def player(serving, notes):
    made = []

    def make(model):
        made.append(Player(serving, model, notes[model]))
        return made[-1]

    yield make
    for one in made:
        one.close()


def live(server, model):
    return metric(server, "nereid_sequence_active", model)


# The notice.

@pytest.mark.parametrize("strategy", STRATEGIES)
def test_the_backend_is_told_of_an_idle_sequence(player, serving, strategy):
    p = player(f"{strategy}_told_soon")
    p.send("a0", 1, 10, "S")
    p.gone("a0")
    wait_for(lambda: len(p.executions()) == 2, "the notice")
    assert p.executions() == [[(1, 10, "S")], [(1, 0, "Ec")]]
    wait_for(lambda: live(serving, p.model) == 0, "the end")
    (notice,) = p.notes.executions()[-1]["rows"]
    assert notice["id"] == ""
    assert notice["inputs"] == {"INPUT": [0], "START": [0], "READY": [1], "END": [1], "CORRID": [1]}
    counts, _ = p.changes()
    assert counts["success"] == 1  # the second model did not request notices


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_the_backend_is_told_of_a_cancelled_sequence(player, serving, strategy):
    p = player(f"{strategy}_told")
    p.begin_held()
    p.send("a1", 1, 11)
    p.send("b0", 2, 20, "SE")  # waits for the slot
    p.cancel("a1")
    wait_for(lambda: pending(serving, p.model) == 1, "the cancellation")
    p.finish()
    # The slot is free when the backend has released the notice.
    assert p.executions() == [[(1, 10, "S")], [(1, 0, "Ec")], [(2, 20, "SE")]]
    wait_for(lambda: live(serving, p.model) == 0, "the end")


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_the_backend_is_not_told_of_what_it_knows(player, serving, strategy):
    """No notice is sent for an END that the backend has seen, or for a sequence of which it has
    seen nothing."""
    p = player(f"{strategy}_told")
    p.begin_held()
    p.send("b0", 2, 20, "S")
    p.cancel("b0")
    wait_for(lambda: pending(serving, p.model) == 0, "the cancellation")
    p.send("a1", 1, 11, "E")
    p.finish()
    p.send("c0", 3, 30, "SE")
    p.finish()
    assert p.executions() == [[(1, 10, "S")], [(1, 11, "E")], [(3, 30, "SE")]]


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_a_backend_that_does_not_ask_is_not_told(player, serving, strategy):
    p = player(f"{strategy}_not_told")
    p.send("a0", 1, 10, "S")
    p.gone("a0")
    wait_for(lambda: live(serving, p.model) == 0, "the end")
    p.send("b0", 2, 20, "SE")
    p.finish()
    assert p.executions() == [[(1, 10, "S")], [(2, 20, "SE")]]


# The list.

def listed(server, model, version=""):
    answer = raw_http.get(server, f"/v2/models/{model}{version}/sequences")
    assert answer.status == 200, answer.body
    return answer.json


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_the_list_of_sequences(player, serving, strategy):
    p = player(f"{strategy}_listed")
    assert listed(serving, p.model) == {"total": 0, "sequences": []}
    p.begin_held(sequence=7)
    p.send("a1", 7, 11)
    p.send("b0", "call-9", 20, "S")
    p.send("b1", "call-9", 21, "E")
    for version in ("", "/versions/1"):
        found = listed(serving, p.model, version)
        assert found["total"] == 2
        first, second = found["sequences"]
        assert first.pop("age_us") >= second.pop("age_us") >= 0
        assert first == {"id": 7, "state": "slot", "instance": f"{p.model}_0_0", "slot": 0,
                         "queued": 1, "executing": True, "ended": False, "idle_us": 0}
        assert second == {"id": "call-9", "state": "backlog", "queued": 2, "executing": False,
                          "ended": True, "idle_us": 0}
    p.send("a2", 7, 12, "E")
    p.finish()
    wait_for(lambda: listed(serving, p.model) == {"total": 0, "sequences": []}, "the end")
    p.send("c0", 8, 30, "S")
    p.gone("c0")

    def idle():
        (only,) = listed(serving, p.model)["sequences"]
        return (only["id"], only["queued"], only["executing"]) == (8, 0, False) and only["idle_us"]
    wait_for(idle, "idleness")


@pytest.mark.parametrize("path,text", [
    ("no_sequences", "model 'no_sequences' has no sequences"),
    ("none", "Request for unknown model: 'none' is not found"),
    ("direct_listed/versions/2", "Request for unknown model: 'direct_listed' version 2")])
def test_no_list(serving, path, text):
    answer = raw_http.get(serving, f"/v2/models/{path}/sequences")
    assert answer.status in (400, 404)
    assert text in answer.error


def test_nothing_is_listed_unless_enabled(start_server, test_plugins):
    def write(root):
        write_witness(root, "secret", Plugin(test_plugins / "libtriton_witness.so"), batching())
    server = start_server("unlisted", write)
    answer = raw_http.get(server, "/v2/models/secret/sequences")
    assert answer.status == 404
    assert "--enable-sequence-listing=true" in answer.error
