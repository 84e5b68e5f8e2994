# SPDX-License-Identifier: Apache-2.0
"""The Debian packages of a build. With NEREID_BARE_ROOT, the root of a bare Debian system, they are also
installed there and booted: packaging/test_packages.sh, which needs root and systemd-nspawn."""

import json
import os
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import models
import pytest
from onnx import TensorProto, helper
from PIL import Image

ROOT = Path(__file__).resolve().parents[2]
TABLES = tomllib.loads((ROOT / "packaging" / "packages.toml").read_text())
VERSION = re.search(r"project\(nereid VERSION (\S+)", (ROOT / "CMakeLists.txt").read_text()).group(1)
NEEDED = ("cmake", "dpkg-deb", "dpkg-shlibdeps")


def build(server_command, out, *options, **environment):
    if missing := [name for name in NEEDED if shutil.which(name) is None]:
        pytest.skip(f"not installed: {missing}")
    folder = Path(server_command).resolve().parents[1]
    if b"__asan_init" in Path(server_command).read_bytes():
        pytest.skip("no packages are made of a build with a sanitizer")
    subprocess.run([sys.executable, ROOT / "tools" / "build_deb.py", folder, out, *options],
                   check=True, stdout=subprocess.DEVNULL, env={**os.environ, **environment})
    return {path.name.split("_")[0]: path for path in out.glob("*.deb")}


def field(path, name):
    return subprocess.run(["dpkg-deb", "-f", path, name], capture_output=True, text=True,
                          check=True).stdout.strip()


@pytest.fixture(scope="module")
def packages(server_command, tmp_path_factory):
    return build(server_command, tmp_path_factory.mktemp("packages"), "--compression=none",
                 SOURCE_DATE_EPOCH="1700000000")


def made_of(server_command):
    """The packages that the build can give."""
    folder = Path(server_command).resolve().parents[1]
    return {name for name, table in TABLES.items()
            if "needs" not in table or (folder / table["needs"]).exists()}


def test_each_package_has_the_version_of_the_project(packages, server_command):
    assert set(packages) == made_of(server_command)
    for path in packages.values():
        assert path.name.split("_")[1].startswith(f"{VERSION}-")


def test_equal_builds_give_equal_bytes(packages, server_command, tmp_path):
    again = build(server_command, tmp_path, "--compression=none", SOURCE_DATE_EPOCH="1700000000",
                  TZ="Asia/Tokyo", LC_ALL="C", HOME="/nonexistent")
    assert set(again) == set(packages)
    for name, path in packages.items():
        assert path.read_bytes() == again[name].read_bytes(), name
    sbom, = packages["nereid"].parent.glob("*.spdx.json")
    assert sbom.read_bytes() == (tmp_path / sbom.name).read_bytes()


def contents(path):
    listing = subprocess.run(["dpkg-deb", "-c", path], capture_output=True, text=True, check=True)
    return {line.split()[5]: line.split() for line in listing.stdout.splitlines()}


def test_files_belong_to_root_and_are_not_writable(packages):
    for path in packages.values():
        for name, fields in contents(path).items():
            assert fields[1] == "root/root", name
            assert fields[0].startswith("l") or fields[0][5] == fields[0][8] == "-", name
            assert fields[3:5] == ["2023-11-14", "22:13"], name


def test_the_server_has_its_pages_unit_and_completion(packages):
    names = set(contents(packages["nereid"]))
    assert {"./usr/bin/nereid", "./usr/bin/tritonserver", "./etc/nereid/nereid.conf",
            "./usr/lib/systemd/system/nereid.service", "./usr/lib/sysusers.d/nereid.conf",
            "./usr/share/man/man1/nereid.1.gz", "./usr/share/man/man1/nereid-serve.1.gz",
            "./usr/share/bash-completion/completions/nereid",
            "./usr/share/zsh/vendor-completions/_nereid",
            "./usr/share/fish/vendor_completions.d/nereid.fish"} <= names


