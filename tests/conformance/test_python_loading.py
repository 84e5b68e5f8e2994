# SPDX-License-Identifier: Apache-2.0
"""How Python models are found, imported and ended, and what a load that fails says."""

import json
import os
import re
from pathlib import Path

import numpy as np
import pytest
from processes import children, open_files, state
from python_server import snippet, wait_for_log, wait_until, write_model

MODELS = ["modules", "other_file"]
LATER = ["bad_finalize"]

IO = """
max_batch_size: 0
input { name: "IN" data_type: TYPE_INT32 dims: [ 1 ] }
output { name: "OUT" data_type: TYPE_INT32 dims: [ 1 ] }
"""

ECHO = """
import triton_python_backend_utils as pb_utils


class TritonPythonModel:
    def execute(self, requests):
        return [pb_utils.InferenceResponse([pb_utils.Tensor(
            "OUT", request.inputs()[0].as_numpy())]) for request in requests]
"""


def echo(client, model):
    return client.infer(model, [client.input("IN", np.array([7], np.int32))]).array("OUT").tolist()


# Modules


def test_the_name_of_the_module(python_client):
    assert snippet(python_client, """
import sys
module = sys.modules[type(model).__module__]
return [type(model).__module__, module.__package__, sys.argv]""", "modules") == [
        "1.model", "1", [""]]


def test_modules_beside_the_model(python_client):
    """Of the version's folder (relative and by name), and of the model's folder."""
    told = snippet(python_client, "return model.found", "modules")
    assert told == {"relative": "beside", "by_name": "beside", "above": "above", "package": "inside"}


def test_the_folders_of_modules(python_client, python):
    folders = snippet(python_client, "import sys\nreturn sys.path", "modules")
    root = python.repository / "modules"
    places = [folders.index(str(folder)) for folder in (root / "1", root)]
    assert places == sorted(places)
    assert any(folder.endswith("backends/python") for folder in folders[places[-1]:])


def test_another_file_name(python_client):
    assert echo(python_client, "other_file") == [7]


def test_the_working_directory_and_the_environment_are_the_servers(python_client):
    told = snippet(python_client, "import os\nreturn [os.getcwd(), os.environ.get('HOME')]",
                   "modules")
    assert told == [os.getcwd(), os.environ.get("HOME")]


# Instances

# Each instance opens its end of a pipe with a name, which waits until the other instance opens the other end.
MEETS = """
import os
import triton_python_backend_utils as pb_utils


class TritonPythonModel:
    def initialize(self, args):
        pipe = os.path.join(args["model_repository"], "pipe")
        how = os.O_RDONLY if args["model_instance_name"].endswith("_0") else os.O_WRONLY
        os.close(os.open(pipe, how))

    def execute(self, requests):
        return [pb_utils.InferenceResponse([pb_utils.Tensor(
            "OUT", request.inputs()[0].as_numpy())]) for request in requests]
"""


def test_instances_are_initialized_at_the_same_time(python, python_client):
    name = f"meets_{python_client.protocol}"
    write_model(python.repository, name, MEETS, IO + """
instance_group { kind: KIND_CPU count: 2 }
parameters { key: "initialize_timeout_seconds" value { string_value: "60" } }""")
    os.mkfifo(python.repository / name / "pipe")
    python_client.call("load_model", name)
    assert echo(python_client, name) == [7]
    python_client.call("unload_model", name)


# Loads that fail

