# SPDX-License-Identifier: Apache-2.0
"""Statistics: the exact counts, and that both protocols return the same numbers."""

import time

import numpy as np
import pytest
import raw_http


def stats(client, model, version=""):
    """The entries of one model as plain data; absent protobuf members filled with zero."""
    answer = client.json("get_inference_statistics", model, version)
    return [complete(m) for m in answer["model_stats"]]


def complete(model):
    for key in ("last_inference", "inference_count", "execution_count"):
        model.setdefault(key, 0)
    model.setdefault("batch_stats", [])
    for name in ("success", "fail", "queue", "compute_input", "compute_infer", "compute_output",
                 "cache_hit", "cache_miss"):
        duration = model["inference_stats"].setdefault(name, {})
        duration.setdefault("count", 0)
        duration.setdefault("ns", 0)
    for batch in model["batch_stats"]:
        for name in ("compute_input", "compute_infer", "compute_output"):
            batch.setdefault(name, {}).setdefault("count", 0)
            batch[name].setdefault("ns", 0)
    return model


def counts(model):
    return {k: v["count"] for k, v in model["inference_stats"].items()}


def batches(model):
    return {b["batch_size"]: b["compute_infer"]["count"] for b in model["batch_stats"]}


def counted(client, model):
    """Returns the statistics of a model's only version."""
    return stats(client, model)[0]


def wait_for_counts(client, model, successes, limit=10.0):
    """Repeats the call, because an answer may reach the client shortly before its request is
    counted."""
    end = time.monotonic() + limit
    while True:
        now = counted(client, model)
        if counts(now)["success"] >= successes or time.monotonic() > end:
            return now
        time.sleep(0.01)


def difference(before, after):
    return {k: after[k] - before.get(k, 0) for k in after if after[k] != before.get(k, 0)}


@pytest.mark.parametrize("model,sizes", [
    ("counted", [1]), ("counted", [1, 1, 1]), ("counted", [8]), ("counted", [2, 3, 2])])
def test_counts_of_batches(client, model, sizes):
    before = counted(client, model)
    for size in sizes:
        client.infer(model, [client.input("INPUT0", np.zeros((size, 4), np.int32))])
    after = wait_for_counts(client, model, counts(before)["success"] + len(sizes))
    assert after["inference_count"] - before["inference_count"] == sum(sizes)
    assert after["execution_count"] - before["execution_count"] == len(sizes)
    n = len(sizes)
    assert difference(counts(before), counts(after)) == {
        "success": n, "queue": n, "compute_input": n, "compute_infer": n, "compute_output": n}
    assert difference(batches(before), batches(after)) == {s: sizes.count(s) for s in sizes}


def test_model_without_batches_counts_size_one(client):
    before = counted(client, "counted_flat")
    for _ in range(3):
        client.infer("counted_flat", [client.input("INPUT0", np.zeros(4, np.int32))])
    after = wait_for_counts(client, "counted_flat", counts(before)["success"] + 3)
    assert after["inference_count"] - before["inference_count"] == 3
    assert difference(batches(before), batches(after)) == {1: 3}


def test_refused_requests_are_not_counted(client):
    before = counted(client, "counted")
    for shape in ((9, 4), (1, 3)):
        client.error(client.infer, "counted",
                     [client.input("INPUT0", np.zeros(shape, np.int32))])
    after = counted(client, "counted")
    assert counts(after) == counts(before)
    assert after["inference_count"] == before["inference_count"]
    assert after["last_inference"] == before["last_inference"]


def test_last_inference_is_the_time_of_day(client):
    before = time.time_ns() // 1_000_000
    client.infer("counted", [client.input("INPUT0", np.zeros((1, 4), np.int32))])
    end = time.monotonic() + 10
    while True:
        last = counted(client, "counted")["last_inference"]
        if last >= before or time.monotonic() > end:
            break
        time.sleep(0.01)
    assert before <= last <= time.time_ns() // 1_000_000


def test_durations_are_consistent(client):
    client.infer("counted", [client.input("INPUT0", np.zeros((4, 4), np.int32))])
    now = counted(client, "counted")["inference_stats"]
    parts = sum(now[k]["ns"] for k in ("queue", "compute_input", "compute_infer",
                                       "compute_output"))
    assert 0 < parts <= now["success"]["ns"]
    assert now["fail"] == {"count": 0, "ns": 0}
    assert now["cache_hit"] == {"count": 0, "ns": 0}
    assert now["cache_miss"] == {"count": 0, "ns": 0}


