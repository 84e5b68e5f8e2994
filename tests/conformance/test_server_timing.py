# SPDX-License-Identifier: Apache-2.0
"""The field Server-Timing, for clients that ask with Prefer: server-timing."""

import json
from concurrent.futures import ThreadPoolExecutor

import pytest
import raw_http
from models import type_model
from raw_http import tensor

ASKS = {"Prefer": "server-timing"}
NAMES = ["total", "queue", "compute_input", "compute_infer", "compute_output"]


@pytest.fixture(autouse=True)
def only_nereid(is_peer):
    if is_peer:
        pytest.skip("Triton has no such field")


def document(count=2):
    return {"inputs": [tensor("INPUT0", "INT32", [count], [7] * count)]}


def times(answer) -> dict:
    """Returns the durations in milliseconds."""
    entries = [entry.strip().split(";dur=") for entry in answer.headers["server-timing"].split(",")]
    assert [name for name, _ in entries] == NAMES
    return {name: float(duration) for name, duration in entries}


def test_times_of_a_request(server):
    answer = raw_http.infer(server, type_model("INT32", False), document(), headers=ASKS)
    assert answer.status == 200
    assert answer.json["outputs"][0]["data"] == [7, 7]
    found = times(answer)
    assert all(duration >= 0 for duration in found.values())
    assert found["total"] > 0
    assert sum(found.values()) - found["total"] <= found["total"] + 0.01


def test_times_of_a_slow_model(server):
    """Its execution takes longer than everything else."""
    found = times(raw_http.infer(server, "slow", document(4), headers=ASKS))
    compute = found["compute_input"] + found["compute_infer"] + found["compute_output"]
    assert compute > found["total"] / 2


def test_times_of_requests_that_wait(server):
    """More requests than instances: the last one waits for the others."""
    with ThreadPoolExecutor(3) as pool:
        answers = list(pool.map(
            lambda _: raw_http.infer(server, "slow", document(4), headers=ASKS), range(3)))
    longest = max((times(answer) for answer in answers), key=lambda found: found["total"])
    assert longest["queue"] > longest["total"] / 3


def test_only_when_asked_for(server):
    answer = raw_http.infer(server, type_model("INT32", False), document())
    assert "server-timing" not in answer.headers


def test_with_a_deadline_and_an_error(server):
    answer = raw_http.infer(server, type_model("INT32", False), document(),
                            headers={**ASKS, "grpc-timeout": "60S"})
    assert answer.status == 200
    assert times(answer)["total"] > 0
    wrong = {"inputs": [tensor("INPUT0", "FP32", [2], [1, 2])]}
    answer = raw_http.infer(server, type_model("INT32", False), wrong, headers=ASKS)
    assert answer.status == 400
    assert json.loads(answer.body)["error"]


def test_many_on_one_connection(server):
    body = json.dumps(document()).encode()
    path = raw_http.infer_path(type_model("INT32", False))
    with raw_http.Wire(server) as wire:
        for asks in (True, False) * 10:
            fields = ["Prefer: server-timing"] if asks else []
            wire.send(raw_http.head("POST", path, f"Content-Length: {len(body)}", *fields) + body)
            answer = wire.read()
            assert answer.status == 200
            assert ("server-timing" in answer.headers) == asks
