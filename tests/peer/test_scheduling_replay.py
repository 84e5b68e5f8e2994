# SPDX-License-Identifier: Apache-2.0
"""Plays the scenarios of scheduling_scenarios.py on the real Triton and on Nereid: batches,
statistics, errors and order of answers must be equal, except for those in DIFFERENCES.

All scenarios run at once, each with its own model. A scenario whose results differ runs again
alone, because a busy machine may have swapped two events.
"""

from concurrent.futures import ThreadPoolExecutor

import models
import pytest
import replay
from scheduling_differences import DIFFERENCES
from scheduling_scenarios import SCENARIOS

BY_ID = {scenario.id: scenario for scenario in SCENARIOS}
AT_ONCE = 24
ATTEMPTS = 3


def write(root):
    repository = models.Repository(root)
    for scenario in SCENARIOS:
        replay.write(scenario, repository)


@pytest.fixture(scope="module")
def servers(start_triton, start_nereid):
    with ThreadPoolExecutor(2) as pool:
        triton = pool.submit(start_triton, "replay_triton", write)
        nereid = pool.submit(start_nereid, "replay_nereid", write)
        return {"triton": triton.result(), "nereid": nereid.result()}


def play(servers, scenario):
    """Returns {server: Seen} of both servers at the same time."""
    with ThreadPoolExecutor(2) as pool:
        runs = {name: pool.submit(replay.play, server, scenario)
                for name, server in servers.items()}
        return {name: run.result() for name, run in runs.items()}


@pytest.fixture(scope="module")
def first_runs(servers, request):
    """Every selected scenario's first run, many at once."""
    selected = {item.callspec.params["scenario"] for item in request.session.items
                if item.name.startswith("test_replay[")}
    with ThreadPoolExecutor(AT_ONCE) as pool:
        runs = {i: pool.submit(play, servers, BY_ID[i]) for i in sorted(selected)}
        return {i: run.result() for i, run in runs.items()}


def complaints(seen, difference):
    """Returns the deviations from the expected results: equality, or the listed difference."""
    texts = []
    triton, nereid = seen["triton"].compared(), seen["nereid"].compared()
    for what in triton:
        expected = {name: difference.get(name, {}).get(what) for name in ("triton", "nereid")}
        if expected["nereid"] is None:
            if triton[what] != nereid[what]:
                texts.append(f"{what}: Triton {triton[what]}, Nereid {nereid[what]}")
            continue
        for name, value in (("triton", triton[what]), ("nereid", nereid[what])):
            if value != expected[name]:
                texts.append(f"{what} of {name}: {value}, DIFFERENCES says {expected[name]}")
    if "order" not in difference.get("nereid", {}):
        turned = replay.contradictions(seen["triton"], seen["nereid"])
        if turned:
            texts.append(f"order turned round: {turned}; {seen['triton'].finished} and "
                         f"{seen['nereid'].finished}")
    return texts


@pytest.mark.parametrize("scenario", BY_ID)
def test_replay(servers, first_runs, scenario):
    difference = DIFFERENCES.get(scenario, {})
    seen = first_runs[scenario]
    found = complaints(seen, difference)
    for _ in range(ATTEMPTS - 1):
        if found:
            found = complaints(play(servers, BY_ID[scenario]), difference)
    if found:
        pytest.fail("\n".join(found), pytrace=False)


def test_every_difference_has_a_scenario_and_a_reason():
    assert set(DIFFERENCES) <= set(BY_ID)
    assert all(difference["why"] for difference in DIFFERENCES.values())
