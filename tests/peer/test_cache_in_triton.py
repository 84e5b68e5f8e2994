# SPDX-License-Identifier: Apache-2.0
"""Nereid's caches load in the real Triton and store its responses.

Triton decides what a hit is (its key omits shapes and outputs, see docs/user/response_cache.md).
These tests check that the plug-ins store and find responses.
"""

import shutil
import subprocess

import models
import numpy as np
import pytest
import raw_http
import tritonclient.http as http_client
from server_process import ServerProcess
from test_response_cache_redis import Redis


def write(root):
    repository = models.Repository(root)
    repository.identity("cached", [("FP32", [-1])], extra=models.CACHED)


def ask(client, array):
    tensor = http_client.InferInput("INPUT0", list(array.shape), "FP32")
    tensor.set_data_from_numpy(array)
    assert (client.infer("cached", [tensor]).as_numpy("OUTPUT0") == array).all()


def counts(server):
    stats = raw_http.get(server, "/v2/models/cached/stats").json["model_stats"][0]
    return {k: stats["inference_stats"][k]["count"] for k in ("cache_hit", "cache_miss")}


def is_loaded(server, peer, name):
    with open(f"/proc/{server.process.pid}/maps") as maps:
        return f"{peer}/caches/{name}/libtritoncache_{name}.so" in maps.read()


@pytest.fixture
def client():
    made = []

    def make(server):
        made.append(http_client.InferenceServerClient(server.http))
        return made[-1]

    yield make
    for one in made:
        one.close()


def test_local(start_triton, peer, client):
    server = start_triton("local", write, "--cache-config=local,size=4096")
    assert is_loaded(server, peer, "local")
    asker = client(server)
    arrays = [np.full(100, i, np.float32) for i in range(10)]
    for array in (arrays[0], arrays[0]):
        ask(asker, array)
    assert counts(server) == {"cache_hit": 1, "cache_miss": 1}
    for array in arrays[1:]:
        ask(asker, array)
    ask(asker, arrays[9])
    assert counts(server) == {"cache_hit": 2, "cache_miss": 10}
    ask(asker, arrays[0])  # 4096 bytes have no room for ten of them, so the cache has evicted some
    assert counts(server) == {"cache_hit": 2, "cache_miss": 11}
    ask(asker, np.zeros(2000, np.float32))  # too large
    log = server.log_tail(1000)
    assert "Failed to insert key [" in log
    assert "is greater than total cache size: 4096" in log
    page = raw_http.get(server, "/metrics", port=server.metrics_port).body.decode()
    assert "nv_cache_num_evictions" in page


def test_redis(start_triton, peer, client, tmp_path):
    redis = Redis(tmp_path).start()
    try:
        server = start_triton("redis", write, *redis.flags())
        assert is_loaded(server, peer, "redis")
        asker = client(server)
        array = np.arange(5, dtype=np.float32)
        ask(asker, array)
        ask(asker, array)
        assert counts(server) == {"cache_hit": 1, "cache_miss": 1}
        assert len(redis.command("KEYS", "*")) == 1
        redis.kill()
        ask(asker, array)
        ask(asker, array + 1)
    finally:
        redis.kill()


def test_tritons_own_cache_runs_in_nereid(peer, client, request, tmp_path):
    """The reverse: the cache that NVIDIA compiled runs in Nereid."""
    built = peer / "wheel/pytriton/tritonserver/caches/local/libtritoncache_local.so"
    library = tmp_path / "caches" / "local" / built.name
    library.parent.mkdir(parents=True)
    shutil.copy(built, library)
    needed = subprocess.run(["patchelf", "--print-needed", str(library)], check=True,
                            capture_output=True, text=True).stdout.split()
    for name in (n for n in needed if n.startswith("libtritonserver")):
        subprocess.run(["patchelf", "--replace-needed", name, "libtritonserver.so", str(library)],
                       check=True)
    build = request.config.option.build.resolve()
    write(tmp_path / "models")
    server = ServerProcess([str(build / "bin" / "nereid"), "serve"], tmp_path / "models",
                           tmp_path / "server.log",
                           [f"--backend-directory={build / 'backends'}",
                            f"--cache-directory={tmp_path / 'caches'}",
                            "--cache-config=local,size=1048576"]).start()
    try:
        with open(f"/proc/{server.process.pid}/maps") as maps:
            assert str(library) in maps.read()
        asker = client(server)
        for shape in ((6,), (6,), (6,)):
            ask(asker, np.full(shape, 1.5, np.float32))
        assert counts(server) == {"cache_hit": 2, "cache_miss": 1}
        ask(asker, np.zeros(1_000_000, np.float32))  # too large
        assert "Failed to insert key [" in server.log_tail(1000)
    finally:
        server.stop()
