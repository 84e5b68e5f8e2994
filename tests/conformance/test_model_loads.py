# SPDX-License-Identifier: Apache-2.0
"""Loads that take long: their progress, requests that wait together, limits and cancellation."""

import json
import re
import threading
import time

import pytest
import raw_http
import tritonclient.grpc as grpc_client
from explicit_models import EXPLICIT, configuration, edit, index
from models import ONE_CPU_INSTANCE, Repository
from tritonclient.utils import InferenceServerException

pytestmark = pytest.mark.skipif("config.getoption('--peer')", reason="Triton shows no loads")

TAGS = 'metric_tags { key: "team" value: "x" }\n'


def delay(seconds, limit=None):
    text = f'parameters {{ key: "creation_delay_sec" value {{ string_value: "{seconds}" }} }}\n'
    if limit is not None:
        text += f'parameters {{ key: "load_timeout_secs" value {{ string_value: "{limit}" }} }}\n'
    return ONE_CPU_INSTANCE + text


def write_models(root):
    repo = Repository(root)
    for protocol in ("http", "grpc"):
        repo.identity(f"slow_{protocol}", [("FP32", [4])], batch=8, extra=delay(2))
        repo.identity(f"many_{protocol}", [("FP32", [4])], batch=8, extra=delay(6))
        repo.identity(f"cancelled_{protocol}", [("FP32", [4])], batch=8, extra=delay(3))
        repo.identity(f"limited_{protocol}", [("FP32", [4])], batch=8,
                      extra=delay(0) + TAGS)
        repo.identity(f"patient_{protocol}", [("FP32", [4])], batch=8, extra=delay(2, 0))


@pytest.fixture(scope="module")
def patient(start_server):
    return start_server("loads", write_models, *EXPLICIT, "--model-load-timeout-secs=10")


@pytest.fixture(params=["http", "grpc"])
def protocol(request):
    return request.param


@pytest.fixture
def client(protocol, patient, connect):
    return connect(protocol, patient)


@pytest.fixture(scope="module")
def impatient(start_server):
    return start_server("impatient", write_models, *EXPLICIT, "--model-load-timeout-secs=1")


def shown(server, model):
    answer = raw_http.get(server, f"/v2/repository/models/{model}/load")
    return json.loads(answer.body) if answer.status == 200 else answer.status


def cancel(server, model):
    return raw_http.request(server, "DELETE", f"/v2/repository/models/{model}/load")


class Loading(threading.Thread):
    """A load request on a thread of its own, where clients with greenlets cannot be shared."""

    def __init__(self, protocol, server, model, config=None):
        super().__init__()
        self.protocol, self.server = protocol, server
        self.model, self.config, self.error = model, config, None
        self.start()

    def run(self):
        if self.protocol == "http":
            body = json.dumps({"parameters": {"config": self.config} if self.config else {}})
            answer = raw_http.request(self.server, "POST",
                                      f"/v2/repository/models/{self.model}/load", body)
            self.error = None if answer.status == 200 else answer.error
            return
        try:
            with grpc_client.InferenceServerClient(self.server.grpc) as client:
                client.load_model(self.model, config=self.config)
        except InferenceServerException as error:
            self.error = error.message()

    def result(self):
        self.join(60)
        assert not self.is_alive()
        return self.error


def wait_for(question):
    end = time.monotonic() + 30
    while not question() and time.monotonic() < end:
        time.sleep(0.02)
    assert question()


def wait_for_state(server, model, state):
    wait_for(lambda: isinstance(shown(server, model), dict)
             and shown(server, model)["state"] == state)


def test_the_progress_of_a_load_is_shown(patient, client, protocol):
    model = f"slow_{protocol}"
    assert shown(patient, model) == 404
    load = Loading(protocol, patient, model)
    wait_for_state(patient, model, "loading")
    progress = shown(patient, model)
    assert progress["version"] == 1 and progress["versions"] == 1
    assert progress["versions_done"] == 0 and progress["attempt"] == 1
    assert 0 <= progress["elapsed_ms"] < 30000
    assert "last" not in progress
    assert load.result() is None
    after = shown(patient, model)
    assert after["state"] == "idle" and after["succeeded"] == 1 and after["failed"] == 0
    assert after["last"]["result"] == "loaded" and after["last"]["duration_ms"] >= 2000
    client.call("load_model", model)
    assert shown(patient, model)["succeeded"] == 1, "nothing was to be loaded"
    client.call("unload_model", model)
    assert shown(patient, model) == 404


