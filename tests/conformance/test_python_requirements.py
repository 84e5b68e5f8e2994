# SPDX-License-Identifier: Apache-2.0
"""Models with a requirements.txt, whose packages come from a folder of wheels, without a network."""

import json
import re
import shutil
import stat
import zipfile
from concurrent.futures import ThreadPoolExecutor

import pytest
import raw_http
from python_server import write_model

CONFIG = """
max_batch_size: 0
input { name: "CODE" data_type: TYPE_STRING dims: [ 1 ] }
output { name: "VALUE" data_type: TYPE_STRING dims: [ 1 ] }
"""

CODE = """
import json
import sys
import numpy as np
import triton_python_backend_utils as pb_utils
import nereid_test_package


class TritonPythonModel:
    def execute(self, requests):
        value = json.dumps([nereid_test_package.VERSION, sys.prefix])
        return [pb_utils.InferenceResponse(
            [pb_utils.Tensor("VALUE", np.array([value], np.object_))]) for _ in requests]
"""


def write_wheel(folder, version):
    """Writes a package with one module, which knows its version."""
    name = "nereid_test_package"
    info = f"{name}-{version}.dist-info"
    files = {
        f"{name}.py": f"VERSION = '{version}'\n",
        f"{info}/METADATA": f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n",
        f"{info}/WHEEL": "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    }
    files[f"{info}/RECORD"] = "".join(f"{file},,\n" for file in [*files, f"{info}/RECORD"])
    folder.mkdir(exist_ok=True)
    with zipfile.ZipFile(folder / f"{name}-{version}-py3-none-any.whl", "w") as wheel:
        for file, text in files.items():
            wheel.writestr(file, text)


class Place:
    """The folders of a test."""

    def __init__(self, folder):
        self.wheels = folder / "wheels"
        self.cache = folder / "cache"
        for version in ("1.0", "2.0", "3.0"):
            write_wheel(self.wheels, version)

    def text(self, requirement):
        return f"--no-index\n--find-links {self.wheels}\n{requirement}\n"

    def write(self, root, name, requirement, where="."):
        write_model(root, name, CODE, CONFIG)
        (root / name / where / "requirements.txt").write_text(self.text(requirement))

    def environments(self):
        return sorted(entry.name for entry in self.cache.iterdir() if entry.is_dir())

    def flags(self, *more):
        settings = ["install-requirements=true", f"requirements-directory={self.cache}", *more]
        return ["--model-control-mode=explicit",
                *(f"--backend-config=python,{setting}" for setting in settings)]


@pytest.fixture
def place(python_kind, tmp_path):
    if python_kind != "nereid":
        pytest.skip("only Nereid's own Python backend installs requirements")
    return Place(tmp_path)


@pytest.fixture
def serve(place, start_python):
    """Returns serve(models, *settings), which starts a server."""
    servers = []

    def start(models, *settings, flags=None):
        def write(root):
            for name, requirement, *where in models:
                place.write(root, name, requirement, *where)

        servers.append(start_python("requirements", write, *(flags or place.flags(*settings))))
        return servers[-1]

    yield start
    for server in servers:
        server.stop()


def change(server, model, action="load"):
    return raw_http.request(server, "POST", f"/v2/repository/models/{model}/{action}", b"{}")


def ask(server, model):
    reply = raw_http.infer(server, model, {"inputs": [raw_http.tensor("CODE", "BYTES", [1], [""])]})
    assert reply.status == 200, reply.body
    return json.loads(reply.json["outputs"][0]["data"][0])


def test_models_have_their_packages(place, serve):
    """The file of the version comes first; models with the same requirements share an environment,
    also if they are loaded at once."""
    server = serve([("a", "nereid_test_package==1.0"), ("b", "nereid_test_package==1.0", "1"),
                    ("c", "nereid_test_package==2.0")])
    with ThreadPoolExecutor() as threads:
        replies = list(threads.map(lambda name: change(server, name), "abc"))
    assert [reply.status for reply in replies] == [200] * 3, [reply.body for reply in replies]
    assert [ask(server, name)[0] for name in "abc"] == ["1.0", "1.0", "2.0"]
    assert ask(server, "a")[1] == ask(server, "b")[1]
    assert len(place.environments()) == 2
    # The one of the two that came first had it installed.
    assert re.search("[ab]: Successfully installed nereid.test.package", server.log.read_text())


def test_a_package_that_does_not_exist(place, serve):
    server = serve([("m", "nereid_no_such_package==7")])
    reply = change(server, "m")
    assert reply.status == 400
    assert "cannot install" in reply.error and "m/requirements.txt" in reply.error
    assert "No matching distribution found for nereid_no_such_package==7" in reply.error
    assert not any((place.cache / name / "complete").exists() for name in place.environments())


def test_an_interrupted_installation_is_made_again(place, serve):
    server = serve([("m", "nereid_test_package==1.0")])
    assert change(server, "m").status == 200
    assert change(server, "m", "unload").status == 200
    (name,) = place.environments()
    (place.cache / name / "complete").unlink()
    shutil.rmtree(place.cache / name / "lib")
    assert change(server, "m").status == 200
    assert ask(server, "m")[0] == "1.0"
    assert place.environments() == [name]


def test_a_changed_file_makes_another_environment(place, serve):
    server = serve([("m", "nereid_test_package==1.0")])
    assert change(server, "m").status == 200
    (server.repository / "m" / "requirements.txt").write_text(place.text("nereid_test_package==3.0"))
    assert change(server, "m", "unload").status == 200
    assert change(server, "m").status == 200
    assert ask(server, "m")[0] == "3.0"


def test_unused_environments_are_removed(place, serve):
    server = serve([(name, f"nereid_test_package=={version}")
                    for name, version in (("a", "1.0"), ("b", "2.0"), ("c", "3.0"))],
                   "requirements-environments=1")
    assert change(server, "a").status == 200
    assert change(server, "b").status == 200
    assert len(place.environments()) == 2, "a is in use"
    assert change(server, "a", "unload").status == 200
    assert change(server, "b", "unload").status == 200
    assert change(server, "c").status == 200
    assert len(place.environments()) == 1
    assert ask(server, "c")[0] == "3.0"


def test_a_folder_that_others_can_write(place, serve):
    place.cache.mkdir()
    place.cache.chmod(stat.S_IRWXU | stat.S_IRWXG | stat.S_IRWXO)
    reply = change(serve([("m", "nereid_test_package==1.0")]), "m")
    assert reply.status == 400 and "others may write to it" in reply.error


def test_nothing_is_installed_unless_asked(place, serve):
    server = serve([("m", "nereid_test_package==1.0")], flags=["--model-control-mode=explicit"])
    reply = change(server, "m")
    assert reply.status == 400 and "No module named 'nereid_test_package'" in reply.error
    assert "install-requirements=true would do that" in server.log.read_text()
