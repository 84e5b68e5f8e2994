# SPDX-License-Identifier: Apache-2.0
"""--model-control-mode=poll: the server follows the changes of its repository."""

import shutil
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


def test_copies_beside_a_version_change_nothing(client, polling):
    """Nor do directories of tools, and one whose name ends like that of a backend that is not there."""
    model = polling.repository / "stays"
    eventually(lambda: client.call("is_model_ready", "stays"))
    names = ["2 (copy)", "1.bak", "3_old"]
    for name in names:
        shutil.copytree(model / "1", model / name)
    for name in [".git/objects", ".ipynb_checkpoints", "old.bak"]:
        (polling.repository / name).mkdir(parents=True)
    eventually(lambda: "directory 'old.bak' of the model repository is no model"
               in polling.log.read_text())
    eventually(lambda: all(f"ignore version directory '{name}'" in polling.log.read_text()
                           for name in names))
    assert client.call("is_server_ready") and client.call("is_model_ready", "stays")
    assert index(client, "stays") == [("1", "READY", "")]
    Repository(polling.repository).identity("later", [("FP32", [4])], batch=8,
                                            extra=ONE_CPU_INSTANCE)
    eventually(lambda: client.call("is_model_ready", "later"))  # at least one scan later
    log = polling.log.read_text()
    assert all(log.count(f"ignore version directory '{name}'") == 1 for name in names)
    assert log.count("'old.bak' of the model repository is no model") == 1
    assert "'.git'" not in log and client.call("is_server_ready")


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
