# SPDX-License-Identifier: Apache-2.0
"""The real Triton completes every incomplete configuration as Nereid does.

The configurations are in src/config/testdata/derived. All backends of that Triton are Nereid's
identity under their names, so that every model loads. derivation_differences.toml lists the
intended differences with their reasons.
"""

import fnmatch
import json
import shutil
import tomllib
from pathlib import Path

import pytest
import raw_http

GOLDENS = Path(__file__).resolve().parents[2] / "src" / "config" / "testdata" / "derived"
BACKENDS = ("identity", "tensorrt", "tensorflow", "onnxruntime", "openvino", "pytorch", "python",
            "caffe2", "custom", "python.identity")


def setting(text, key, otherwise):
    for line in text.splitlines():
        if line.startswith(f"# {key}: "):
            return line.removeprefix(f"# {key}: ")
    return otherwise


class Golden:
    def __init__(self, path, position):
        self.case = path.stem
        self.text = path.read_text()
        self.directory = setting(self.text, "directory", "m")
        # A name that occurs in no other text, so that it can be replaced by "m" in the answers.
        self.unique = self.directory.replace("m", f"golden{position:04}", 1)
        self.expected = json.loads(path.with_suffix(".json").read_text())

    def write(self, root):
        folder = root / self.unique
        for path in setting(self.text, "holds", "1/").split(", "):
            target = folder / path
            (target if path.endswith("/") else target.parent).mkdir(parents=True, exist_ok=True)
            if not path.endswith("/"):
                target.touch()
        (folder / "config.pbtxt").write_text(self.text)


def goldens():
    return [Golden(path, position) for position, path in enumerate(sorted(GOLDENS.glob("*.pbtxt")))]


def answer(triton, golden):
    path = f"/v2/repository/models/{golden.unique}/load"
    response = raw_http.request(triton, "POST", path, b"{}")
    if response.status == 200:
        response = raw_http.get(triton, f"/v2/models/{golden.unique}/config")
    return json.loads(response.body.decode().replace(golden.unique, golden.directory))


@pytest.fixture(scope="module")
def answers(start_triton, peer, tmp_path_factory):
    cases = goldens()
    backends = tmp_path_factory.mktemp("backends")
    for name in BACKENDS:
        (backends / name).mkdir()
        shutil.copy(peer / "backends" / "identity" / "libtriton_identity.so",
                    backends / name / f"libtriton_{name}.so")

    def write(root):
        for golden in cases:
            golden.write(root)

    triton = start_triton("derivation", write, "--model-control-mode=explicit",
                          "--disable-auto-complete-config", f"--backend-directory={backends}")
    return {golden.case: answer(triton, golden) for golden in cases}


def differences():
    with open(Path(__file__).parent / "derivation_differences.toml", "rb") as file:
        return tomllib.load(file).get("difference", [])


@pytest.mark.parametrize("golden", goldens(), ids=lambda golden: golden.case)
def test_triton_derives_the_same(answers, golden):
    said = answers[golden.case]
    for difference in differences():
        if any(fnmatch.fnmatchcase(golden.case, pattern) for pattern in difference["cases"]):
            assert said != golden.expected, f"{difference['id']} is no difference any more"
            for field, value in difference["triton"].items():
                assert str(said.get(field)).startswith(value)
            return
    if "error" in golden.expected:
        # test_config_rules.py compares the text.
        assert "error" in said
    else:
        assert said == golden.expected


def test_every_difference_has_its_cases():
    names = [golden.case for golden in goldens()]
    for difference in differences():
        assert difference["why"]
        for pattern in difference["cases"]:
            assert fnmatch.filter(names, pattern), pattern
