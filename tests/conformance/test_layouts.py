# SPDX-License-Identifier: Apache-2.0
"""Wrong layouts of model directories: what nereid check and a load say about them, and that whoever
follows the advice to the letter has a model that serves. Nereid only: Triton gives no advice."""

import json
import os
import re
import shlex
import shutil
import subprocess
from pathlib import Path

import layouts
import pytest
import python_backend
import raw_http
from server_process import ServerProcess

ROOT = Path(__file__).resolve().parents[2]
CASES = sorted(path.parent.name for path in layouts.LAYOUTS.glob("*/tree.txt"))
MEMBER = ('backend: "identity" input { name: "IN" data_type: TYPE_FP32 dims: [ 2 ] } '
          'output { name: "OUT" data_type: TYPE_FP32 dims: [ 2 ] }\n')
# Root may read everything; the server must not.
WITHOUT_OVERRIDE = ["setpriv", "--bounding-set=-dac_override,-dac_read_search"]


@pytest.fixture(scope="module")
def command(request, is_peer):
    if is_peer:
        pytest.skip("Triton gives no advice")
    given = request.config.option.server_command
    words = shlex.split(given) if given else [str(ROOT / "build/release/bin/nereid"), "serve"]
    if os.geteuid() == 0:
        if shutil.which("setpriv") is None:
            pytest.skip("setpriv is not installed")
        words = WITHOUT_OVERRIDE + words
    return words


@pytest.fixture(scope="module")
def program(command):
    """The program without the privilege of root, for nereid check."""
    return command[:command.index("serve")]


@pytest.fixture(scope="module")
def backend_folder(request, backends, tmp_path_factory):
    folder = python_backend.find(request.config.option.python_backend)
    if folder is None:
        return backends
    return python_backend.backend_directory(folder, backends,
                                            tmp_path_factory.mktemp("layouts") / "backends")


@pytest.fixture(scope="module")
def layout_server(request, command, backend_folder, tmp_path_factory):
    folder = tmp_path_factory.mktemp("layouts")
    member = folder / "models" / "member"
    (member / "1").mkdir(parents=True)
    (member / "config.pbtxt").write_text(MEMBER)
    python = python_backend.find(request.config.option.python_backend)
    flags = ["--model-control-mode=explicit", f"--backend-directory={backend_folder}"]
    path = f"{python / 'python/bin'}:{os.environ['PATH']}" if python else os.environ["PATH"]
    process = ServerProcess(command, folder / "models", folder / "server.log", flags,
                            environment={"PATH": path})
    process.start()
    yield process
    process.stop()


def load(server, model):
    """Returns the error of a load, or None."""
    for _ in range(3):
        answer = raw_http.request(server, "POST", f"/v2/repository/models/{model}/load", b"{}")
        if answer.status == 200:
            return None
        error = json.loads(answer.body)["error"].rstrip("\n;")
        if not error.endswith("is not healthy."):  # Triton's Python backend, if its process is slow
            break
    return error


def check(program, server, backend_folder, model):
    """Checks a repository with this model and the member of ensembles only."""
    repository = server.repository.parent / "checked" / model
    shutil.rmtree(repository, ignore_errors=True)
    repository.mkdir(parents=True)
    for name in (model, "member"):
        (repository / name).symlink_to(server.repository / name)
    done = subprocess.run([*program, "check", ".", f"--backend-directory={backend_folder}"],
                          cwd=repository, capture_output=True, text=True, timeout=60, check=False)
    return done.returncode, done.stdout.replace("./", "")


def advice_in(error):
    """Returns the advice of a load's error: what follows the last "; "."""
    assert "; " in error, f"no advice: {error}"
    return re.split(r"; (?=found |'|there is |the directory )", error)[-1]


def prepared(case, name, server):
    layout = layouts.Layout(layouts.LAYOUTS / case, name)
    shutil.rmtree(server.repository / name, ignore_errors=True)
    layout.write(server.repository)
    return layout


