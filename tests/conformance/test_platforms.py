# SPDX-License-Identifier: Apache-2.0
"""One server with a model of every platform: each gives the results of its own framework, and all
frameworks run in one process.

A platform without a built backend or without reference data is skipped by name.
"""

import threading
from pathlib import Path

import numpy as np
import pytest
from platform_models import PLATFORMS, close

TIMES = 20


@pytest.fixture(scope="module")
def serving(start_server, built_platforms):
    def write(root):
        for name in built_platforms:
            platform = PLATFORMS[name]
            platform.put(root, name, platform.config())
    return start_server("platforms", write)


@pytest.fixture(params=["http", "grpc"])
def client(request, serving, connect):
    return connect(request.param, serving)


@pytest.fixture(params=list(PLATFORMS))
def name(request, built_platforms):
    if request.param not in built_platforms:
        pytest.skip(f"the backend or the reference data of {request.param} is not there")
    return request.param


def test_answers_are_the_frameworks_own(client, name):
    given, wanted = PLATFORMS[name].case()
    close(PLATFORMS[name].ask(client, name, given), wanted, name)
    metadata = client.json("get_model_metadata", name)
    assert metadata["inputs"][0] == {"name": PLATFORMS[name].given, "datatype": "FP32",
                                     "shape": [-1, PLATFORMS[name].dims[0]]}


def test_all_at_once(serving, connect, built_platforms):
    """A thread for each model sends requests, all at the same time."""
    failures = []

    def ask(name, protocol):
        platform = PLATFORMS[name]
        given, wanted = platform.case()
        client = connect(protocol, serving)
        try:
            for i in range(TIMES):
                rows = given[: 1 + i % len(given)]
                close(platform.ask(client, name, rows), wanted[: len(rows)], name)
        except Exception as error:  # reported below
            failures.append(f"{name} over {protocol}: {error}")

    threads = []
    for name in built_platforms:
        # Threads may share these two clients.
        for protocol in ("http_aio", "grpc"):
            connect(protocol, serving)
            threads.append(threading.Thread(target=ask, args=(name, protocol)))
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures, "\n".join(failures)


def test_the_frameworks_share_one_process(serving, built_platforms):
    maps = Path(f"/proc/{serving.process.pid}/maps").read_text()
    assert [n for n in built_platforms if PLATFORMS[n].library not in maps] == []


def test_a_plan_without_tensorrt_says_what_to_install(start_server, connect, is_peer):
    if is_peer:
        pytest.skip("what Triton says of a missing backend is its own affair")

    def write(root):
        (root / "plan" / "1").mkdir(parents=True)
        (root / "plan" / "1" / "model.plan").write_bytes(b"a plan")
        (root / "plan" / "config.pbtxt").write_text(
            'platform: "tensorrt_plan"\nmax_batch_size: 8\n'
            'input { name: "x" data_type: TYPE_FP32 dims: [ 4 ] }\n'
            'output { name: "y" data_type: TYPE_FP32 dims: [ 4 ] }\n')

    server = start_server("plan", write, "--model-control-mode=explicit")
    for protocol in ("http", "grpc"):
        client = connect(protocol, server)
        _, text = client.error(client.call, "load_model", "plan")
        if "TensorRT refuses" in text:
            pytest.skip("this build has TensorRT")
        for word in ("'plan'", "libnvinfer-dev", "-DTENSORRT_ROOT=DIR"):
            assert word in text


def test_rows_of_a_batch_are_those_of_single_requests(client, name):
    given, wanted = PLATFORMS[name].case()
    got = np.concatenate([PLATFORMS[name].ask(client, name, given[i:i + 1])
                          for i in range(len(given))])
    close(got, wanted, name)
