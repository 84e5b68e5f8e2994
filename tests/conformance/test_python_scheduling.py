# SPDX-License-Identifier: Apache-2.0
"""Python models under the schedulers: batches, instances, warm-up, ensembles, sequences, statistics."""

import concurrent.futures

import grpc_raw
import numpy as np
import pytest
import raw_http
from processes import children
from python_server import metrics, snippet, wait_until

MODELS = ["snippets", "batched", "crew", "warmed", "summed", "chained", "rows"]


def total(server, model, values, sequence, start=False, end=False):
    body = {"inputs": [raw_http.tensor("IN", "INT32", [1, len(values)], values)],
            "parameters": {"sequence_id": sequence, "sequence_start": start, "sequence_end": end}}
    reply = raw_http.infer(server, model, body)
    assert reply.status == 200, reply.body
    return reply.json["outputs"][0]["data"][0]


def counted(server, model):
    """Returns the numbers of the model's executions and inferences, and of its batches by size."""
    told = stats(server, model)
    return (told["execution_count"], told["inference_count"],
            {batch["batch_size"]: batch["compute_infer"]["count"] for batch in told["batch_stats"]})


def test_requests_come_together(python):
    """Four requests of a model with the preferred batch of four are one call of execute(). The
    statistics count one execution, four inferences and one batch of four."""
    executions, inferences, batches = counted(python, "batched")

    def one(_):
        return raw_http.infer(python, "batched", {
            "inputs": [raw_http.tensor("IN", "INT32", [1, 1], [1])]}).json["outputs"][0]["data"][0]
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        assert list(pool.map(one, range(4))) == [4, 4, 4, 4]
    batches[4] = batches.get(4, 0) + 1
    expected = (executions + 1, inferences + 4, batches)
    wait_until(lambda: counted(python, "batched") == expected, f"the statistics are {expected}")


def test_tensors_of_a_batch_are_separate(python):
    """Requests of one, two and one rows: each keeps its own tensor."""
    def one(values):
        reply = raw_http.infer(python, "rows", {"inputs": [
            raw_http.tensor("IN", "INT32", [len(values), 1], values)]})
        return reply.json["outputs"][0]["data"], reply.json["outputs"][0]["shape"]
    with concurrent.futures.ThreadPoolExecutor(3) as pool:
        answers = list(pool.map(one, [[1], [2, 3], [4]]))
    assert answers == [([1, 3], [1, 2]), ([2, 3, 3, 3], [2, 2]), ([4, 3], [1, 2])]


def test_every_instance_works(python):
    """Four requests at once reach four instances, each in its own process."""
    body = {"inputs": [raw_http.tensor("MS", "INT32", [1], [300])]}
    processes_of = {}

    def one(_):
        outputs = raw_http.infer(python, "crew", body).json["outputs"]
        told = {output["name"]: output["data"][0] for output in outputs}
        processes_of.setdefault(told["WHO"], set()).add(told["PID"])
        return told["WHO"]

    def all_four():
        with concurrent.futures.ThreadPoolExecutor(4) as pool:
            return sorted(pool.map(one, range(4))) == [f"hands_{i}" for i in range(4)]
    wait_until(all_four, "four instances")
    assert {len(pids) for pids in processes_of.values()} == {1}
    pids = set.union(*processes_of.values())
    assert len(pids) == 4 and pids <= set(children(python.process.pid))


def test_warm_up_came_before_the_first_request(python_client):
    answer = python_client.infer(
        "warmed", [python_client.input("IN", np.zeros((1, 3), np.float32))])
    assert answer.array("CALLS")[0, 0] >= 1


def test_an_ensemble_of_python_models(python_client):
    """chained sends its input through rows twice."""
    answer = python_client.infer(
        "chained", [python_client.input("IN", np.array([[5]], np.int32))])
    assert answer.array("OUT").shape == (1, 2)
    assert answer.array("OUT")[0, 0] == 5


def test_sequences(python):
    """The model sees the flags and ids of sequences and keeps a sum for each."""
    assert total(python, "summed", [1], 7, start=True) == 1
    assert total(python, "summed", [10], 8, start=True) == 10
    assert total(python, "summed", [2], 7) == 3
    assert total(python, "summed", [20], 8, end=True) == 30
    assert total(python, "summed", [3], 7, end=True) == 6
    assert total(python, "summed", [4], 7, start=True, end=True) == 4


# Statistics


def stats(server, model):
    (told,) = raw_http.get(server, f"/v2/models/{model}/stats").json["model_stats"]
    return told


def test_statistics_of_executions(python, python_client):
    before = stats(python, "snippets")
    for _ in range(3):
        snippet(python_client, "import time\ntime.sleep(0.02)")
    after = stats(python, "snippets")
    assert after["inference_count"] == before["inference_count"] + 3
    assert after["execution_count"] == before["execution_count"] + 3
    success = {key: after["inference_stats"][key]["ns"] - before["inference_stats"][key]["ns"]
               for key in ("success", "queue", "compute_input", "compute_infer", "compute_output")}
    assert success["compute_infer"] >= 3 * 15_000_000
    assert success["success"] >= success["compute_infer"]
    assert min(success.values()) >= 0


def test_a_request_that_is_answered_with_an_error_has_failed(python, python_client):
    """The execution has succeeded."""
    before = stats(python, "snippets")["inference_stats"]
    status, _ = python_client.error(python_client.infer, "snippets", [python_client.input(
        "CODE", np.array([b"return pb_utils.InferenceResponse(error=pb_utils.TritonError('no'))"],
                         np.object_))])
    assert status in (500, "INTERNAL")
    after = stats(python, "snippets")["inference_stats"]
    assert after["fail"]["count"] == before["fail"]["count"] + 1
    assert after["success"]["count"] == before["success"]["count"]


def test_a_failed_execution_counts_as_failed(python, python_client):
    shown = {k: v for k, v in metrics(python).items()
             if k.startswith("nv_inference_request_failure{") and 'reason="BACKEND"' in k
             and 'model="snippets"' in k}
    before = stats(python, "snippets")["inference_stats"]
    # A snippet that ends execute() itself: the exception is no Exception.
    python_client.error(python_client.infer, "snippets", [python_client.input(
        "CODE", np.array([b"raise SystemExit(1)"], np.object_))])
    after = stats(python, "snippets")["inference_stats"]
    assert after["fail"]["count"] == before["fail"]["count"] + 1
    assert after["success"]["count"] == before["success"]["count"]
    later = metrics(python)
    assert sum(later[k] for k in shown) == sum(shown.values()) + 1


def test_rows_are_inferences(python):
    before = stats(python, "rows")["inference_count"]
    grpc_raw.call(python, "ModelInfer", grpc_raw.infer_request(
        "rows", [grpc_raw.tensor("IN", "INT32", [3, 1])],
        [np.array([1, 2, 3], np.int32).tobytes()]))
    assert stats(python, "rows")["inference_count"] == before + 3


@pytest.mark.parametrize("protocol", ["http", "grpc"])
def test_a_batch_that_is_too_large(python, connect, protocol):
    client = connect(protocol, python)
    status, text = client.error(client.infer, "rows", [
        client.input("IN", np.zeros((100, 1), np.int32))])
    assert status in (400, "INVALID_ARGUMENT") and "batch-size" in text
