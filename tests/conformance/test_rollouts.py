# SPDX-License-Identifier: Apache-2.0
"""Rollouts: labels, splits, sequences across changes, shadow traffic, rollback, and their API."""

import collections
import json
import math
import re
import subprocess
import threading
import time
from pathlib import Path

import numpy as np
import pytest
import raw_http
import rollout_models as rollouts
import tritonclient.grpc as grpc_client
import tritonclient.http as http_client
from explicit_models import EXPLICIT
from models import CACHED
from rollout_models import DOCUMENT, begin, set_file, split, status
from sequences import wait_for
from tritonclient.utils import InferenceServerException

LABELS = {"stable": 1, "canary": 2}
VERSIONED = ("split", "sticky", "labels", "faulty", "slow", "invalid", "shadow", "reload",
             "traffic", "hostile", "alone", "member", "metrics", "example", "kept",
             "remembered")


@pytest.fixture(scope="module")
def served(start_server, is_peer, test_plugins):
    if is_peer:
        pytest.skip("Triton has no rollouts")

    def write(root):
        for name in VERSIONED:
            rollouts.add_versioned(root, name, test_plugins)
        for name in ("sums", "sums_ended", "sums_kept", "sums_labeled"):
            rollouts.add_sums(root, name, test_plugins)
        rollouts.add_ensemble(root, "whole", "member")
        (root / "remembered" / "2" / "bias").write_text("100")
        rollouts.add_ensemble(root, "cached_whole", "remembered", CACHED)

    return start_server("rollouts", write, *EXPLICIT, "--load-model=*",
                        "--cache-config=local,size=1048576",
                        "--http-header-forward-pattern=^x-", "--grpc-header-forward-pattern=^x-")


@pytest.fixture(scope="module")
def http(served):
    with http_client.InferenceServerClient(served.http) as client:
        yield client


@pytest.fixture(scope="module")
def grpc(served):
    with grpc_client.InferenceServerClient(served.grpc) as client:
        yield client


def infer(client, model, version="", **options):
    """Returns the version that answered, through either official client."""
    module = http_client if isinstance(client, http_client.InferenceServerClient) else grpc_client
    tensor = module.InferInput("INPUT0", [1], "FP32")
    tensor.set_data_from_numpy(np.array([1.5], np.float32))
    response = client.infer(model, [tensor], model_version=version, **options).get_response()
    return response["model_version"] if module is http_client else response.model_version


def error_of(function, *arguments, **options):
    with pytest.raises(InferenceServerException) as raised:
        function(*arguments, **options)
    return raised.value.message()


# ---- The split ----