def test_untouched_model_is_all_zero(client):
    model = counted(client, "untouched")
    assert (model["name"], model["version"]) == ("untouched", "1")
    assert model["last_inference"] == model["inference_count"] == model["execution_count"] == 0
    assert set(counts(model).values()) == {0}
    assert model["batch_stats"] == []


def test_zeros_are_written_over_http(server):
    assert raw_http.get(server, "/v2/models/untouched/stats").json == {"model_stats": [{
        "name": "untouched", "version": "1", "last_inference": 0, "inference_count": 0,
        "execution_count": 0,
        "inference_stats": {k: {"count": 0, "ns": 0} for k in (
            "success", "fail", "queue", "compute_input", "compute_infer", "compute_output",
            "cache_hit", "cache_miss")},
        "response_stats": {}, "batch_stats": [], "memory_usage": []}]}


def test_versions_count_apart(client):
    before = {m["version"]: m["inference_count"] for m in stats(client, "versions")}
    client.infer("versions", [client.input("INPUT0", np.zeros(4, np.int32))], model_version="1")
    end = time.monotonic() + 10
    while True:
        after = {m["version"]: m["inference_count"] for m in stats(client, "versions")}
        if after != before or time.monotonic() > end:
            break
        time.sleep(0.01)
    assert difference(before, after) == {"1": 1}


def test_statistics_of_all_models(client):
    names = {(m["name"], m["version"]) for m in stats(client, "")}
    assert {("fixed", "1"), ("versions", "1"), ("versions", "3"), ("latest", "10")} <= names


@pytest.mark.parametrize("model,version,text", [
    ("no_such_model", "", "requested model 'no_such_model' is not available"),
    ("versions", "2", "requested model version is not available for model 'versions'")])
def test_statistics_of_unknown(client, model, version, text):
    client.expect("INVALID_ARG", text, client.call, "get_inference_statistics", model, version)


def test_both_protocols_tell_the_same(transports):
    for name in ("http", "grpc"):
        transports[name].infer("counted", [transports[name].input(
            "INPUT0", np.zeros((1, 4), np.int32))])
    over_http = counted(transports["http"], "counted")
    wanted = counts(over_http)["success"]
    over_http = wait_for_counts(transports["http"], "counted", wanted)
    over_grpc = wait_for_counts(transports["grpc"], "counted", wanted)
    over_http.pop("response_stats", None), over_http.pop("memory_usage", None)
    over_grpc.pop("response_stats", None), over_grpc.pop("memory_usage", None)
    assert over_http == over_grpc


def metric(server, name, model):
    text = raw_http.get(server, "/metrics", port=server.metrics_port).body.decode()
    values = [float(line.rsplit(" ", 1)[1]) for line in text.splitlines()
              if line.startswith(name + "{") and f'model="{model}"' in line]
    assert values, f"no {name} of {model}"
    return sum(values)


def test_metrics_count_as_statistics_do(server, client):
    names = {"nv_inference_request_success": 2, "nv_inference_count": 5,
             "nv_inference_exec_count": 2, "nv_inference_request_failure": 0}
    before = {n: metric(server, n, "counted_metrics") for n in names}
    seen = counts(counted(client, "counted_metrics"))["success"]
    for size in (2, 3):
        client.infer("counted_metrics", [client.input("INPUT0", np.zeros((size, 4), np.int32))])
    wait_for_counts(client, "counted_metrics", seen + 2)
    after = {n: metric(server, n, "counted_metrics") for n in names}
    assert {n: after[n] - before[n] for n in names} == names


def test_metrics_answer_like_prometheus(server):
    response = raw_http.get(server, "/metrics", port=server.metrics_port)
    assert response.status == 200
    assert response.headers["content-type"].startswith("text/plain")
    text = response.body.decode()
    for name in ("nv_inference_request_success", "nv_inference_request_duration_us",
                 "nv_inference_queue_duration_us", "nv_inference_compute_infer_duration_us"):
        assert f"# TYPE {name} counter" in text
        assert f'{name}{{model="untouched",version="1"}} 0' in text
    assert "# TYPE nv_inference_pending_request_count gauge" in text
    assert 'nv_inference_request_failure{model="untouched",reason="BACKEND",version="1"} 0' in text