FAILING = {
    "syntax": ("class TritonPythonModel\n",
               r"SyntaxError: (invalid syntax|expected ':') \(model\.py, line 1\)"),
    "import": ("import no_such_module\n",
               r"ModuleNotFoundError: No module named 'no_such_module'\n\nAt:\n  .*model\.py\(1\): "
               r"<module>\n"),
    "no_class": ("x = 1\n",
                 r"AttributeError: module '1\.model' has no attribute 'TritonPythonModel'"),
    "init": ("class TritonPythonModel:\n    def __init__(self):\n        raise ValueError('bad')\n",
             r"ValueError: bad\n\nAt:\n  .*model\.py\(3\): __init__\n"),
    "initialize": ("class TritonPythonModel:\n    def initialize(self, args):\n"
                   "        raise ValueError('böse')\n",
                   r"ValueError: böse\n\nAt:\n  .*model\.py\(3\): initialize\n"),
    "deep": ("def inner():\n    raise KeyError('k')\n\n\nclass TritonPythonModel:\n"
             "    def initialize(self, args):\n        inner()\n",
             r"KeyError: 'k'\n\nAt:\n  .*model\.py\(2\): inner\n  .*model\.py\(7\): initialize\n"),
    "exit": ("class TritonPythonModel:\n    def initialize(self, args):\n        raise SystemExit(3)\n",
             r"SystemExit: 3\n\nAt:\n"),
    "dies": ("import os\n\n\nclass TritonPythonModel:\n    def initialize(self, args):\n"
             "        os._exit(5)\n", r"Stub process 'bad_dies_0' is not healthy\."),
    "dies_at_import": ("import os\nos._exit(5)\n", r"Stub process 'bad_dies_at_import"),
    "killed": ("import os\nimport signal\n\n\nclass TritonPythonModel:\n"
               "    def initialize(self, args):\n        os.kill(os.getpid(), signal.SIGKILL)\n",
               r"Stub process 'bad_killed_0' is not healthy\."),
}


@pytest.fixture(scope="module")
def failing(start_python):
    """A server with the models that cannot be loaded."""
    def write(root):
        write_model(root, "good", ECHO, IO)
        for name, (code, _) in FAILING.items():
            write_model(root, f"bad_{name}", code, IO)
        write_model(root, "bad_name", ECHO, IO + 'default_model_filename: "model.txt"\n',
                    file="model.txt")
        write_model(root, "bad_force", ECHO, IO + 'parameters { key: '
                    '"FORCE_CPU_ONLY_INPUT_TENSORS" value { string_value: "maybe" } }\n')
        write_model(root, "no_execute", "class TritonPythonModel:\n    pass\n", IO)
        write_model(root, "bad_missing", ECHO, IO)
        (root / "bad_missing" / "1" / "model.py").rename(root / "bad_missing" / "1" / "not.py")
    server = start_python("failing", write, "--model-control-mode=explicit", "--load-model=good")
    yield server
    server.stop()


@pytest.fixture(params=["http", "grpc"])
def failing_client(request, failing, connect):
    return connect(request.param, failing)


def load_fails(client, model):
    status, text = client.error(client.call, "load_model", model)
    assert status in (400, "INVALID_ARGUMENT", "INTERNAL"), text
    return text


@pytest.mark.parametrize("name", FAILING)
def test_a_load_that_fails_says_why(failing_client, name):
    text = load_fails(failing_client, f"bad_{name}")
    start = f"load failed for model 'bad_{name}': version 1 is at UNAVAILABLE state: Internal: "
    assert text.startswith(start)
    assert re.match(FAILING[name][1], text.removeprefix(start)), text
    assert not failing_client.call("is_model_ready", f"bad_{name}")
    assert echo(failing_client, "good") == [7]


@pytest.mark.parametrize("name, text", [
    ("name", "Model name must end with '.py'. Model name is \"model.txt\"."),
    ("force", "Incorrect value for FORCE_CPU_ONLY_INPUT_TENSORS: maybe'"),
])
def test_a_configuration_that_cannot_be(failing_client, name, text):
    assert text in load_fails(failing_client, f"bad_{name}")


def test_a_model_without_its_file(failing_client):
    assert "model.py" in load_fails(failing_client, "bad_missing")


def test_a_class_without_execute(failing_client, failing):
    """It loads; each request fails."""
    failing_client.call("load_model", "no_execute")
    failing_client.expect(
        "INTERNAL", f"Python model {failing.repository}/no_execute/1/model.py does not implement "
        "`execute` method.", echo, failing_client, "no_execute")
    failing_client.call("unload_model", "no_execute")