@pytest.mark.timeout(600)
def test_a_canary_gets_its_share(served, request):
    """The number of requests that version 2 answers is binomially distributed; the bound is five
    standard deviations, which a correct split exceeds once in two million runs."""
    count, batch = request.config.getoption("--rollout-requests"), 200
    begin(served, "split", {"labels": LABELS, "split": split(stable=9500, canary=500)})
    seen = collections.Counter()
    with raw_http.Wire(served, timeout=60) as wire:
        for _ in range(count // batch):
            seen.update(rollouts.pipelined(wire, "split", batch))
    assert set(seen) == {"1", "2"}
    assert abs(seen["2"] - count * 0.05) <= 5 * math.sqrt(count * 0.05 * 0.95)
    found = status(served, "split")
    assert [(v["version"], v["requests"], v["failures"], v["parts"], v["ready"])
            for v in found["versions"]] == [(1, seen["1"], 0, 9500, True),
                                            (2, seen["2"], 0, 500, True)]
    assert 0 < found["versions"][0]["p50_us"] <= found["versions"][0]["p99_us"]


def test_weights_of_all_or_nothing(served, http, grpc):
    for version in ("1", "2"):
        begin(served, "split", {"split": split(**{f"v{version}": 10000})})
        assert {infer(client, "split") for client in (http, grpc) for _ in range(20)} == {version}
    # An explicit version is not subject to the split, and neither is a server without a rollout.
    assert infer(grpc, "split", "1") == infer(http, "split", "1") == "1"
    assert rollouts.end(served, "split").status == 200
    assert infer(http, "split") == infer(grpc, "split") == "2"
    assert rollouts.end(served, "split").status == 404


@pytest.mark.parametrize("key, option", [
    ("parameter:user", lambda user: {"parameters": {"user": user}}),
    ("header:X-User", lambda user: {"headers": {"x-user": user}}),
])
def test_keys_stick_to_their_version(served, http, grpc, key, option):
    users = [f"user-{i}" for i in range(40)]
    begin(served, "sticky", {"split": split(key, v1=7000, v2=3000)})
    first = {user: infer(http, "sticky", **option(user)) for user in users}
    assert set(first.values()) == {"1", "2"}
    for _ in range(2):  # both protocols agree
        assert {user: infer(grpc, "sticky", **option(user)) for user in users} == first
    begin(served, "sticky", {"split": split(key, v1=5000, v2=5000)})
    for user in users:  # a greater weight takes users from the other version only
        if first[user] == "2":
            assert infer(http, "sticky", **option(user)) == "2"


def test_a_version_that_is_not_ready_gives_its_share_to_the_others(served, http):
    begin(served, "alone", {"split": split(v2=5000, v7=5000)})
    assert {infer(http, "alone") for _ in range(30)} == {"2"}
    assert [(v["version"], v["ready"]) for v in status(served, "alone")["versions"]] == [
        (2, True), (7, False)]
    # No version of the split is ready: Triton's rule.
    begin(served, "alone", {"split": split(v7=10000)})
    assert {infer(http, "alone") for _ in range(5)} == {"2"}


def test_reloads_fail_no_request(served):
    begin(served, "reload", {"labels": LABELS, "split": split(stable=5000, canary=5000)})
    done, wrong = threading.Event(), []

    def ask(path):
        with raw_http.Wire(served, timeout=60) as wire:
            while not done.is_set():
                try:
                    assert set(rollouts.pipelined(wire, "reload", 20, path)) <= {"1", "2"}
                except Exception as error:
                    wrong.append(error)
                    return

    threads = [threading.Thread(target=ask, args=(raw_http.infer_path("reload", version),))
               for version in (None, "stable", "canary")]
    for thread in threads:
        thread.start()
    config = json.dumps({"name": "reload", "backend": "versioned", "max_batch_size": 0,
                         "input": [{"name": "INPUT0", "data_type": "TYPE_FP32", "dims": [1]}],
                         "output": [{"name": "OUTPUT0", "data_type": "TYPE_FP32", "dims": [1]}],
                         "version_policy": {"all": {}}})
    for i in range(10):
        body = {"parameters": {"config": config.replace('"max_b', f'"parameters": {{"n": '
                                                        f'{{"string_value": "{i}"}}}}, "max_b')}}
        loaded = raw_http.request(served, "POST", "/v2/repository/models/reload/load",
                                  json.dumps(body))
        assert loaded.status == 200, loaded.body
    done.set()
    for thread in threads:
        thread.join()
    assert not wrong
    # The plan survives reloads.
    assert status(served, "reload")["plan"]["labels"] == LABELS


def test_a_step_of_an_ensemble_is_split_too(served, http):
    set_file(served, "member", 2, "bias", "100")
    begin(served, "member", {"split": split(v1=10000)})
    before = rollouts.version_status(served, "member", 1)["requests"]
    answer = raw_http.infer(served, "whole", DOCUMENT)
    assert answer.json["outputs"][0]["data"] == [1.5]
    assert rollouts.version_status(served, "member", 1)["requests"] == before + 1
    begin(served, "member", {"split": split(v2=10000)})
    assert raw_http.infer(served, "whole", DOCUMENT).json["outputs"][0]["data"] == [101.5]


def test_a_cached_answer_is_that_of_the_version_that_answers(served):
    """A version that gets no more requests leaves no answers to them in the cache."""
    def answers():
        document = {"inputs": [raw_http.tensor("INPUT0", "FP32", [1], [2.5])]}
        return {raw_http.infer(served, "cached_whole", document).json["outputs"][0]["data"][0]
                for _ in range(3)}

    for _ in range(2):
        begin(served, "remembered", {"split": split(v2=10000)})
        assert answers() == {102.5}
        begin(served, "remembered", {"split": split(v1=10000)})
        assert answers() == {2.5}


# ---- Labels ----

def test_a_label_stands_wherever_a_version_can_be_named(served, http, grpc):
    begin(served, "labels", {"labels": LABELS})
    for client in (http, grpc):
        assert infer(client, "labels", "stable") == "1"
        assert infer(client, "labels", "canary") == "2"
        assert infer(client, "labels") == "2"  # without a split: Triton's rule
        assert client.is_model_ready("labels", "stable")
    assert http.get_model_metadata("labels", "stable")["versions"] == ["1"]
    assert list(grpc.get_model_metadata("labels", "stable").versions) == ["1"]
    assert http.get_model_config("labels", "canary")["name"] == "labels"
    assert grpc.get_model_config("labels", "canary").config.name == "labels"
    (line,) = http.get_inference_statistics("labels", "stable")["model_stats"]
    assert line["version"] == "1"
    (line,) = grpc.get_inference_statistics("labels", "stable").model_stats
    assert line.version == "1"


def test_generate_knows_labels(served):
    begin(served, "labels", {"labels": LABELS})
    answer = raw_http.request(served, "POST", "/v2/models/labels/versions/stable/generate",
                              json.dumps({"INPUT0": 1.5}))
    assert answer.status == 200, answer.body
    assert answer.json["model_version"] == "1"


def test_streams_know_labels(served):
    begin(served, "labels", {"labels": LABELS})
    answers = []
    arrived = threading.Semaphore(0)

    def note(result, error):
        answers.append(error or result.get_response().model_version)
        arrived.release()

    tensor = grpc_client.InferInput("INPUT0", [1], "FP32")
    tensor.set_data_from_numpy(np.array([1.5], np.float32))
    with grpc_client.InferenceServerClient(served.grpc) as client:
        client.start_stream(note)
        for label in ("stable", "canary"):
            client.async_stream_infer("labels", [tensor], model_version=label)
            assert arrived.acquire(timeout=60)
        client.stop_stream()
    assert answers == ["1", "2"]


def test_an_unknown_label_is_an_error_that_lists_the_labels(served, http, grpc):
    begin(served, "labels", {"labels": LABELS})
    text = "model 'labels' has no version label 'blue'; its labels are: 'canary', 'stable'"
    for client in (http, grpc):
        assert text in error_of(infer, client, "labels", "blue")
        assert text in error_of(client.get_model_metadata, "labels", "blue")
        assert text in error_of(client.get_model_config, "labels", "blue")
        assert text in error_of(client.get_inference_statistics, "labels", "blue")


def test_without_a_rollout_labels_are_triton_s_errors(served, grpc):
    assert "should be an integral value" in error_of(infer, grpc, "hostile", "stable")
    answer = raw_http.infer(served, "hostile", DOCUMENT, version="stable")
    unknown = raw_http.get(served, "/v2/unknown")
    assert (answer.status, answer.body) == (404, unknown.body)


# ---- Rollback ----

class Traffic:
    """Clients that send requests without a pause and note (when sent, version or error)."""

    def __init__(self, server, model, labels=(None,), clients=2):
        self.server, self.model = server, model
        self.done = threading.Event()
        self.seen = []
        self.threads = [threading.Thread(target=self._run, args=(label,))
                        for label in labels for _ in range(clients)]

    def _run(self, label):
        body = json.dumps(DOCUMENT).encode()
        one = raw_http.head("POST", raw_http.infer_path(self.model, label),
                            "Content-Type: application/json",
                            f"Content-Length: {len(body)}") + body
        with raw_http.Wire(self.server, timeout=60) as wire:
            while not self.done.is_set():
                sent = time.monotonic()
                wire.send(one)
                answer = wire.read().json
                self.seen.append((sent, answer.get("model_version") or answer["error"]))

    def __enter__(self):
        for thread in self.threads:
            thread.start()
        return self

    def __exit__(self, *_):
        self.done.set()
        for thread in self.threads:
            thread.join()


def rolled_back(server, model):
    return status(server, model)["state"] == "rolled_back"


def test_rollback_within_two_seconds_of_a_fault(served):
    plan = {"labels": LABELS, "split": split(stable=9000, canary=1000),
            "rollback": {"version": "canary", "window_seconds": 10, "min_requests": 10,
                         "max_error_parts": 500}}
    begin(served, "faulty", plan)
    with Traffic(served, "faulty", (None, "canary")) as traffic:
        wait_for(lambda: {v for _, v in list(traffic.seen)} == {"1", "2"})
        fault = time.monotonic()
        set_file(served, "faulty", 2, "fail", "injected fault")
        wait_for(lambda: rolled_back(served, "faulty"), "the rollback")
        noticed = time.monotonic()
        wait_for(lambda: sum(sent > noticed for sent, _ in list(traffic.seen)) > 500)
    assert noticed - fault < 2
    # Also the requests for the label, and the statuses of both.
    assert {version for sent, version in traffic.seen if sent > noticed} == {"1"}
    assert any("injected fault" in version for _, version in traffic.seen)
    found = status(served, "faulty")
    assert found["rollback"]["version"] == 2
    assert "failed, more than 500 in 10000" in found["rollback"]["reason"]
    assert [v["parts"] for v in found["versions"]] == [9000, 0]
    assert found["rollbacks"] == 1
    assert "version 2 is rolled back" in served.log.read_text()
    # The operator can still ask the version by its number, and a new rollout arms the rule again.
    assert "injected fault" in raw_http.infer(served, "faulty", DOCUMENT, version=2).error
    set_file(served, "faulty", 2, "fail", None)
    for _ in range(30):
        assert raw_http.infer(served, "faulty", DOCUMENT).json["model_version"] == "1"
    assert begin(served, "faulty", plan)["state"] == "active"
    assert status(served, "faulty")["rollbacks"] == 1
    assert raw_http.infer(served, "faulty", DOCUMENT, version="canary").json["model_version"] == "2"


def test_rollback_by_latency(served, http):
    plan = {"labels": LABELS, "split": split(v1=5000, v2=5000),
            "rollback": {"version": 2, "min_requests": 5, "max_latency_us": 100000,
                         "latency_parts": 5000, "labels": "keep"}}
    begin(served, "slow", plan)
    set_file(served, "slow", 2, "slow_ms", "150")
    wait_for(lambda: [infer(http, "slow"), rolled_back(served, "slow")][1])
    assert "took longer than 100000 us" in status(served, "slow")["rollback"]["reason"]
    assert {infer(http, "slow") for _ in range(20)} == {"1"}
    # The rule says that labels stay.
    assert infer(http, "slow", "canary") == "2"
    set_file(served, "slow", 2, "slow_ms", None)


def test_nothing_serves_when_only_the_bad_version_is_left(served, http):
    begin(served, "invalid", {"split": split(v2=10000),
                              "rollback": {"version": 2, "min_requests": 2, "max_error_parts": 0,
                                           "count_invalid_requests": True}})
    wrong = {"inputs": [raw_http.tensor("INPUT0", "FP32", [2], [1, 2])]}
    for _ in range(2):
        assert raw_http.infer(served, "invalid", wrong).status == 400
    assert rolled_back(served, "invalid")
    # Version 1 is ready, so it serves although it is not in the split.
    assert infer(http, "invalid") == "1"


# ---- Sequences ----

def send_sum(client, model, sequence, value, start=False, end=False, version=""):
    """Returns the version that answered and the sum of the sequence."""
    module = http_client if isinstance(client, http_client.InferenceServerClient) else grpc_client
    tensor = module.InferInput("INPUT", [1], "INT32")
    tensor.set_data_from_numpy(np.array([value], np.int32))
    result = client.infer(model, [tensor], sequence_id=sequence, sequence_start=start,
                          sequence_end=end, model_version=version)
    response = result.get_response()
    answered = response["model_version"] if module is http_client else response.model_version
    return answered, int(result.as_numpy("OUTPUT")[0])


@pytest.mark.parametrize("name", ["http", "grpc"])
def test_sequences_stay_on_their_version_when_weights_change(served, http, grpc, name):
    client = {"http": http, "grpc": grpc}[name]
    rollouts.end(served, "sums")
    ids = range(1, 21) if name == "http" else range(101, 121)
    # Begun without a rollout, on the greatest version.
    assert send_sum(client, "sums", ids[0], 1, start=True) == ("2", 1)
    begin(served, "sums", {"split": split(v1=5000, v2=5000)})
    begun = {ids[0]: "2"}
    for sequence in ids[1:]:
        begun[sequence], total = send_sum(client, "sums", sequence, 1, start=True)
        assert total == 1
    assert set(begun.values()) == {"1", "2"}
    for step, plan in enumerate((split(v1=10000), split(v2=10000), split("sequence", v1=10000))):
        begin(served, "sums", {"split": plan})
        for sequence in ids:
            assert send_sum(client, "sums", sequence, 1) == (begun[sequence], step + 2)
    # Open sequences stay also when the rollout ends, and new ones follow Triton's rule.
    assert rollouts.end(served, "sums").status == 200
    assert raw_http.get(served, rollouts.rollout_path("sums")).status == 404
    for sequence in ids:
        assert send_sum(client, "sums", sequence, 1, end=True) == (begun[sequence], 5)
    assert send_sum(client, "sums", ids[5], 7, start=True, end=True) == ("2", 7)


def break_sums(client, model):
    """Makes the candidate fail until it is rolled back."""
    for sequence in range(900, 903):
        tensor = grpc_client.InferInput("INPUT", [1], "INT32")
        tensor.set_data_from_numpy(np.array([1], np.int32))
        with pytest.raises(InferenceServerException):
            client.infer(model, [tensor], sequence_id=sequence, sequence_start=True,
                         sequence_end=True, model_version="canary", parameters={"fail": "fault"})


def rule(**more):
    return {"version": "canary", "min_requests": 3, "max_error_parts": 5000, **more}


def test_open_sequences_end_with_the_rollback(served, grpc):
    begin(served, "sums_ended", {"labels": LABELS, "split": split(stable=5000, canary=5000),
                                 "rollback": rule(window_seconds=1)})
    begun = {n: send_sum(grpc, "sums_ended", n, 1, start=True)[0] for n in range(1, 21)}
    assert set(begun.values()) == {"1", "2"}
    wait_for(lambda: [break_sums(grpc, "sums_ended"), rolled_back(served, "sums_ended")][1])
    for sequence, version in begun.items():
        if version == "1":
            assert send_sum(grpc, "sums_ended", sequence, 1, end=True) == ("1", 2)
            continue
        text = error_of(send_sum, grpc, "sums_ended", sequence, 1)
        assert f"sequence {sequence} has ended, because version 2" in text
        # The client begins again, elsewhere, and stays there.
        assert send_sum(grpc, "sums_ended", sequence, 5, start=True) == ("1", 5)
        assert send_sum(grpc, "sums_ended", sequence, 5, end=True) == ("1", 10)
        # By its number the version can still be asked, and the sequence ended.
        assert send_sum(grpc, "sums_ended", sequence, 1, end=True, version="2") == ("2", 2)


def test_open_sequences_may_finish_after_the_rollback(served, grpc):
    begin(served, "sums_kept", {"labels": LABELS, "split": split(canary=10000),
                                "rollback": rule(open_sequences="finish")})
    assert send_sum(grpc, "sums_kept", 1, 1, start=True) == ("2", 1)
    break_sums(grpc, "sums_kept")
    assert rolled_back(served, "sums_kept")
    assert send_sum(grpc, "sums_kept", 1, 1) == ("2", 2)
    assert send_sum(grpc, "sums_kept", 2, 1, start=True, end=True) == ("1", 1)
    assert send_sum(grpc, "sums_kept", 1, 1, end=True) == ("2", 3)


def test_labeled_sequences_stay_when_the_label_moves(served, grpc):
    begin(served, "sums_labeled", {"labels": {"blue": 1}})
    assert send_sum(grpc, "sums_labeled", 1, 1, start=True, version="blue") == ("1", 1)
    begin(served, "sums_labeled", {"labels": {"blue": 2}})
    assert send_sum(grpc, "sums_labeled", 2, 1, start=True, version="blue") == ("2", 1)
    assert send_sum(grpc, "sums_labeled", 1, 1, end=True, version="blue") == ("1", 2)
    assert send_sum(grpc, "sums_labeled", 2, 1, end=True, version="blue") == ("2", 2)


# ---- Shadow traffic ----

def shadow_of(served, model="shadow"):
    return status(served, model)["shadow"]


def settled(served, count):
    """Waits until `count` copies have a result, and returns the counts."""
    def counts():
        found = shadow_of(served)
        total = found["equal"] + found["different"] + found["failed"] + found["dropped"]
        return found if total >= count and found["in_flight"] == 0 else None
    return wait_for(counts)


def test_shadow_answers_are_compared(served, http, grpc):
    set_file(served, "shadow", 2, "bias", None)
    plan = {"split": split(v1=10000), "shadow": {"version": 2}}
    begin(served, "shadow", plan)
    for client in (http, grpc):
        for i in range(5):
            assert infer(client, "shadow", request_id=str(i)) == "1"
            settled(served, 1)
    found = settled(served, 10)
    assert (found["equal"], found["different"], found["failed"]) == (10, 0, 0)
    set_file(served, "shadow", 2, "bias", "0.25")
    begin(served, "shadow", plan)
    assert infer(http, "shadow") == "1"
    found = settled(served, 1)
    assert found["different"] == 1
    assert found["first_difference"] == "output 'OUTPUT0', element 0: 1.75 instead of 1.5"
    assert "shadow version 2 answers differently: output 'OUTPUT0'" in served.log.read_text()
    begin(served, "shadow", {**plan, "shadow": {"version": 2, "tolerances": {
        "FP32": {"absolute": 0.25}}}})
    assert infer(grpc, "shadow") == "1"
    assert settled(served, 1)["equal"] == 1
    set_file(served, "shadow", 2, "bias", None)
    # Copies are not requests of the version.
    assert all(v["version"] == 1 for v in status(served, "shadow")["versions"])


def test_a_failing_shadow_has_no_effect_on_clients(served, http):
    set_file(served, "shadow", 2, "fail", "shadow fault")
    begin(served, "shadow", {"split": split(v1=10000), "shadow": {"version": 2},
                             "rollback": {"version": 2, "min_requests": 1, "max_error_parts": 0}})
    for _ in range(5):
        assert infer(http, "shadow") == "1"
    found = settled(served, 5)
    set_file(served, "shadow", 2, "fail", None)
    assert found["failed"] + found["dropped"] == 5 and found["failed"] > 0
    assert found["first_difference"] == "error: shadow fault"
    assert status(served, "shadow")["state"] == "active"


def test_copies_are_dropped_when_the_shadow_is_busy(served):
    set_file(served, "shadow", 2, "slow_ms", "200")
    begin(served, "shadow", {"split": split(v1=10000),
                             "shadow": {"version": 2, "max_in_flight": 2}})
    with raw_http.Wire(served, timeout=60) as wire:
        begun = time.monotonic()
        assert set(rollouts.pipelined(wire, "shadow", 50)) == {"1"}
        assert time.monotonic() - begun < 5  # 50 copies one after another would take ten
    set_file(served, "shadow", 2, "slow_ms", None)
    found = settled(served, 50)
    assert found["dropped"] >= 40
    assert found["equal"] + found["dropped"] == 50


# ---- The API ----

HOSTILE = [
    ({}, "the field 'rollout' is empty"),
    ([], "expected an object"),
    ({"labels": {"1": 1}}, "the field 'labels' is the name '1'"),
    ({"labels": {"a" * 65: 1}}, "64 characters at most"),
    ({"labels": {"a b": 1}}, "the field 'labels'"),
    ({"labels": {f"l{i}": 1 for i in range(65)}}, "65 labels; expected 64 at most"),
    ({"labels": {"a": -1}}, "the field 'labels.a' is -1"),
    ({"labels": {"a": 2 ** 63}}, "expected a version number"),
    ({"split": {"weights": {"1": 9999}}}, "9999 parts in all; expected 10000 parts in all"),
    ({"split": {"weights": {"1": 2 ** 64 - 1, "2": 10001}}}, "expected a number from 0 to 10000"),
    ({"split": {"weights": {"blue": 10000}}}, "'blue'; expected a version number or one of the"),
    ({"split": {"weights": {str(i): 1 for i in range(10000)}}}, "10000 weights"),
    ({"split": {"key": "cookie", "weights": {"1": 10000}}}, "the field 'split.key' is 'cookie'"),
    ({"shadow": {"version": 1, "parts": 10001}}, "the field 'shadow.parts' is 10001"),
    ({"shadow": {"version": 1, "max_in_flight": 10 ** 12}}, "from 1 to 1024"),
    ({"shadow": {"version": 1, "tolerances": {"BYTES": {}}}}, "a data type of numbers"),
    ({"rollback": {"version": 1}}, "without a bound"),
    ({"rollback": {"version": 1, "max_error_parts": 10000}}, "from 0 to 9999"),
    ({"rollback": {"version": 1, "max_error_parts": 1, "window_seconds": 0}}, "from 1 to 3600"),
    ({"typo": 1}, "the field 'typo' is unknown"),
    (b"{", "failed to parse"),
    (b"", "failed to parse"),
    (b'{"labels":' + b"[" * 5000, "nest"),
    (b'{"labels":{"a":' + b"[" * 5000, "nest"),
]


@pytest.mark.parametrize("plan, text", HOSTILE, ids=range(len(HOSTILE)))
def test_wrong_plans_are_refused(served, plan, text):
    answer = rollouts.put(served, "hostile", plan)
    assert answer.status == 400, answer.body
    assert text in answer.error
    assert raw_http.get(served, rollouts.rollout_path("hostile")).status == 404


def test_unknown_models_have_no_rollout(served):
    for model in ("absent", "..", "a%2Fb"):
        answer = rollouts.put(served, model, {"labels": {"a": 1}})
        assert answer.status == 404, answer.body
        assert rollouts.end(served, model).status == 404


def test_other_methods_are_wrong(served):
    assert raw_http.request(served, "POST", rollouts.rollout_path("labels"), b"{}").status == 405
    assert raw_http.request(served, "PUT", "/v2/models/labels/infer", b"{}").status == 405
    assert raw_http.request(served, "DELETE", "/v2/models/labels").status == 405


def test_a_wrong_plan_keeps_the_present_one(served):
    begin(served, "kept", {"labels": {"a": 1}})
    assert rollouts.put(served, "kept", {"labels": {"a b": 1}}).status == 400
    plan = status(served, "kept")["plan"]
    assert plan == {"labels": {"a": 1}}
    # What the server shows can be sent again.
    assert begin(served, "kept", plan)["plan"] == plan


def test_plans_change_while_requests_are_served(served):
    plans = [{"labels": LABELS, "split": split(stable=10000 - parts, canary=parts),
              "shadow": {"version": "canary", "parts": 5000},
              "rollback": {"version": "canary", "max_error_parts": 9999}}
             for parts in (0, 500, 5000, 10000)]
    begin(served, "traffic", plans[0])
    with Traffic(served, "traffic", (None, "stable", "canary"), clients=1) as traffic:
        for i in range(100):
            begin(served, "traffic", plans[i % len(plans)])
            status(served, "traffic")
            raw_http.get(served, "/metrics", port=served.metrics_port)
    assert {version for _, version in traffic.seen} == {"1", "2"}


def test_metrics(served, http):
    begin(served, "metrics", {"split": split(v1=7500, v2=2500), "shadow": {"version": 2}})
    infer(http, "metrics", "1")
    page = raw_http.get(served, "/metrics", port=served.metrics_port).body.decode()
    for line in ('nereid_rollout_requests_total{model="metrics",version="1"} 1',
                 'nereid_rollout_requests_total{model="metrics",version="2"} 0',
                 'nereid_rollout_failures_total{model="metrics",version="1"} 0',
                 'nereid_rollout_weight{model="metrics",version="2"} 0.25',
                 'nereid_rollout_rollbacks_total{model="metrics"} 0'):
        assert line in page
    assert 'nereid_rollout_shadow_total{model="metrics",result="dropped",version="2"}' in page


def test_the_examples_of_the_page(served):
    page = (Path(__file__).resolve().parents[2] / "docs" / "user" / "rollouts.md").read_text()
    examples = re.findall(r"```\n(curl .*?)```", page, re.DOTALL)
    assert len(examples) == 4
    for example in examples:
        command = (example.replace("localhost:8000", served.http)
                   .replace("classifier", "example").replace("curl ", "curl -sS --fail ", 1))
        done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, timeout=60)
        assert done.returncode == 0, (example, done.stdout, done.stderr)
        if "DELETE" not in example:
            assert json.loads(done.stdout)["state"] == "active"
    assert raw_http.get(served, rollouts.rollout_path("example")).status == 404
