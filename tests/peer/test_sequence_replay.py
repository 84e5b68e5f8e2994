# SPDX-License-Identifier: Apache-2.0
"""Plays the scenarios of sequence_scenarios.py on the real Triton and on Nereid: answers,
executions row by row, and statistics must be equal, except for those in SEQUENCE_DIFFERENCES."""

import re
import shutil
from concurrent.futures import ThreadPoolExecutor

import pytest
from sequence_differences import SEQUENCE_DIFFERENCES
from sequence_scenarios import SCENARIOS
from sequences import Player, Plugin, controls, row, write_witness

BY_ID = {scenario.id: scenario for scenario in SCENARIOS}
AT_ONCE = 6
ATTEMPTS = 3


@pytest.fixture(scope="module")
def servers(request, start_triton, start_nereid, peer):
    """{name: (server, {scenario: notes})}"""
    assert shutil.which("patchelf"), "tools/peer/fetch_triton.sh installs patchelf"
    build = request.config.option.build.resolve()
    library = build / "tests" / "plugins" / "libtriton_witness.so"
    made = {}

    def start(name, start_one, plugin):
        notes = {}

        def write(root):
            for one in SCENARIOS:
                notes[one.id] = write_witness(root, one.id, plugin, one.scheduling,
                                              batch=one.batch, count=one.count, dims=one.dims,
                                              datatype=one.datatype, extra=one.extra)
        made[name] = (start_one(f"sequences_{name}", write), notes)

    start("triton", start_triton, Plugin(library, peer))
    start("nereid", start_nereid, Plugin(library))
    return made


def seen_by(player, scenario):
    """Returns the compared results of one play. They do not contain the instances and the ids that
    the server chose."""
    executions = player.by_instance(controls if scenario.raw else row)
    if scenario.renumber:
        executions = renumbered(executions)
    if scenario.anywhere:
        executions = [[rows for of_instance in executions for rows in of_instance]]
    if not scenario.exact:
        executions = [by_sequence(rows) for rows in executions]
    counts, batches = player.changes()
    seen = {"outcomes": {name: plain(outcome) for name, outcome in player.outcomes().items()},
            "executions": executions, "counts": counts}
    if scenario.exact:
        seen["batches"] = batches
    else:
        counts.pop("execution_count", None)
    return seen


def plain(outcome):
    """Removes from an error's text the parts that differ on purpose: the request, which Nereid
    always names and 2.51 only in some errors, and the explanation of batch dimensions."""
    if not isinstance(outcome, str):
        return outcome
    return re.sub(r"\[request id: [^]]*\] ", "", outcome).split(" NOTE: ")[0]


def by_sequence(executions):
    """{sequence: its rows in the order of their executions}."""
    found = {}
    for rows in executions:
        for one in rows:
            found.setdefault(one[0], []).append(one)
    return found


def renumbered(executions):
    """Returns the sequences numbered in the order of their first execution."""
    numbers = {0: 0}
    return [[[(numbers.setdefault(one[0], len(numbers)), *one[1:]) for one in rows]
             for rows in of_instance] for of_instance in executions]


def play_one(server, notes, scenario):
    with Player(server, scenario.id, notes) as player:
        scenario.play(player)
        player.finish()
        seen = seen_by(player, scenario)
        player.end_what_lives()
        return seen


def play(servers, scenario):
    with ThreadPoolExecutor(2) as pool:
        runs = {name: pool.submit(play_one, server, notes[scenario.id], scenario)
                for name, (server, notes) in servers.items()}
        return {name: run.result() for name, run in runs.items()}


@pytest.fixture(scope="module")
def first_runs(servers, request):
    """Every selected scenario's first run, several at once."""
    selected = {item.callspec.params["scenario"] for item in request.session.items
                if item.name.startswith("test_sequence_replay[")}
    with ThreadPoolExecutor(AT_ONCE) as pool:
        runs = {i: pool.submit(play, servers, BY_ID[i]) for i in sorted(selected)}
        return {i: run.exception() or run.result() for i, run in runs.items()}


def complaints(seen, difference):
    """Returns the deviations from the expected results: equality, or the listed difference."""
    found = []
    for what in seen["triton"]:
        for name in ("triton", "nereid"):
            expected = difference.get(name, {}).get(what)
            if expected is not None and seen[name][what] != expected:
                found.append(f"{what} of {name}: {seen[name][what]}, SEQUENCE_DIFFERENCES says "
                             f"{expected}")
        listed = difference.get("triton", {}).get(what) or difference.get("nereid", {}).get(what)
        if listed is None and seen["triton"][what] != seen["nereid"][what]:
            found.append(f"{what}:\n  Triton {seen['triton'][what]}\n  Nereid "
                         f"{seen['nereid'][what]}")
    return found


@pytest.mark.parametrize("scenario", BY_ID)
def test_sequence_replay(servers, first_runs, scenario):
    seen = first_runs[scenario]
    if isinstance(seen, BaseException):
        raise seen
    difference = SEQUENCE_DIFFERENCES.get(scenario, {})
    found = complaints(seen, difference)
    for _ in range(ATTEMPTS - 1):
        if found:
            found = complaints(play(servers, BY_ID[scenario]), difference)
    if found:
        pytest.fail("\n".join(found), pytrace=False)


def test_every_difference_has_a_scenario_and_a_reason():
    assert set(SEQUENCE_DIFFERENCES) <= set(BY_ID)
    assert all(difference["why"] for difference in SEQUENCE_DIFFERENCES.values())
