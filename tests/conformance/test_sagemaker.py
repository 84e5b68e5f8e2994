# SPDX-License-Identifier: Apache-2.0
"""The front end for SageMaker: health, invocations, models that are loaded by their paths."""

import json
import re
import subprocess

import clouds
import models
import pytest
from clouds import ask
from server_process import ServerFailed, free_ports

MODEL = "fixed"
TENSORS = [("INT32", [2])]


def write(root):
    repository = models.Repository(root)
    repository.identity(MODEL, TENSORS)
    repository.broken("broken")


@pytest.fixture(scope="module")
def archives(tmp_path_factory):
    """A folder of unpacked archives: FOLDER/HASH/model."""
    root = tmp_path_factory.mktemp("archives")
    for name in ("one", "second", "third"):
        models.Repository(root / name / "model").identity("resnet", TENSORS)
    flat = models.Repository(root / "flat")
    flat.identity("model", TENSORS)
    several = models.Repository(root / "several" / "model")
    several.identity("a", TENSORS)
    several.identity("b", TENSORS)
    models.Repository(root / "faulty" / "model").broken("resnet")
    (root / "empty" / "model").mkdir(parents=True)
    (root / "outside").symlink_to("/usr")
    write_ensemble(root / "ensemble" / "model")
    return root


def write_ensemble(root):
    models.Repository(root).identity("member", TENSORS)
    (root / "whole" / "1").mkdir(parents=True)
    (root / "whole" / "config.pbtxt").write_text("""
platform: "ensemble"
input { name: "INPUT0" data_type: TYPE_INT32 dims: [ 2 ] }
output { name: "OUTPUT0" data_type: TYPE_INT32 dims: [ 2 ] }
ensemble_scheduling { step {
  model_name: "member" model_version: -1
  input_map { key: "INPUT0" value: "INPUT0" }
  output_map { key: "OUTPUT0" value: "OUTPUT0" } } }
""")


@pytest.fixture(scope="module")
def start(start_server, archives):
    """Starts a server with the front end; returns its port and the server."""
    def start(name, *flags, wait_path="/v2/health/ready", **environment):
        (port,) = free_ports(1)
        server = start_server(
            name, write, "--model-control-mode=explicit", f"--load-model={MODEL}",
            f"--model-repository={archives}", "--allow-sagemaker=true", f"--sagemaker-port={port}",
            *flags, wait_path=wait_path,
            environment={f"SAGEMAKER_TRITON_{key}": value for key, value in environment.items()})
        clouds.wait(server, port)
        return port, server
    return start


@pytest.fixture(scope="module")
def port(start):
    return start("sagemaker", DEFAULT_MODEL_NAME=MODEL)[0]


def load(port, name, url, **headers):
    return ask(port, "POST", "/models", json.dumps({"model_name": name, "url": str(url)}),
               **headers)


@pytest.fixture
def loaded(port, archives):
    """The model "m", loaded from an archive."""
    url = archives / "one" / "model"
    assert load(port, "m", url).status == 200
    yield str(url)
    ask(port, "DELETE", "/models/m")


def test_ping(port):
    reply = ask(port, "GET", "/ping")
    assert (reply.status, reply.body) == (200, b"")


@pytest.mark.parametrize("mode,status", [("ready", 400), ("live", 200)])
def test_ping_of_a_server_that_is_not_ready(start, archives, mode, status):
    port, _ = start(f"ping_{mode}", "--load-model=broken", "--exit-on-error=false",
                    wait_path="/v2/health/live", PING_MODE=mode)
    assert ask(port, "GET", "/ping").status == status


def test_invocations(port):
    assert clouds.values(ask(port, "POST", "/invocations", clouds.JSON)) == [1, -2]


def test_binary_tensors(port):
    body = clouds.BINARY_HEAD + clouds.DATA
    size = len(clouds.BINARY_HEAD)
    reply = ask(port, "POST", "/invocations", body,
                Content_Type=f"{clouds.SAGEMAKER_TYPE}{size}")
    head, data = clouds.binary(reply)
    assert data == clouds.DATA
    assert head["outputs"][0]["parameters"] == {"binary_data_size": 8}
    assert "inference-header-content-length" not in reply.headers


