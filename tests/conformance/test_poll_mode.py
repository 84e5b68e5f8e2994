# SPDX-License-Identifier: Apache-2.0
"""--model-control-mode=poll: the server follows the changes of its repository."""

import time

import numpy as np
import pytest
from explicit_models import (FAILED_RELOAD, edit, groups, index, inferences, remove,
                             wait_for_index, write)
from models import ONE_CPU_INSTANCE, Repository


def write_models(root):
    repo = Repository(root)
    repo.identity("stays", [("FP32", [4])], batch=8, extra=ONE_CPU_INSTANCE)
    repo.identity("goes", [("FP32", [4])], batch=8, extra=ONE_CPU_INSTANCE)


@pytest.fixture(scope="module")
def polling(start_server):
    return start_server("poll", write_models, "--model-control-mode=poll",
                        "--repository-poll-secs=1")


@pytest.fixture(scope="module")
def client(polling, connect):
    return connect("http", polling)


def eventually(question):
    """Waits for a poll; the server polls once per second."""
    end = time.monotonic() + 30
    while not question() and time.monotonic() < end:
        time.sleep(0.05)
    assert question()


def test_start_loads_everything(client):
    assert client.call("is_model_ready", "stays") and client.call("is_model_ready", "goes")


def test_loading_by_name_is_refused(client):
    text = "explicit model load / unload is not allowed if polling is enabled"
    client.expect("UNAVAILABLE", text, client.call, "load_model", "stays")
    client.expect("UNAVAILABLE", text, client.call, "unload_model", "stays")


def test_models_come_change_and_go(client, polling):
    Repository(polling.repository).identity("comes", [("FP32", [4])], batch=8,
                                            extra=ONE_CPU_INSTANCE)
    eventually(lambda: client.call("is_model_ready", "comes"))

    client.infer("stays", [client.input("INPUT0", np.zeros((1, 4), np.float32))])
    edit(polling.repository / "stays" / "config.pbtxt", ("count: 1", "count: 2"))
    eventually(lambda: groups(client, "stays") == [("stays_0", 2)])
    assert inferences(client, "stays") == {"1": 1}, "an update, not a reload"
    write(polling.repository / "stays" / "note.txt", "unrelated")
    eventually(lambda: inferences(client, "stays") == {"1": 0})

    remove(polling.repository / "goes")
    eventually(lambda: not client.call("is_model_ready", "goes"))
    assert index(client, "goes") == []


def test_a_failed_reload_keeps_what_serves(client, polling):
    config = polling.repository / "comes" / "config.pbtxt"
    eventually(lambda: client.call("is_model_ready", "comes"))
    edit(config, ('"identity"', '"absent"'))
    eventually(lambda: "backend 'absent'" in polling.log.read_text())
    assert client.call("is_model_ready", "comes")
    wait_for_index(client, "comes", [("1", "READY", FAILED_RELOAD)])
    edit(config, ('"absent"', '"identity"'), ("max_batch_size: 8", "max_batch_size: 4"))
    eventually(lambda: client.json("get_model_config", "comes")["max_batch_size"] == 4)


def test_a_repository_that_is_away_keeps_what_serves(client, polling):
    away = polling.repository.with_name("away")
    polling.repository.rename(away)
    try:
        text = f"failed to poll model repository '{polling.repository}'"
        eventually(lambda: text in polling.log.read_text())
        client.infer("stays", [client.input("INPUT0", np.zeros((1, 4), np.float32))])
    finally:
        away.rename(polling.repository)
    Repository(polling.repository).identity("returned", [("FP32", [4])], batch=8,
                                            extra=ONE_CPU_INSTANCE)
    eventually(lambda: client.call("is_model_ready", "returned"))
    assert client.call("is_model_ready", "stays")
