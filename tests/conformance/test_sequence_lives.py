# SPDX-License-Identifier: Apache-2.0
"""Sequences while their model changes: reloads, updates of instances, unloads; and the metrics of
sequences."""

import shutil

import pytest
import raw_http
from sequences import Player, Plugin, batching, instances, metric, wait_for, write_witness

DIRECT = "direct { }"
OLDEST = "oldest { max_candidate_sequences: 1 }"


@pytest.fixture(scope="module")
def notes():
    return {}


@pytest.fixture(scope="module")
def serving(request, start_server, test_plugins, notes):
    peer = request.config.option.peer
    plugin = Plugin(test_plugins / "libtriton_witness.so", peer and peer.resolve())

    def write(root):
        for name, strategy in (("direct", DIRECT), ("oldest", OLDEST)):
            for use in ("reload", "grow", "shrink", "unload", "count"):
                notes[f"{name}_{use}"] = write_witness(root, f"{name}_{use}", plugin,
                                                       batching(strategy), batch=1)
        notes["forgetful"] = write_witness(root, "forgetful", plugin,
                                           batching(DIRECT, idle=300_000), batch=1)
        for name, strategy in (("direct_version", DIRECT), ("direct_leave", DIRECT),
                               ("oldest_often", OLDEST), ("oldest_leave", OLDEST)):
            notes[name] = write_witness(root, name, plugin, batching(strategy), batch=1)
    return start_server("lives", write, "--model-control-mode=explicit", "--load-model=*")


@pytest.fixture
def player(serving, notes):
    made = []

    def make(model):
        made.append(Player(serving, model, notes[model]))
        return made[-1]

    yield make
    for one in made:
        one.close()


def load(server, model):
    answer = raw_http.request(server, "POST", f"/v2/repository/models/{model}/load", b"{}")
    assert answer.status == 200, answer.body


def instance_count(server, model, count):
    config = server.repository / model / "config.pbtxt"
    text = config.read_text()
    for old in (1, 2):
        text = text.replace(instances(old), instances(count))
    config.write_text(text)
    load(server, model)


MUST_START = "must specify the START flag on the first request of the sequence"


def change(server, model, text):
    """Replaces the model by another version of itself."""
    (server.repository / model / "1" / "changed").write_text(text)
    load(server, model)


@pytest.mark.parametrize("strategy", ["direct", "oldest"])
def test_a_sequence_survives_reloads(player, serving, strategy):
    p = player(f"{strategy}_reload")
    p.send("a0", 1, 10, "S")
    p.gone("a0")
    change(serving, p.model, "one")
    p.send("a1", 1, 11)
    p.send("b0", 2, 20, "S")
    p.gone("a1", "b0")
    change(serving, p.model, "two")
    p.send("a2", 1, 12)
    p.send("b1", 2, 21, "E")
    p.send("a3", 1, 13, "E")
    p.finish()
    assert p.outcomes() == {"a0": 10, "a1": 11, "a2": 12, "a3": 13, "b0": 20, "b1": 21}
    p.send("c0", 1, 30)
    assert MUST_START in p.outcome("c0")


@pytest.mark.parametrize("strategy", ["direct", "oldest"])
def test_a_sequence_that_begins_again_after_a_reload_is_new(player, serving, strategy):
    p = player(f"{strategy}_reload")
    p.send("a0", 1, 10, "S")
    p.gone("a0")
    change(serving, p.model, "again")
    p.send("a1", 1, 11, "S")
    p.send("a2", 1, 12, "E")
    p.finish()
    p.send("old", 1, 13, "E")  # the sequence of before, which nobody has ended
    p.finish()
    assert p.outcomes() == {"a0": 10, "a1": 11, "a2": 12, "old": 13}


def test_a_sequence_survives_a_new_version(player, serving):
    """Requests that name no version reach the version that has their sequence; requests that name
    one reach that version."""
    p = player("direct_version")
    folder = serving.repository / p.model
    p.send("a0", 1, 10, "S")
    p.gone("a0")
    shutil.copytree(folder / "1", folder / "2")
    load(serving, p.model)
    p.send("a1", 1, 11)
    p.send("b0", 2, 20, "SE", version="2")
    p.gone("a1", "b0")
    p.send("stranger", 1, 12, version="2")
    assert MUST_START in p.outcome("stranger")
    p.send("a2", 1, 13, "E")
    p.finish()
    assert p.outcomes() | {"stranger": 0} == {"a0": 10, "a1": 11, "a2": 13, "b0": 20,
                                              "stranger": 0}


def test_only_the_last_replaced_versions_keep_their_sequences(player, serving):
    p = player("oldest_often")
    for number in range(6):
        p.send(f"s{number}", number + 1, number, "S")
        p.gone(f"s{number}")
        change(serving, p.model, f"change {number}")
    for number in range(6):
        p.send(f"e{number}", number + 1, number, "E")
    p.finish()
    ends = [p.outcome(f"e{number}") for number in range(6)]
    assert MUST_START in ends[0] and MUST_START in ends[1], ends
    assert ends[2:] == [2, 3, 4, 5]


@pytest.mark.parametrize("strategy", ["direct", "oldest"])
def test_an_unload_after_a_reload_ends_all_sequences(player, serving, strategy):
    p = player(f"{strategy}_leave")
    p.send("a0", 1, 10, "S")
    p.gone("a0")
    change(serving, p.model, "one")
    unloaded = raw_http.request(serving, "POST", f"/v2/repository/models/{p.model}/unload", b"{}")
    assert unloaded.status == 200, unloaded.body
    load(serving, p.model)
    p.send("a1", 1, 11)
    assert MUST_START in p.outcome("a1")


