# SPDX-License-Identifier: Apache-2.0
"""Triton's public examples of Python models with their own clients, and its public tests of response senders,
all unchanged. $NEREID_TRITON_SOURCES is a folder with Triton's repositories `python_backend` (examples/)
and `server` (qa/); without one of them its cases are skipped. The tests of Nereid's own models with the same
subjects are test_python_examples.py and test_python_senders.py."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

VARIABLE = "NEREID_TRITON_SOURCES"
EXAMPLES = "python_backend/examples"
SENDERS = "server/qa/python_models/response_sender"
SENDER_TESTS = "server/qa/L0_backend_python/response_sender/response_sender_test.py"

# The files of each model as the examples' own pages copy them. `pytorch` has the code of add_sub, which computes
# the same: its own needs PyTorch.
MODELS = {
    "add_sub": ("add_sub/model.py", "add_sub/config.pbtxt"),
    "pytorch": ("add_sub/model.py", "pytorch/config.pbtxt"),
    "bls_sync": ("bls/sync_model.py", "bls/sync_config.pbtxt"),
    "bls_async": ("bls/async_model.py", "bls/async_config.pbtxt"),
    "square_int32": ("decoupled/square_model.py", "decoupled/square_config.pbtxt"),
    "repeat_int32": ("decoupled/repeat_model.py", "decoupled/repeat_config.pbtxt"),
    "bls_decoupled_sync": ("bls_decoupled/sync_model.py", "bls_decoupled/sync_config.pbtxt"),
    "bls_decoupled_async": ("bls_decoupled/async_model.py", "bls_decoupled/async_config.pbtxt"),
    "custom_metrics": ("custom_metrics/model.py", "custom_metrics/config.pbtxt"),
    "nobatch_auto_complete": ("auto_complete/nobatch_model.py", None),
    "batch_auto_complete": ("auto_complete/batch_model.py", None),
}

CLIENTS = [
    "add_sub/client.py", "bls/sync_client.py", "bls/async_client.py", "decoupled/square_client.py",
    "decoupled/repeat_client.py", "bls_decoupled/sync_client.py", "bls_decoupled/async_client.py",
    "custom_metrics/client.py", "auto_complete/client.py",
]

# As the script of the tests makes the models: the name says what is added.
SENDER_MODELS = [f"response_sender{decoupled}{how}{batching}" for decoupled in ("", "_decoupled")
                 for how in ("", "_async") for batching in ("", "_batching")]


def source(path):
    """Returns a path in the folder that the variable names; skips the test if it is not there."""
    folder = os.environ.get(VARIABLE)
    if not folder:
        pytest.skip(f"{VARIABLE} is not set: it names a folder with Triton's public repositories")
    if not (Path(folder) / path).exists():
        pytest.skip(f"there is no {path} in {folder} ({VARIABLE})")
    return Path(folder) / path


def write_examples(root, examples):
    for name, (code, config) in MODELS.items():
        (root / name / "1").mkdir(parents=True)
        shutil.copy(examples / code, root / name / "1" / "model.py")
        if config is not None:
            shutil.copy(examples / config, root / name / "config.pbtxt")


def write_senders(root, models):
    for name in SENDER_MODELS:
        version = root / name / "1"
        version.mkdir(parents=True)
        shutil.copy(models / "model_common.py", version)
        shutil.copy(models / ("model_async.py" if "_async" in name else "model.py"), version / "model.py")
        config = (models / "config.pbtxt").read_text()
        if "_decoupled" in name:
            config += "\nmodel_transaction_policy { decoupled: True }\n"
        if "_batching" in name:
            config += "\ndynamic_batching { max_queue_delay_microseconds: 500000 }\n"
        (root / name / "config.pbtxt").write_text(config)


def run(server, script):
    """Runs a client program. Returns its exit status and what it has printed."""
    runner = Path(__file__).resolve().parent / "public_client.py"
    done = subprocess.run(
        [sys.executable, str(runner), str(server.http_port), str(server.grpc_port),
         str(server.metrics_port), str(script)],
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=300)
    return done.returncode, done.stdout


@pytest.fixture(scope="module")
def examples(start_python):
    folder = source(EXAMPLES)
    server = start_python("public_examples", lambda root: write_examples(root, folder))
    yield server
    server.stop()


@pytest.mark.parametrize("client", CLIENTS)
def test_an_example_runs_with_its_client(examples, client):
    status, printed = run(examples, source(EXAMPLES) / client)
    assert status == 0 and "PASS" in printed, printed


def test_response_senders(start_python):
    models, tests = source(SENDERS), source(SENDER_TESTS)
    server = start_python("public_senders", lambda root: write_senders(root, models))
    status, printed = run(server, tests)
    assert status == 0, printed
    server.stop()