def test_requests_that_wait_become_one_load(patient, client, protocol):
    model = f"many_{protocol}"
    first = Loading(protocol, patient, model)
    wait_for_state(patient, model, "loading")
    others = []
    for size in range(1, 4):  # with the first one as many as gRPC has threads
        config = json.dumps({
            "backend": "identity", "max_batch_size": size,
            "input": [{"name": "INPUT0", "data_type": "TYPE_FP32", "dims": [4]}],
            "output": [{"name": "OUTPUT0", "data_type": "TYPE_FP32", "dims": [4]}],
            "instance_group": [{"kind": "KIND_CPU", "count": 1}]})
        others.append(Loading(protocol, patient, model, config=config))
        wait_for(lambda count=size: shown(patient, model)["waiting"] == count)
    assert first.result() is None
    assert [load.result() for load in others] == [None] * 3
    assert shown(patient, model)["succeeded"] == 2
    assert patient.log.read_text().count(f"loading: {model}:1") == 2
    assert configuration(client, model)["max_batch_size"] == 3, "the latest one counts"


def test_a_load_is_cancelled(patient, client, protocol):
    model = f"cancelled_{protocol}"
    assert cancel(patient, model).status == 404
    running = Loading(protocol, patient, model)
    wait_for_state(patient, model, "loading")
    waiting = Loading(protocol, patient, model)
    wait_for(lambda: shown(patient, model)["waiting"] == 1)
    begin = time.monotonic()
    assert cancel(patient, model).status == 200
    assert "the load was cancelled" in running.result()
    assert f"the load of model '{model}' was cancelled" in waiting.result()
    assert time.monotonic() - begin < 2, "the backend takes longer"
    assert shown(patient, model)["last"]["result"] == "failed"
    wait_for(lambda: f"a load of '{model}' that was given up has ended" in patient.log.read_text())
    client.call("load_model", model)
    assert client.call("is_model_ready", model)


def metric(server, name, model):
    page = raw_http.get(server, "/metrics", port=server.metrics_port).body.decode()
    found = re.search(rf'^{name}{{([^}}]*model="{model}"[^}}]*)}} (\S+)$', page, re.MULTILINE)
    return found and (found[1], float(found[2]))


def test_a_load_that_takes_too_long_keeps_what_serves(impatient, connect, protocol):
    model = f"limited_{protocol}"
    client = connect(protocol, impatient)
    client.call("load_model", model)
    assert metric(impatient, "nereid_model_load_failed", model)[1] == 0
    config = impatient.repository / model / "config.pbtxt"
    edit(config, ('string_value: "0"', 'string_value: "4"'))
    text = client.expect("INVALID_ARG", "the load has not ended within 1 s", client.call,
                         "load_model", model)
    assert client.call("is_model_ready", model) and client.call("is_server_ready")
    (version, state, reason), = index(client, model)
    assert (version, state) == ("1", "READY")
    assert reason.startswith("the last load has failed: ") and "within 1 s" in reason and text
    labels, failed = metric(impatient, "nereid_model_load_failed", model)
    assert failed == 1 and '_team="x"' in labels
    ready = json.loads(raw_http.get(impatient, "/v2/health/ready?reason=true").body)
    assert ready["ready"] and not ready["reasons"]
    assert [(note["cause"], note["model"]) for note in ready["notes"]
            if note["model"] == model] == [("reload", model)]
    client.expect("INVALID_ARG", "an earlier load, which was given up, has not ended yet",
                  client.call, "load_model", model)
    wait_for(lambda: f"a load of '{model}' that was given up" in impatient.log.read_text())
    edit(config, ('string_value: "4"', 'string_value: "0"'))
    client.call("load_model", model)
    assert index(client, model) == [("1", "READY", "")]
    assert metric(impatient, "nereid_model_load_failed", model)[1] == 0


def test_a_model_has_a_limit_of_its_own(impatient, connect, protocol):
    connect(protocol, impatient).call("load_model", f"patient_{protocol}")
