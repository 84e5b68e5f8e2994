# SPDX-License-Identifier: Apache-2.0
"""--repository-settle-secs: a change of a model is loaded when it is complete, and only once."""

import hashlib
import os
import shutil
import time

import numpy as np
import pytest
from explicit_models import EXPLICIT, index, wait_for_index, write
from models import ONE_CPU_INSTANCE, Repository

SETTLE = 2
POLLING = ("--model-control-mode=poll", "--repository-poll-secs=1",
           f"--repository-settle-secs={SETTLE}")

pytestmark = pytest.mark.skipif("config.getoption('--peer')", reason="Triton has no settle time")


def write_models(root):
    Repository(root).identity("served", [("FP32", [4])], batch=8, extra=ONE_CPU_INSTANCE)


@pytest.fixture(scope="module")
def polling(start_server):
    return start_server("settle", write_models, *POLLING)


@pytest.fixture(params=["http", "grpc"])
def client(request, polling, connect):
    return connect(request.param, polling)


@pytest.fixture
def source(tmp_path, client):
    """A model in another directory, with files beside its configuration."""
    name = f"m{time.monotonic_ns()}"
    Repository(tmp_path).identity(name, [("FP32", [4])], batch=8, extra=ONE_CPU_INSTANCE)
    write(tmp_path / name / "1" / "weights", bytes(range(256)) * 2)
    write(tmp_path / name / "labels.txt", "a\nb\n")
    return tmp_path / name


def eventually(question, seconds=30):
    end = time.monotonic() + seconds
    while not question() and time.monotonic() < end:
        time.sleep(0.05)
    assert question()


def loads(server, name):
    return server.log.read_text().count(f"loading: {name}:1")


def infer(client, name):
    values = np.arange(4, dtype=np.float32).reshape(1, 4)
    answer = client.infer(name, [client.input("INPUT0", values)])
    assert (answer.array("OUTPUT0") == values).all()


def copy_slowly(source, target):
    """Writes each file byte by byte, all files at the same time. Returns the longest pause in seconds."""
    files = [path for path in sorted(source.rglob("*")) if path.is_file()]
    contents = {path.relative_to(source): path.read_bytes() for path in files}
    for path in contents:
        (target / path).parent.mkdir(parents=True, exist_ok=True)
    longest, last = 0, time.monotonic()
    for i in range(max(map(len, contents.values()))):
        for path, content in contents.items():
            if i < len(content):
                with open(target / path, "ab") as file:
                    file.write(content[i:i + 1])
        now = time.monotonic()
        longest, last = max(longest, now - last), now
        time.sleep(0.02)
    return longest


def test_a_model_that_is_copied_byte_by_byte_is_loaded_once_and_whole(client, polling, source):
    for attempt in range(5):
        name = f"{source.name}_{attempt}"
        named = source.with_name(name)
        shutil.copytree(source, named)
        config = named / "config.pbtxt"
        config.write_text(config.read_text().replace(source.name, name))
        # A machine that stands still makes the files look complete.
        if copy_slowly(named, polling.repository / name) < 0.7 * SETTLE:
            break
    assert loads(polling, name) == 0
    assert not client.call("is_model_ready", name)
    eventually(lambda: client.call("is_model_ready", name))
    infer(client, name)
    time.sleep(SETTLE + 2)
    assert loads(polling, name) == 1
    assert f"'{name}': " not in polling.log.read_text(), "an attempt has failed"


def test_what_serves_continues_during_a_copy(client, polling, source):
    name = source.name
    target = polling.repository / name
    shutil.copytree(source, target)
    eventually(lambda: client.call("is_model_ready", name))
    (target / "config.pbtxt").write_bytes(b"")
    for i in range(20):
        infer(client, name)
        (target / "1" / "weights").write_bytes(bytes(i))
        time.sleep(0.1)
    shutil.copy(source / "config.pbtxt", target / "config.pbtxt")
    eventually(lambda: loads(polling, name) == 2)
    infer(client, name)