@pytest.mark.parametrize("size", ["-1", "9999"])
def test_sizes_outside_of_the_body(port, size):
    reply = ask(port, "POST", "/invocations", clouds.BINARY_HEAD + clouds.DATA,
                Content_Type=clouds.SAGEMAKER_TYPE + size)
    length = len(clouds.BINARY_HEAD + clouds.DATA)
    assert (reply.status, reply.error) == (
        400, f"inference header size should be in range (0, {length}), got: {size}")


@pytest.mark.parametrize("size", ["", "x", "5x", "99999999999999999999"])
def test_sizes_that_are_no_numbers(port, size):
    reply = ask(port, "POST", "/invocations", clouds.BINARY_HEAD + clouds.DATA,
                Content_Type=clouds.SAGEMAKER_TYPE + size)
    assert (reply.status, reply.error) == (
        400, f"Unable to parse inference header size, got: {size}")


@pytest.mark.parametrize("body", clouds.WRONG_BODIES.values(), ids=clouds.WRONG_BODIES)
@pytest.mark.parametrize("path", clouds.named("/invocations", "/models/m/invoke"))
def test_wrong_bodies(port, loaded, path, body):
    reply = ask(port, "POST", path, body)
    assert reply.status in (400, 500)
    assert reply.error
    assert clouds.values(ask(port, "POST", path, clouds.JSON)) == [1, -2]


@pytest.mark.parametrize("path", clouds.named(
    "/", "/pingx", "/ping/", "/v2", "/v2/health/ready", "/metrics", f"/v2/models/{MODEL}/infer",
    "/models/a/b/c"))
def test_other_paths(port, path):
    for method in ("GET", "POST"):
        reply = ask(port, method, path)
        assert (reply.status, reply.body) == (400, b"")


def test_wrong_methods(port):
    assert ask(port, "POST", "/ping").status == 405
    for method in ("GET", "PUT", "DELETE"):
        assert ask(port, method, "/invocations").status == 405


def test_models_come_and_go(port, loaded):
    document = {"modelName": "m", "modelUrl": loaded}
    assert ask(port, "GET", "/models/m").json == document
    assert ask(port, "GET", "/models").json == {"models": [document]}
    assert clouds.values(ask(port, "POST", "/models/m/invoke", clouds.JSON)) == [1, -2]
    assert ask(port, "DELETE", "/models/m").status == 200
    assert ask(port, "GET", "/models").json == {"models": []}
    assert ask(port, "GET", "/models/m").status == 404
    assert ask(port, "DELETE", "/models/m").status == 404
    assert ask(port, "POST", "/models/m/invoke", clouds.JSON).status == 404
    assert load(port, "m", loaded).status == 200


def test_binary_tensors_of_a_loaded_model(port, loaded):
    reply = ask(port, "POST", "/models/m/invoke", clouds.BINARY_HEAD + clouds.DATA,
                Content_Type=f"{clouds.SAGEMAKER_TYPE}{len(clouds.BINARY_HEAD)}")
    head, data = clouds.binary(reply)
    assert (head["model_name"], data) == ("m", clouds.DATA)


def test_models_of_the_repository_are_not_listed(port):
    assert ask(port, "GET", "/models").json == {"models": []}
    assert ask(port, "GET", f"/models/{MODEL}").status == 404
    assert ask(port, "DELETE", f"/models/{MODEL}").status == 404
    assert ask(port, "POST", f"/models/{MODEL}/invoke", clouds.JSON).status == 404
    assert clouds.values(ask(port, "POST", "/invocations", clouds.JSON)) == [1, -2]


def test_loaded_models_are_refused(port, loaded):
    assert load(port, "m", loaded).status == 409