@pytest.mark.parametrize("strategy", ["direct", "oldest"])
def test_a_reload_lets_run_what_runs(player, serving, strategy):
    """Requests that were accepted before the new model was ready are answered by the old one."""
    p = player(f"{strategy}_reload")
    p.hold()
    p.send("a0", 1, 10, "S")
    p.begun(1)
    p.send("a1", 1, 11)
    p.send("b0", 2, 20, "S")  # in the backlog
    p.send("a2", 1, 12, "E")
    p.send("b1", 2, 21, "E")
    (serving.repository / p.model / "1" / "changed").write_text("y")
    load(serving, p.model)
    p.finish()
    assert p.outcomes() == {"a0": 10, "a1": 11, "a2": 12, "b0": 20, "b1": 21}


@pytest.mark.parametrize("strategy", ["direct", "oldest"])
def test_a_new_instance_takes_the_backlog(player, serving, strategy):
    p = player(f"{strategy}_grow")
    p.send("a0", 1, 10, "S")
    p.gone("a0")
    p.send("b0", 2, 20, "S")
    assert not p.futures["b0"].done()
    instance_count(serving, p.model, 2)
    p.gone("b0")
    p.send("a1", 1, 11, "E")
    p.send("b1", 2, 21, "E")
    p.finish()
    assert p.outcomes() == {"a0": 10, "b0": 20, "a1": 11, "b1": 21}
    # Each sequence was always on one instance.
    assert sorted(len(rows) for rows in p.by_instance()) == [2, 2]


@pytest.mark.parametrize("strategy", ["direct", "oldest"])
def test_an_instance_goes_with_its_sequences_done(player, serving, is_peer, strategy):
    """With fewer instances, a live sequence continues to its end on its instance. New sequences get
    slots of the remaining instances."""
    p = player(f"{strategy}_shrink")
    instance_count(serving, p.model, 2)
    p.send("a0", 1, 10, "S")
    p.send("b0", 2, 20, "S")
    p.gone("a0", "b0")
    p.hold()
    p.send("a1", 1, 11, "E")
    p.send("b1", 2, 21, "E")
    p.begun(4)
    p.finish()
    instance_count(serving, p.model, 1)
    if not is_peer:
        wait_for(lambda: metric(serving, "nereid_sequence_slots", p.model) == 1)
    p.send("c0", 3, 30, "S")
    p.gone("c0")
    p.send("d0", 4, 40, "SE")
    assert not p.futures["d0"].done()
    p.send("c1", 3, 31, "E")
    p.finish()
    assert p.outcomes() == {"a0": 10, "a1": 11, "b0": 20, "b1": 21, "c0": 30, "c1": 31, "d0": 40}


@pytest.mark.parametrize("strategy", ["direct", "oldest"])
def test_an_unload_with_a_live_sequence(player, serving, strategy):
    p = player(f"{strategy}_unload")
    p.send("a0", 1, 10, "S")
    p.gone("a0")
    answer = raw_http.request(serving, "POST", f"/v2/repository/models/{p.model}/unload", b"{}")
    assert answer.status == 200
    wait_for(lambda: raw_http.get(serving, f"/v2/models/{p.model}/ready").status != 200)
    p.futures["a1"] = p.send("a1", 1, 11, arrive=False)
    p.gone("a1")
    assert "Request for unknown model" in p.outcome("a1")
    load(serving, p.model)
    p.notes.open()
    p.send("a2", 1, 12)
    assert MUST_START in p.outcome("a2")


# Nereid's own metrics.

@pytest.fixture
def figures(serving, is_peer):
    if is_peer:
        pytest.skip("Triton has no metrics of sequences")

    def read(model):
        names = ("active", "backlog", "slots", "slots_in_use")
        return tuple(int(metric(serving, f"nereid_sequence_{name}", model)) for name in names)
    return read


def ended(server, model, reason):
    page = raw_http.get(server, "/metrics", port=server.metrics_port).body.decode()
    return sum(float(line.split()[-1]) for line in page.splitlines()
               if line.startswith("nereid_sequence_ended_total{") and f'model="{model}"' in line
               and f'reason="{reason}"' in line)


@pytest.mark.parametrize("strategy", ["direct", "oldest"])
def test_metrics(player, serving, figures, strategy):
    p = player(f"{strategy}_count")
    assert figures(p.model) == (0, 0, 1, 0)
    p.hold()
    p.send("a0", 1, 10, "S")
    p.begun(1)
    p.send("b0", 2, 20, "S")
    p.send("c0", 3, 30, "S")
    assert figures(p.model) == (1, 2, 1, 1)
    before = ended(serving, p.model, "cancelled")
    p.cancel("c0")
    wait_for(lambda: figures(p.model) == (1, 1, 1, 1))
    assert ended(serving, p.model, "cancelled") == before + 1
    p.send("a1", 1, 11, "E")
    p.send("b1", 2, 21, "E")
    p.finish()
    wait_for(lambda: figures(p.model) == (0, 0, 1, 0))


def test_idle_ends_are_counted(player, serving, figures):
    p = player("forgetful")
    before = ended(serving, "forgetful", "idle")
    p.send("a0", 1, 10, "S")
    p.gone("a0")
    wait_for(lambda: figures("forgetful") == (0, 0, 1, 0))
    assert ended(serving, "forgetful", "idle") == before + 1
