# SPDX-License-Identifier: Apache-2.0
"""Wrong layouts of model directories (tests/layouts), and a person who follows the advice about them
to the letter."""

import gzip
import io
import pickle
import re
import shutil
import subprocess
import tarfile
import zipfile
from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper

TESTS = Path(__file__).resolve().parents[1]
LAYOUTS = TESTS / "layouts"
DATA = TESTS / "data"

PYTHON = """import triton_python_backend_utils as pb_utils


class TritonPythonModel:
    def execute(self, requests):
        return [pb_utils.InferenceResponse([pb_utils.Tensor(
            "y", pb_utils.get_input_tensor_by_name(r, "x").as_numpy())]) for r in requests]
"""
GIT_LFS = (b"version https://git-lfs.github.com/spec/v1\n"
           b"oid sha256:4d7a214614ab2935c943f9e0ff69d22eadbb8f32b1258daaa5e2ca24d17e2393\nsize 12345\n")


def onnx_model(external=False):
    """OUT = IN + 1, with four values beside the file if `external`."""
    added = helper.make_tensor("added", TensorProto.FLOAT, [2], [1.0, 1.0])
    if external:
        added = TensorProto(name="added", data_type=TensorProto.FLOAT, dims=[2],
                            data_location=TensorProto.EXTERNAL)
        for key, value in (("location", "weights.bin"), ("offset", "0"), ("length", "8")):
            added.external_data.add(key=key, value=value)
    graph = helper.make_graph(
        [helper.make_node("Add", ["IN", "added"], ["OUT"])], "add",
        [helper.make_tensor_value_info("IN", TensorProto.FLOAT, [2])],
        [helper.make_tensor_value_info("OUT", TensorProto.FLOAT, [2])], [added])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)])
    model.ir_version = 8
    return model.SerializeToString()


def sources():
    """Returns the bytes of the files, by name."""
    return {
        "onnx": onnx_model(),
        "onnx_external": onnx_model(external=True),
        "weights": np.ones(2, np.float32).tobytes(),
        "torchscript": (DATA / "pytorch/same/1/model.pt").read_bytes(),
        "graph": (DATA / "tensorflow/graphs/matmul.graphdef").read_bytes(),
        "openvino_xml": (DATA / "openvino/mlp/model.xml").read_bytes(),
        "openvino_bin": (DATA / "openvino/mlp/model.bin").read_bytes(),
        "python": PYTHON.encode(),
        "python_helper": b"ANSWER = 42\n",
    }