def test_loaded_names_are_refused(port, archives, loaded):
    """Also with another directory, and if the model is of the model repository."""
    assert load(port, "m", archives / "second" / "model").status == 409
    assert load(port, MODEL, archives / "second" / "model").status == 409


def test_a_directory_is_loaded_once(port, loaded):
    assert load(port, "other", loaded).status == 409


def test_the_directory_of_a_model(port, archives):
    assert load(port, "m", archives / "flat" / "model").status == 200
    assert ask(port, "GET", "/models/m").json["modelUrl"] == str(archives / "flat" / "model")
    assert clouds.values(ask(port, "POST", "/models/m/invoke", clouds.JSON)) == [1, -2]
    assert ask(port, "DELETE", "/models/m").status == 200


def test_ensembles(port, archives):
    assert load(port, "m", archives / "ensemble" / "model").status == 200
    assert clouds.values(ask(port, "POST", "/models/m/invoke", clouds.JSON)) == [1, -2]
    assert ask(port, "DELETE", "/models/m").status == 200


@pytest.mark.parametrize("body", [b"", b"{}", b'{"model_name":"m"}', b'{"url":"/m"}'],
                         ids=range(4))
def test_load_requests_without_a_member(port, body):
    reply = ask(port, "POST", "/models", body)
    assert reply.status == 400
    assert reply.error


@pytest.mark.parametrize("body", [b"{", b"[]", b"\0", b'{"model_name":1,"url":"/m"}',
                                  b'{"model_name":"m","url":[]}', b"[" * 100_00], ids=range(6))
def test_load_requests_that_are_not_understood(port, body):
    reply = ask(port, "POST", "/models", body)
    assert reply.status == 400
    assert reply.error


def test_directories_that_are_missing(port, archives):
    assert load(port, "m", archives / "absent" / "model").status == 400
    assert ask(port, "GET", "/models").json == {"models": []}


def test_directories_without_one_model(port, archives):
    for name, text in [("empty", "contains none of these"), ("several", "the models 'a', 'b'")]:
        reply = load(port, "m", archives / name / "model")
        assert reply.status == 400
        assert text in reply.error
    assert ask(port, "GET", "/models").json == {"models": []}


def test_models_that_cannot_be_loaded(port, archives):
    url = archives / "faulty" / "model"
    for _ in range(2):
        assert load(port, "m", url).status == 400
    assert ask(port, "GET", "/models").json == {"models": []}
    assert ask(port, "GET", "/models/m").status == 404


@pytest.mark.parametrize("url", clouds.named(
    "/usr", "/", "", "archive", "file:///usr", "s3://bucket/model", "ROOT", "ROOT/",
    "ROOT/one/../..", "ROOT/outside/share", "ROOT/../..", "/opt/ml/modelsx",
    "/opt/ml/models/../model"))
def test_directories_that_may_not_be_loaded(port, archives, url):
    reply = load(port, "m", url.replace("ROOT", str(archives)))
    assert reply.status == 400
    assert reply.error.startswith("the url of a model must be the path of a directory below '")


@pytest.mark.parametrize("name", clouds.named("", "../m", "a/b", "."))
def test_names_that_are_no_names(port, archives, name):
    assert load(port, name, archives / "one" / "model").status == 400
    assert ask(port, "GET", "/models").json == {"models": []}


def test_large_load_requests(port):
    assert ask(port, "POST", "/models", b" " * 100_000).status == 413


def test_pages(port, archives, loaded):
    """One page is enough for these models: there is no token, and one of a stranger is refused."""
    assert "nextPageToken" not in ask(port, "GET", "/models").json
    assert ask(port, "GET", "/models?next_page_token=6d").json == {"models": []}
    assert ask(port, "GET", "/models?next_page_token=none").status == 400


def test_methods_of_models(port):
    assert ask(port, "DELETE", "/models").status == 405
    assert ask(port, "POST", f"/models/{MODEL}").status == 405
    assert ask(port, "GET", f"/models/{MODEL}/invoke").status == 405