def test_loads_that_fail_leave_no_process(failing, failing_client, python_kind):
    """The children of the server are those of the models that are loaded."""
    load_fails(failing_client, "bad_initialize")
    expected = 2 if python_kind == "nereid" else 1  # the model's process, and perhaps a spawner
    wait_until(lambda: len(children(failing.process.pid)) <= expected, "the ends of processes")


def memory_of(server):
    """Returns how many files of each kind the server has open, and how many memfds it maps."""
    files = open_files(server.process.pid)
    maps = Path(f"/proc/{server.process.pid}/maps").read_text()
    files["maps of memfd"] = maps.count("/memfd:")
    return files


def test_loads_that_fail_leave_no_memory(failing, connect):
    """No shared memory, file or socket remains after loads that fail in different ways."""
    client = connect("http", failing)
    load_fails(client, "bad_initialize")  # the first load opens files that stay
    assert echo(client, "good") == [7]
    before = memory_of(failing)
    for name in ["syntax", "initialize", "exit", "dies", "killed"]:
        load_fails(client, f"bad_{name}")
    wait_until(lambda: memory_of(failing) <= before, f"no more than {dict(before)}")
    assert echo(client, "good") == [7]


def test_a_signal_that_ends_a_load_is_named(failing_client, python_kind):
    text = load_fails(failing_client, "bad_killed")
    assert "Stub process 'bad_killed_0' is not healthy." in text
    if python_kind == "nereid":
        assert "was killed by signal 9" in text
    assert echo(failing_client, "good") == [7]


# The end


# Follows ECHO: methods that write a line into a file when they are called.
NOTES = """
    def initialize(self, args):
        self.instance = args["model_instance_name"]
        self.note("initialize")
        {then}

    def note(self, what):
        import json
        import os
        with open({notes!r}, "a") as file:
            file.write(json.dumps([what, self.instance, os.getpid()]) + "\\n")

    def finalize(self):
        self.note("finalize")
"""


def notes_model(server, name, notes, then, config=""):
    write_model(server.repository, name, ECHO + NOTES.format(then=then, notes=str(notes)),
                IO + config)


def read_notes(notes, function):
    """Returns the instances and the processes that wrote about the function."""
    read = [json.loads(line) for line in notes.read_text().splitlines()]
    return sorted([instance, pid] for what, instance, pid in read if what == function)


def wait_for_ends(written):
    wait_until(lambda: not [pid for _, pid in written if state(pid) not in ("", "Z")],
               "the ends of processes")


def test_finalize_is_called_once(python, python_http, tmp_path):
    """Of each instance, when the model is unloaded, in the process of the instance."""
    notes = tmp_path / "notes"
    notes_model(python, "ends", notes, "pass",
                'instance_group { name: "ends" kind: KIND_CPU count: 2 }\n')
    python_http.call("load_model", "ends")
    started = read_notes(notes, "initialize")
    assert [instance for instance, _ in started] == ["ends_0", "ends_1"]
    assert echo(python_http, "ends") == [7]
    assert read_notes(notes, "finalize") == []
    python_http.call("unload_model", "ends")
    wait_for_ends(started)
    assert read_notes(notes, "finalize") == started


def test_finalize_is_not_called_after_a_failed_initialize(python, python_http, tmp_path):
    notes = tmp_path / "notes"
    notes_model(python, "never_starts", notes, "raise ValueError('no')")
    assert "ValueError: no" in load_fails(python_http, "never_starts")
    started = read_notes(notes, "initialize")
    assert [instance for instance, _ in started] == ["never_starts_0"]
    wait_for_ends(started)
    assert read_notes(notes, "finalize") == []


def test_an_exception_in_finalize_is_logged(python_client, python):
    python_client.call("load_model", "bad_finalize")
    assert echo(python_client, "bad_finalize") == [7]
    python_client.call("unload_model", "bad_finalize")
    wait_until(lambda: not python_client.call("is_model_ready", "bad_finalize"), "the unload")
    wait_for_log(python, "RuntimeError: will not end")


def test_the_metadata_of_a_model(python_client):
    told = python_client.json("get_model_metadata", "modules")
    assert told["platform"] == "python"
    assert [t["name"] for t in told["inputs"]] == ["CODE"]