def state_dict():
    """Returns what torch.save writes: the archive of a module without its code."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        archive.writestr("model/data.pkl", pickle.dumps({"weight": [1.0]}, protocol=2))
        archive.writestr("model/version", "3\n")
    return out.getvalue()


def archive(kind, name, content):
    out = io.BytesIO()
    if kind == "zip":
        with zipfile.ZipFile(out, "w") as packed:
            packed.writestr(name, content)
        return out.getvalue()
    with tarfile.open(fileobj=out, mode="w") as packed:
        entry = tarfile.TarInfo(name)
        entry.size = len(content)
        packed.addfile(entry, io.BytesIO(content))
    return gzip.compress(out.getvalue())


DAMAGES = {
    "empty": lambda content: b"",
    "half": lambda content: content[:len(content) // 2],
    "git-lfs": lambda content: GIT_LFS,
    "web-page": lambda content: b"<!DOCTYPE html><html><body>Please log in</body></html>",
    "unreadable": lambda content: content,
    "state_dict": lambda content: state_dict(),
    "pickle": lambda content: pickle.dumps({"trees": [1, 2]}, protocol=4),
    "keras": lambda content: b"\x89HDF\r\n\x1a\n" + bytes(100),
}


class Layout:
    """A case of tests/layouts, written into a repository as the model `name`."""

    def __init__(self, folder: Path, name: str):
        self.case = folder.name
        self.name = name
        self.lines = [line.split(" <- ") for line in
                      (folder / "tree.txt").read_text().splitlines()]
        self.files = sources()
        self.origins = {}  # by path: what the person has who follows the advice

    def backends(self):
        """The backends that the repaired model needs."""
        text = " ".join(source for _, source in self.lines)
        needed = {"torchscript": "pytorch", "saved_model": "tensorflow", "graph": "tensorflow",
                  "openvino_xml": "openvino", "python": "python"}
        return {backend for word, backend in needed.items() if re.search(rf"\b{word}\b", text)} or {
            "onnxruntime"}

    def write(self, repository: Path):
        for path, source in self.lines:
            target = repository / (self.name + path.removeprefix("m"))
            if source == "unreadable":
                target.mkdir(parents=True, exist_ok=True)
                continue
            self.write_one(target, source)
        for path, source in self.lines:
            if source.startswith("unreadable"):
                (repository / (self.name + path.removeprefix("m"))).chmod(0)

    def write_one(self, target, source):
        target.parent.mkdir(parents=True, exist_ok=True)
        if source == "saved_model":
            shutil.copytree(DATA / "tensorflow/savedmodels/linear", target, dirs_exist_ok=True)
            return
        if source.startswith("text "):
            target.write_text(source.removeprefix("text ") + "\n")
            return
        damage, _, rest = source.partition(" of ")
        if not rest:
            target.write_bytes(self.files[source])
            return
        origin, _, inner = rest.partition(" as ")
        content = self.files.get(origin)
        self.origins[str(target)] = self.origins["model"] = origin
        if damage in ("tar", "zip"):
            target.write_bytes(archive(damage, inner, content))
        elif damage != "absent":
            target.write_bytes(DAMAGES[damage](content))


class Person:
    """Carries out the steps of an advice. The paths in it are relative to the repository."""

    def __init__(self, repository: Path, layout: Layout, program):
        self.repository = repository
        self.layout = layout
        self.program = program

    def follow(self, way):
        for step in way.split(", then "):
            for pattern, action in self.ACTIONS:
                found = re.fullmatch(pattern, step)
                if found:
                    action(self, *found.groups())
                    break
            else:
                raise AssertionError(f"nobody could do this: {step!r}")

    def _at(self, path):
        return self.repository / path

    def move(self, source, target):
        self._at(target).parent.mkdir(parents=True, exist_ok=True)
        shutil.move(self._at(source), self._at(target))

    def create(self, directory):
        self._at(directory).mkdir(parents=True)

    def set(self, field, value, config):
        self.remove(field, config)
        with open(self._at(config), "a", encoding="utf-8") as file:
            file.write(f'{field}: "{value}"\n')

    def remove(self, field, config):
        path = self._at(config)
        if path.exists():
            path.write_text(re.sub(rf'(?<![\w]){field}: "[^"]*"', "", path.read_text(), count=1))

    def unpack(self, source, directory):
        shutil.unpack_archive(self._at(source), self._at(directory))

    def copy(self, path):
        origin = self.layout.origins[str(self._at(path))]
        self._at(path).write_bytes(self.layout.files[origin])

    def make_readable(self, path):
        self._at(path).chmod(0o755)

    def init(self, model, config):
        subprocess.run([self.program, "init", model, "-o", config], cwd=self.repository, check=True)

    def add_tensors(self, model, config):
        made = subprocess.run([self.program, "init", model], cwd=self.repository, check=True,
                              capture_output=True, text=True).stdout
        with open(self._at(config), "a", encoding="utf-8") as file:
            file.write(made[made.index("\ninput ["):])

    def export(self, path):
        target = self._at(path)
        if self.layout.origins["model"] == "saved_model":
            shutil.copytree(DATA / "tensorflow/savedmodels/linear", target)
        else:
            target.write_bytes(self.layout.files[self.layout.origins["model"]])

    QUOTED = "'([^']+)'"
    ACTIONS = [
        (f"(?:move|rename) {QUOTED} to {QUOTED}", move),
        (f"create the directory {QUOTED}", create),
        (rf'set (\w+): "([^"]*)" in {QUOTED}', set),
        (rf"remove (\w+) from {QUOTED}", remove),
        (f"unpack {QUOTED} in {QUOTED}", unpack),
        (f"copy {QUOTED} from its source", copy),
        (f"run 'git lfs pull' in the repository of {QUOTED}", copy),
        (f"make {QUOTED} readable for the server", make_readable),
        (r"run 'nereid init (\S+) -o (\S+)'", init),
        (rf"add the input and output of 'nereid init (\S+)' to {QUOTED}", add_tensors),
        (r'export the module with torch\.jit\.script\(module\)\.save\("([^"]+)"\)', export),
        (r'export it with model\.export\("([^"]+)"\) of Keras', export),
        (rf"export it to ONNX \(for scikit-learn with skl2onnx\) as {QUOTED} \(or .*\)", export),
    ]


def ways(advice):
    """Returns the ways that an advice offers."""
    return advice.split(": ", 1)[1].split(", or ")