def test_a_rename_needs_no_settle_time(client, polling, source):
    staged = polling.repository.with_name(f"staged-{source.name}")
    shutil.copytree(source, staged)
    time.sleep(3)  # a scan that does not see it
    before = time.monotonic()
    staged.rename(polling.repository / source.name)
    eventually(lambda: client.call("is_model_ready", source.name))
    assert time.monotonic() - before < SETTLE + 0.5, "it has not waited for two scans"
    assert loads(polling, source.name) == 1


def test_a_directory_that_is_exchanged_serves_meanwhile(client, polling, source):
    name = source.name
    target = polling.repository / name
    shutil.copytree(source, target)
    eventually(lambda: client.call("is_model_ready", name))
    staged = polling.repository.with_name(f"staged-{name}")
    shutil.copytree(source, staged)
    time.sleep(2)
    target.rename(polling.repository.with_name(f"old-{name}"))
    time.sleep(1.2)  # a scan that misses it
    assert client.call("is_model_ready", name)
    staged.rename(target)
    eventually(lambda: loads(polling, name) == 2)
    infer(client, name)


def test_a_list_of_checksums_names_the_set(client, polling, source):
    name = source.name
    target = polling.repository / name
    target.mkdir()
    lines = [f"{hashlib.sha256(path.read_bytes()).hexdigest()}  {path.relative_to(source)}\n"
             for path in sorted(source.rglob("*")) if path.is_file()]
    (target / "nereid.sha256").write_text("".join(lines))
    (target / "1").mkdir()
    for path in ("labels.txt", "1/weights"):
        shutil.copy(source / path, target / path)
    time.sleep(SETTLE + 2)  # longer than the settle time
    assert loads(polling, name) == 0
    assert f"model '{name}' is not loaded: the file 'config.pbtxt' is missing" in \
        polling.log.read_text()
    shutil.copy(source / "config.pbtxt", target)
    eventually(lambda: client.call("is_model_ready", name))
    assert loads(polling, name) == 1


def test_a_deletion_must_last(client, polling, source):
    name = source.name
    shutil.copytree(source, polling.repository / name)
    eventually(lambda: client.call("is_model_ready", name))
    shutil.rmtree(polling.repository / name)
    time.sleep(1)
    assert client.call("is_model_ready", name)
    eventually(lambda: not client.call("is_model_ready", name))
    assert index(client, name) == []


def test_content_counts_where_times_lie(client, polling, source):
    name = source.name
    weights = polling.repository / name / "1" / "weights"
    shutil.copytree(source, polling.repository / name)
    eventually(lambda: client.call("is_model_ready", name))
    time.sleep(0.1)
    times = weights.stat()
    with open(weights, "r+b") as file:  # the same file, size and modification time
        file.write(b"\xff")
    os.utime(weights, ns=(times.st_atime_ns, times.st_mtime_ns))
    eventually(lambda: loads(polling, name) == 2)


def test_a_requested_load_waits_until_the_files_are_still(start_server, connect):
    server = start_server("settle_explicit", write_models, *EXPLICIT,
                          f"--repository-settle-secs={SETTLE}")
    client = connect("grpc", server)
    write(server.repository / "served" / "labels.txt", "a")
    begin = time.monotonic()
    client.call("load_model", "served")
    assert time.monotonic() - begin > SETTLE - 1
    wait_for_index(client, "served", [("1", "READY", "")])
    begin = time.monotonic()
    client.call("unload_model", "served")
    client.call("load_model", "served")
    assert time.monotonic() - begin < SETTLE - 1, "nothing has changed since"


def test_a_start_without_polls_waits(start_server, connect):
    begin = time.monotonic()
    server = start_server("settle_once", write_models, f"--repository-settle-secs={SETTLE}")
    assert time.monotonic() - begin > SETTLE - 1
    assert connect("http", server).call("is_model_ready", "served")
    assert loads(server, "served") == 1


def test_a_start_leaves_out_what_is_being_copied(start_server, connect):
    def write_all(root):
        write_models(root)
        Repository(root).identity("late", [("FP32", [4])], extra=ONE_CPU_INSTANCE)
        later = time.time() - 3600
        os.utime(root / "late" / "config.pbtxt", (later, later))

    server = start_server("settle_start", write_all, *POLLING)
    client = connect("http", server)
    eventually(lambda: client.call("is_model_ready", "late"))
    assert loads(server, "late") == 1