def require(layout, backend_folder):
    for backend in layout.backends():
        if not (backend_folder / backend / f"libtriton_{backend}.so").exists():
            pytest.skip(f"no backend '{backend}'")


def neutral(text, name, server, backend_folder):
    text = text.replace(str(backend_folder), "BACKENDS").replace(str(server.repository), "MODELS")
    return re.sub(rf"\b{name}\b", "m", text)


@pytest.mark.parametrize("case", CASES)
def test_texts(case, layout_server, program, backend_folder):
    server = layout_server
    layout = prepared(case, f"{case}_x", server)
    require(layout, backend_folder)
    code, text = check(program, server, backend_folder, layout.name)
    error = load(server, layout.name)
    assert code == 1, text
    assert error is not None
    # The words of the frameworks change with their versions.
    told = f"nereid check:\n{text}\nload:\n{advice_in(error)}\n"
    told = neutral(told, layout.name, server, backend_folder)
    golden = layouts.LAYOUTS / case / "expected.txt"
    if os.environ.get("NEREID_UPDATE_GOLDEN"):
        golden.write_text(told)
    assert told == golden.read_text()
    index = raw_http.request(server, "POST", "/v2/repository/index", b"{}").body.decode()
    (entry,) = [e for e in json.loads(index) if e["name"] == layout.name]
    assert entry["state"] == "UNAVAILABLE" and advice_in(error) in entry["reason"]


@pytest.mark.parametrize("case", CASES)
def test_every_way_leads_to_a_serving_model(case, layout_server, program, backend_folder):
    server = layout_server
    layout = prepared(case, f"{case}_0", server)
    require(layout, backend_folder)
    offered = layouts.ways(advice_in(load(server, layout.name)))
    assert offered
    for number, _ in enumerate(offered):
        layout = prepared(case, f"{case}_{number}", server)
        if offered[number].startswith("pass the directory"):
            done = subprocess.run([*program, "check", layout.name], cwd=server.repository,
                                  capture_output=True, text=True, timeout=60, check=False)
            assert done.returncode == 0, done.stdout
            continue
        follow(layout, number, server, program)
        code, text = check(program, server, backend_folder, layout.name)
        assert code == 0, text


def follow(layout, first, server, program):
    """Follows the way number `first` of the advice, and then the best ways of what is said next."""
    person = layouts.Person(server.repository, layout, program[-1])
    number = first
    for _ in range(3):
        error = load(server, layout.name)
        if error is None:
            break
        person.follow(layouts.ways(advice_in(error))[number])
        number = 0
    error = load(server, layout.name)
    assert error is None, error
    assert raw_http.get(server, f"/v2/models/{layout.name}/ready").status == 200
    raw_http.request(server, "POST", f"/v2/repository/models/{layout.name}/unload", b"{}")


def test_a_start_with_a_model_without_a_version(start_server, command):
    """It is not lost in silence: the log, the index, readiness and its reason tell of it."""
    def write(root):
        (root / "flat").mkdir(parents=True)
        (root / "flat" / "model.onnx").write_bytes(layouts.onnx_model())

    server = start_server("flat", write, "--exit-on-error=false", wait_path="/v2/health/live")
    advice = ("at least one version must be available under the version policy of model 'flat'; "
              "found 'flat/model.onnx': move 'flat/model.onnx' to 'flat/1/model.onnx'")
    assert f"failed to load model 'flat': {advice}" in server.log.read_text()
    assert raw_http.get(server, "/v2/health/ready").status == 400
    (reason,) = raw_http.get(server, "/v2/health/ready?reason=true").json["reasons"]
    assert reason["model"] == "flat" and reason["text"] == advice
    index = raw_http.request(server, "POST", "/v2/repository/index", b"{}").json
    assert index == [{"name": "flat", "state": "UNAVAILABLE", "reason": advice}]
    assert "| flat  |         | UNAVAILABLE: at least one version" in server.log.read_text()