@pytest.mark.parametrize("kind", ["generate", "generate_stream"])
def test_generate(start, kind):
    port, _ = start(kind, DEFAULT_MODEL_NAME=MODEL, INFERENCE_TYPE=kind)
    reply = ask(port, "POST", "/invocations", b'{"INPUT0":[1,-2]}')
    assert reply.status == 200
    text = reply.body.removeprefix(b"data: ") if kind == "generate_stream" else reply.body
    assert json.loads(text)["OUTPUT0"] == [1, -2]


def test_without_a_default_model(start):
    port, _ = start("no_default", PING_MODE="live")
    assert ask(port, "GET", "/ping").status == 200
    reply = ask(port, "POST", "/invocations", clouds.JSON)
    assert (reply.status, reply.error) == (
        404, "Request for unknown model: 'unspecified_SAGEMAKER_TRITON_DEFAULT_MODEL_NAME' is not "
             "found")


def test_variables_are_checked(start):
    for name, value in [("PING_MODE", "alive"), ("INFERENCE_TYPE", "predict")]:
        with pytest.raises(ServerFailed, match=f"SAGEMAKER_TRITON_{name} must be"):
            start("variable", **{name: value})


def test_safe_ports(start):
    with pytest.raises(ServerFailed, match=r"allowed port range is \[1, 2\]"):
        start("unsafe", "--sagemaker-safe-port-range=1-2", "--metrics-address=0.0.0.0")


def test_models_are_loaded_only_in_mode_explicit(start_server, archives):
    (port,) = free_ports(1)
    server = start_server("all", write, f"--model-repository={archives / 'second'}",
                          "--exit-on-error=false", "--allow-sagemaker=true",
                          f"--sagemaker-port={port}", wait_path="/v2/health/live")
    clouds.wait(server, port)
    reply = load(port, "m", archives / "second" / "model")
    assert reply.status == 400
    assert reply.error == ("repository registration is not allowed if model control mode is not "
                           "EXPLICIT")


def test_restricted_apis(start, archives):
    port, _ = start("restricted", "--http-restricted-api=inference,model-repository:key=value",
                    DEFAULT_MODEL_NAME=MODEL)
    assert ask(port, "GET", "/ping").status == 200
    requests = [("POST", "/invocations", clouds.JSON), ("POST", "/models/m/invoke", clouds.JSON),
                ("GET", "/models", None), ("POST", "/models", b"{}"), ("GET", "/models/m", None),
                ("DELETE", "/models/m", None)]
    for method, path, body in requests:
        reply = ask(port, method, path, body)
        assert (reply.status, reply.error) == (
            403, "This API is restricted, expecting header 'key'")
        assert ask(port, method, path, body, key="value").status != 403


def test_logs(start, archives, is_peer):
    if is_peer:
        pytest.skip("Triton has no access log")
    port, server = start("logged", "--access-log=true", DEFAULT_MODEL_NAME=MODEL)
    clouds.values(ask(port, "POST", "/invocations", clouds.JSON))
    target = {"X_Amzn_SageMaker_Target_Model": "resnet.tar.gz"}
    assert load(port, "m", archives / "one" / "model", **target).status == 200
    reply = ask(port, "POST", "/models/m/invoke", clouds.JSON, **target)
    assert reply.json["model_name"] == "m"
    assert ask(port, "DELETE", "/models/m").status == 200
    log = server.log_tail()
    assert re.search(r"POST.*/invocations.*fixed", log)
    assert re.search(r"POST.*/models/m/invoke", log)
    assert "Loading SageMaker TargetModel: resnet.tar.gz" in log
    assert "Unloading SageMaker TargetModel: m" in log


def test_curl(port, tmp_path):
    """The documented commands."""
    (tmp_path / "request.json").write_bytes(clouds.JSON)
    reply = subprocess.run(["curl", "-sf", f"localhost:{port}/invocations", "-d", "@request.json"],
                           cwd=tmp_path, capture_output=True, check=True).stdout
    assert json.loads(reply)["model_name"] == MODEL
