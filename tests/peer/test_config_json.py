# SPDX-License-Identifier: Apache-2.0
"""The configuration of a model that clients get: Nereid's beside Triton's, byte for byte.

Each text of config_models.py is a model of both servers. Over HTTP the bodies of the config
endpoint are equal, over gRPC the messages are. `nereid explain --format=config-json`, which loads
nothing, prints the same bytes. DIFFERENCES lists the exceptions, each with its reason.
"""

import json
import shutil
import subprocess

import config_models
import models
import pytest
import raw_http
import tritonclient.grpc as grpc_client
from google.protobuf import json_format
from server_process import ServerProcess, peer_command
from tritonclient.grpc import model_config_pb2

# The backends that are replaced by a plug-in that accepts every configuration.
ANY_BACKENDS = ("tensorrt", "tensorflow", "pytorch", "openvino", "mine")

# Maps: Triton prints the entries in the order of a hash table, which is not the same in every
# process; we sort them. Compared with the entries sorted.
MAPS = ("parameters", "metric_tags", "cc_model_filenames", "inputs", "input_map", "output_map",
        "priority_queue_policy")


def add_inflight_limit(document):
    document["ensemble_scheduling"]["max_inflight_requests"] = 0


# model -> (how to change Triton's document into ours, why they differ).
DIFFERENCES = {
    "pipeline": (add_inflight_limit, "the field is younger than Triton 2.51"),
}


def provide_backends(folder, build, servers_own):
    """Makes a backend directory with the server's own plug-ins, and one plug-in that accepts every
    configuration."""
    folder.mkdir()
    for name in ("identity", "onnxruntime"):
        (folder / name).symlink_to(servers_own / name)
    for name in ANY_BACKENDS:
        (folder / name).mkdir()
        shutil.copy(build / "tests" / "peer" / "libany_backend.so",
                    folder / name / f"libtriton_{name}.so")
    return folder


@pytest.fixture(scope="module")
def repository(tmp_path_factory):
    root = tmp_path_factory.mktemp("config_json") / "models"
    sum_model = models.Repository(root.parent / "graphs")
    sum_model.onnx("sum", models.sum_graph())
    graph = (root.parent / "graphs" / "sum" / "1" / "model.onnx").read_bytes()
    config_models.write(root, graph)
    return root


def serve(command, repository, log, backends, peer):
    server = ServerProcess(command, repository, log,
                           (f"--backend-directory={backends}", "--exit-on-error=false",
                            "--strict-readiness=false"), peer=peer)
    return server.start()


@pytest.fixture(scope="module")
def triton(peer, request, repository, tmp_path_factory):
    folder = tmp_path_factory.mktemp("triton")
    backends = provide_backends(folder / "backends", request.config.option.build.resolve(),
                                peer / "backends")
    server = serve(peer_command(peer), repository, folder / "server.log", backends, peer=True)
    yield server
    server.stop()


@pytest.fixture(scope="module")
def nereid_backends(request, tmp_path_factory):
    build = request.config.option.build.resolve()
    return provide_backends(tmp_path_factory.mktemp("nereid") / "backends", build,
                            build / "backends")


@pytest.fixture(scope="module")
def nereid(request, repository, nereid_backends):
    command = [str(request.config.option.build.resolve() / "bin" / "nereid"), "serve"]
    server = serve(command, repository, nereid_backends.parent / "server.log", nereid_backends,
                   peer=False)
    yield server
    server.stop()


def config_body(server, name):
    answer = raw_http.get(server, f"/v2/models/{name}/config")
    assert answer.status == 200, f"{name}: {answer.body!r}\n{server.log_tail(20)}"
    return answer.body.decode()


def dump(document):
    return json.dumps(document, separators=(",", ":"), ensure_ascii=False)


def sort_maps(document):
    if isinstance(document, list):
        return [sort_maps(element) for element in document]
    if not isinstance(document, dict):
        return document
    return {key: dict(sorted((k, sort_maps(v)) for k, v in value.items()))
            if key in MAPS and isinstance(value, dict) else sort_maps(value)
            for key, value in document.items()}


def expected(name, body):
    """Triton's body with the written differences applied."""
    document = json.loads(body)
    assert dump(document) == body, "what is compared would not be the body's bytes"
    document = sort_maps(document)
    if name in DIFFERENCES:
        before = dump(document)
        DIFFERENCES[name][0](document)
        assert dump(document) != before, f"{name}: the difference is gone, take it off the list"
    return dump(document)


def is_loaded(server, name):
    return raw_http.get(server, f"/v2/models/{name}/ready").status == 200


@pytest.mark.parametrize("name", config_models.CONFIGS)
def test_bodies_are_equal(triton, nereid, name):
    assert is_loaded(nereid, name), nereid.log_tail(60)
    assert config_body(nereid, name) == expected(name, config_body(triton, name))


@pytest.mark.parametrize("name", config_models.CONFIGS)
def test_messages_are_equal(triton, nereid, name):
    def config(server):
        with grpc_client.InferenceServerClient(server.grpc) as client:
            return client.get_model_config(name).config

    wanted = config(triton)
    if name in DIFFERENCES:
        document = json_format.MessageToDict(wanted, preserving_proto_field_name=True)
        DIFFERENCES[name][0](document)
        wanted = json_format.ParseDict(document, model_config_pb2.ModelConfig())
    assert config(nereid) == wanted


@pytest.mark.parametrize("name", config_models.CONFIGS)
def test_explain_prints_the_same(triton, repository, nereid_backends, request, name):
    command = [str(request.config.option.build.resolve() / "bin" / "nereid"), "explain",
               "--format=config-json", str(repository / name)]
    if name in config_models.ONNX:  # the backend completes these
        command += ["--load", f"--backend-directory={nereid_backends}"]
    printed = subprocess.run(command, capture_output=True, text=True, check=False)
    assert printed.returncode == 0, printed.stderr
    wanted = expected(name, config_body(triton, name))
    assert printed.stdout == wanted + "\n"


def test_there_are_enough():
    assert len(config_models.CONFIGS) >= 40
    assert set(DIFFERENCES) <= set(config_models.CONFIGS)


def test_check_finds_nothing(repository, nereid_backends, request):
    """nereid check accepts every configuration that both servers load."""
    checked = subprocess.run(
        [str(request.config.option.build.resolve() / "bin" / "nereid"), "check", str(repository),
         f"--backend-directory={nereid_backends}", "--format=json"],
        capture_output=True, text=True, check=False)
    report = json.loads(checked.stdout)
    errors = [f for f in report["findings"] if f["severity"] == "error"]
    assert not errors
    assert checked.returncode == 0
    assert report["models"] == len(config_models.CONFIGS)