def test_an_unpacked_server_finds_its_parts(packages, tmp_path):
    for name in ("nereid", "nereid-backend-onnxruntime"):
        subprocess.run(["dpkg-deb", "-x", packages[name], tmp_path], check=True)
    (tmp_path / "models").mkdir()
    done = subprocess.run([tmp_path / "usr" / "bin" / "nereid", "check", tmp_path / "models"],
                          capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    for program in tmp_path.rglob("*.so*"):
        dynamic = subprocess.run(["readelf", "-d", program], capture_output=True, text=True).stdout
        assert str(ROOT) not in dynamic, program


@pytest.mark.parametrize("name", ["openvino", "pytorch", "tensorflow"])
def test_a_backend_names_the_framework_that_it_was_built_with(packages, name, tmp_path):
    package = packages.get(f"nereid-backend-{name}")
    if package is None:
        pytest.skip(f"the backend {name} is not built")
    subprocess.run(["dpkg-deb", "-x", package, tmp_path], check=True)
    words = (tmp_path / "usr/share/nereid/frameworks" / name).read_text().split()
    assert words[0] == name
    assert all(re.fullmatch(r"[a-z0-9-]+==[0-9][0-9.a-z]*", word) for word in words[1:]) and words[1:]
    plugin = tmp_path / "usr/lib/nereid/backends" / name / f"libtriton_{name}.so"
    dynamic = subprocess.run(["readelf", "-d", plugin], capture_output=True, text=True).stdout
    assert f"$ORIGIN/../../frameworks/{name}/" in dynamic
    assert f"nereid-backend-{name}" in str(package)
    assert "nereid (= " in field(package, "Depends")


@pytest.fixture
def framework_command(tmp_path):
    """Runs nereid-framework with its folders below a folder of the test."""
    lists, place = tmp_path / "lists", tmp_path / "place"
    lists.mkdir()
    (lists / "pytorch").write_text("pytorch torch==2.15.0 nvidia-cuda-runtime==13.5.37\n")
    (lists / "tensorflow").write_text("tensorflow tensorflow-cpu==2.21.0\n")
    text = (ROOT / "packaging/debian/nereid-framework").read_text()
    script = tmp_path / "nereid-framework"
    script.write_text(text.replace("lists=/usr/share/nereid/frameworks", f"lists={lists}")
                      .replace("place=/var/lib/nereid-frameworks", f"place={place}")
                      .replace('[ "$(id -u)" -eq 0 ]', "true").replace("systemctl", "true"))

    def run(*words, code=0):
        done = subprocess.run(["bash", script, *map(str, words)], capture_output=True, text=True)
        assert done.returncode == code, done.stdout + done.stderr
        return done.stdout + done.stderr
    run.place = place
    return run


def test_a_framework_that_is_there_is_used(framework_command, tmp_path):
    assert re.search(r"pytorch +torch==2.15.0 +missing: nereid-framework pytorch",
                     framework_command())
    site = tmp_path / "site-packages"
    (site / "torch-2.15.0+cpu.dist-info").mkdir(parents=True)
    (site / "tensorflow-2.21.0.dist-info").mkdir()
    assert f"in {site}" in framework_command("pytorch", "--from", site)
    assert (framework_command.place / "pytorch").resolve() == site
    framework_command("tensorflow", "--from", site)
    (site / "tensorflow-2.21.0.dist-info").rename(site / "tensorflow-2.20.0.dist-info")
    assert "does not have tensorflow 2.21.0" in framework_command("tensorflow", "--from", site, code=1)
    assert "install nereid-backend-x first" in framework_command("x", code=2)
    assert "Usage: " in framework_command("../x", code=2)
    assert "there is no folder" in framework_command("pytorch", "--from", "/nowhere", code=1)


def test_the_bill_of_materials_is_complete(packages):
    path, = packages["nereid"].parent.glob("*.spdx.json")
    document = json.loads(path.read_text())
    assert document["spdxVersion"] == "SPDX-2.3"
    found = {p["name"]: p for p in document["packages"]}
    assert set(packages) | {"protobuf", "onnxruntime", "libc6"} <= set(found)
    assert re.fullmatch(r"\d+\.\d+\.\d+", found["onnxruntime"]["versionInfo"])
    ids = {p["SPDXID"] for p in document["packages"]} | {"SPDXRef-DOCUMENT"}
    assert len(ids) == len(document["packages"]) + 1
    for relation in document["relationships"]:
        assert {relation["spdxElementId"], relation["relatedSpdxElement"]} <= ids


def test_the_unit_has_no_unknown_flags_and_is_hardened(server_command):
    """Flags of the unit and of its configuration file are those of the program."""
    usage = subprocess.run([server_command, "help", "serve"], capture_output=True, text=True).stdout
    known = set(re.findall(r"^  --([\w-]+)", usage, re.MULTILINE))
    text = "".join((ROOT / "packaging" / name).read_text()
                   for name in ("systemd/nereid.service", "debian/nereid.conf"))
    used = set(re.findall(r"(?<![\w-])--([a-z][\w-]+)=", text))
    assert used and used <= known
    if shutil.which("systemd-analyze") is None:
        pytest.skip("systemd-analyze is not installed")
    done = subprocess.run(["systemd-analyze", "security", "--no-pager", "--offline=true",
                           "--threshold=20", ROOT / "packaging" / "systemd" / "nereid.service"],
                          capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.timeout(900)
def test_the_first_picture_in_a_bare_system(packages, tmp_path):
    root = os.environ.get("NEREID_BARE_ROOT")
    pictures = ROOT / "build" / "examples" / "pictures"
    if not root or "nereid-examples" not in packages:
        pytest.skip("NEREID_BARE_ROOT does not name the root of a bare Debian system")
    Image.open(pictures / "cat.png").convert("RGB").save(tmp_path / "cat.jpg", quality=90)
    done = subprocess.run([ROOT / "packaging" / "test_first_picture.sh", root,
                           packages["nereid"].parent, tmp_path / "cat.jpg", "Egyptian cat"],
                          capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.timeout(900)
def test_a_bare_system_runs_them(packages, tmp_path):
    root = os.environ.get("NEREID_BARE_ROOT")
    if not root:
        pytest.skip("NEREID_BARE_ROOT does not name the root of a bare Debian system")
    graph = helper.make_graph(
        [helper.make_node("Add", ["INPUT0", "INPUT0"], ["OUTPUT0"])], "doubled",
        [helper.make_tensor_value_info("INPUT0", TensorProto.FLOAT, ["batch", 2])],
        [helper.make_tensor_value_info("OUTPUT0", TensorProto.FLOAT, ["batch", 2])])
    models.Repository(tmp_path).onnx("doubled", graph)
    done = subprocess.run([ROOT / "packaging" / "test_packages.sh", root,
                           packages["nereid"].parent, ROOT,
                           tmp_path / "doubled" / "1" / "model.onnx"],
                          capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
