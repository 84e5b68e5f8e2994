#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes the Debian packages of a build, and their bill of materials (SPDX 2.3).

    tools/build_deb.py BUILD OUT

BUILD is a folder that CMake and Ninja have built, OUT receives the packages and
nereid_VERSION_ARCH.spdx.json. packaging/packages.toml says what is in which package; packages of plug-ins that were not
built are left out. The version is that
of the project in CMakeLists.txt. Equal builds give equal bytes: every time is SOURCE_DATE_EPOCH, whose
default is the time of the last commit. Needs cmake, dpkg-dev, and no root.
"""

import argparse
import gzip
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PACKAGING = ROOT / "packaging"
MAINTAINER = "Nereid <nereid@localhost>"
# The file of each shell, and its name for the program tritonserver where that must be another file.
SHELLS = {"bash": ("usr/share/bash-completion/completions/nereid", "tritonserver"),
          "zsh": ("usr/share/zsh/vendor-completions/_nereid", None),
          "fish": ("usr/share/fish/vendor_completions.d/nereid.fish", "tritonserver.fish")}


def output(*command, **options) -> str:
    return subprocess.run([str(c) for c in command], check=True, stdout=subprocess.PIPE, text=True,
                          **options).stdout


def project_version() -> str:
    text = (ROOT / "CMakeLists.txt").read_text()
    return re.search(r"project\(nereid VERSION (\S+)", text).group(1)


def debian_version() -> str:
    """Returns the version of the packages. It names the release whose libraries they need."""
    release = dict(line.rstrip().split("=", 1) for line in open("/etc/os-release") if "=" in line)
    return project_version() + "-1~" + (release["ID"] + release["VERSION_ID"]).replace('"', "")


def source_time() -> int:
    if "SOURCE_DATE_EPOCH" in os.environ:
        return int(os.environ["SOURCE_DATE_EPOCH"])
    return int(output("git", "-C", ROOT, "log", "-1", "--format=%ct"))


def frameworks_folder(build: Path) -> Path:
    """Returns the folder of the frameworks with which the plug-ins were built."""
    cache = (build / "CMakeCache.txt").read_text()
    found = re.search(r"^NEREID_FRAMEWORKS:\w+=(.+)$", cache, re.MULTILINE)
    return Path(found.group(1)) if found else build.parent / "frameworks"


def framework_packages(build: Path, name: str) -> str:
    """Returns the PyPI packages of a framework, each with its exact version: PACKAGE==VERSION ..."""
    words = []
    for info in sorted((frameworks_folder(build) / name).glob("*.dist-info")):
        package, _, version = info.name.removesuffix(".dist-info").rpartition("-")
        words.append(f"{package.replace('_', '-')}=={version}")
    # The framework itself comes first: the others are what it needs.
    words.sort(key=lambda word: word.startswith("nvidia-"))
    return " ".join(words)


class Package:
    """One package: its table, and the tree of its files below `tree`."""

    def __init__(self, name: str, table: dict, work: Path, version: str, architecture: str):
        self.name, self.table = name, table
        self.version = version
        self.architecture = table.get("architecture", architecture)
        self.tree = work / name
        self.tree.mkdir()

    def put(self, path: str, data: bytes):
        target = self.tree / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(data)

    def install(self, build: Path):
        for component in self.table.get("components", []):
            subprocess.run(["cmake", "--install", build, "--component", component, "--strip",
                            "--prefix", self.tree / "usr"], check=True, stdout=subprocess.DEVNULL)
        for source, path in self.table.get("files", {}).items():
            data = (ROOT / source).read_bytes()
            self.put(path + (".gz" if path.endswith(".md") else ""),
                     gzip.compress(data, 9, mtime=0) if path.endswith(".md") else data)
        for source, path in self.table.get("trees", {}).items():
            shutil.copytree(build / source, self.tree / path)
        for path, target in self.table.get("links", {}).items():
            (self.tree / path).parent.mkdir(parents=True, exist_ok=True)
            (self.tree / path).symlink_to(target)
        if "framework" in self.table:
            name = self.table["framework"]
            line = f"{name} {framework_packages(build, name)}\n"
            self.put(f"usr/share/nereid/frameworks/{name}", line.encode())
        self.put(f"usr/share/doc/{self.name}/copyright",
                 (PACKAGING / "debian" / "copyright").read_bytes())
        if self.table.get("reference"):
            self.install_reference(build / "bin" / "nereid")

    def install_reference(self, program: Path):
        """Adds what the program says about itself: man pages and completion."""
        overview = output(program, "help", "man")
        pages = {"nereid": overview, "tritonserver": ".so man1/nereid-serve.1\n"}
        for command in re.findall(r"^\.TP\n\\fB([\w-]+)\\fR$", overview, re.MULTILINE):
            pages[f"nereid-{command}"] = output(program, "help", "man", command)
        for page, text in pages.items():
            self.put(f"usr/share/man/man1/{page}.1.gz", gzip.compress(text.encode(), 9, mtime=0))
        for shell, (path, other) in SHELLS.items():
            self.put(path, output(program, "help", "completion", shell).encode())
            if other:
                (self.tree / path).with_name(other).symlink_to(Path(path).name)

    def programs(self) -> list:
        """Returns the programs and libraries of this project; carried ones bring what they need."""
        return [path for path in sorted(self.tree.rglob("*"))
                if path.is_file() and not path.is_symlink() and path.open("rb").read(4) == b"\x7fELF"
                and "onnxruntime.so" not in path.name]

    def library_dependencies(self, work: Path, build: Path) -> list:
        programs = self.programs()
        if not programs:
            return []
        # dpkg-shlibdeps wants a source package around it, and looks for the engine in it: plug-ins name
        # libtritonserver.so, which the process has loaded before them.
        source = work / "shlibdeps"
        (source / "debian").mkdir(parents=True, exist_ok=True)
        (source / "debian" / "control").write_text("Source: nereid\n\nPackage: nereid\n"
                                                   "Architecture: any\n")
        folders = [work / "nereid" / "usr" / "lib" / "nereid"]
        if "framework" in self.table:
            # No package has these libraries: they are found, and no dependency follows.
            packages = frameworks_folder(build) / self.table["framework"]
            folders += sorted({p.parent for p in packages.glob("*/**/*.so*") if p.is_file()})
        found = output("dpkg-shlibdeps", "-O", "--ignore-missing-info", "-xnereid",
                       *(f"-l{folder}" for folder in folders), *programs, cwd=source,
                       stderr=subprocess.DEVNULL)
        return [d for d in found.strip().removeprefix("shlibs:Depends=").split(", ") if d]

    def finish(self, work: Path, build: Path, epoch: int, out: Path, compression: str) -> Path:
        """Writes the package. Every file has a mode that depends on its kind only, and one time."""
        depends = [d.format(version=self.version) for d in self.table.get("depends", [])]
        self.depends = sorted(depends + self.library_dependencies(work, build))
        control = self.tree / "DEBIAN"
        control.mkdir()
        (control / "control").write_text(self.control())
        for script, source in self.table.get("scripts", {}).items():
            shutil.copyfile(PACKAGING / "debian" / source, control / script)
        if "conffiles" in self.table:
            (control / "conffiles").write_text("".join(f"{c}\n" for c in self.table["conffiles"]))
        files = [p for p in sorted(self.tree.rglob("*"))
                 if p.is_file() and not p.is_symlink() and control not in p.parents]
        (control / "md5sums").write_text("".join(
            f"{hashlib.md5(p.read_bytes()).hexdigest()}  {p.relative_to(self.tree)}\n"
            for p in files))
        scripts = set(self.table.get("scripts", {}))
        for path in [self.tree, *self.tree.rglob("*")]:
            if path.is_symlink():
                os.utime(path, (epoch, epoch), follow_symlinks=False)
                continue
            runs = path.is_dir() or path.parent.name == "bin" or path.suffix == ".sh" or (
                path.parent == control and path.name in scripts)
            path.chmod(0o755 if runs else 0o644)
        for path in [*self.tree.rglob("*"), self.tree]:
            os.utime(path, (epoch, epoch), follow_symlinks=False)
        target = out / f"{self.name}_{self.version}_{self.architecture}.deb"
        subprocess.run(["dpkg-deb", "--root-owner-group", f"-Z{compression}", "--threads-max=1", "--build",
                        self.tree, target], check=True, stdout=subprocess.DEVNULL,
                       env={**os.environ, "SOURCE_DATE_EPOCH": str(epoch)})
        return target

    def control(self) -> str:
        size = sum(p.stat().st_size for p in self.tree.rglob("*") if p.is_file()) // 1024 + 1
        lines = [f"Package: {self.name}", f"Version: {self.version}",
                 f"Architecture: {self.architecture}", f"Maintainer: {MAINTAINER}",
                 f"Installed-Size: {size}"]
        if self.depends:
            lines.append("Depends: " + ", ".join(self.depends))
        for field in ("recommends", "suggests"):
            if field in self.table:
                lines.append(f"{field.capitalize()}: " + ", ".join(self.table[field]))
        lines += ["Section: net" if self.name == "nereid" else "Section: libs", "Priority: optional",
                  f"Description: {self.table['summary']}"]
        lines += [" " + line for line in self.table["description"].strip().splitlines()]
        return "\n".join(lines) + "\n"


def spdx_id(name: str) -> str:
    return "SPDXRef-" + re.sub(r"[^A-Za-z0-9.-]", "-", name)


def carried_version(build: Path, carried: dict) -> str:
    if "version" in carried:
        return carried["version"]
    path, pattern = carried["version_file"]
    found = re.search(pattern.encode(), (build / path).read_bytes())
    if found is None:
        sys.exit(f"{build / path} has no '{pattern}', which names the version of {carried['name']}")
    return found.group(1).decode()


def bill_of_materials(packages: list, files: list, build: Path, epoch: int) -> dict:
    """Returns the SPDX document: the packages, what they carry, and the Debian packages they need."""
    described, relations = {}, []

    def add(name, version, license_, **more):
        described[spdx_id(name)] = {
            "SPDXID": spdx_id(name), "name": name, "versionInfo": version,
            "downloadLocation": "NOASSERTION", "filesAnalyzed": False,
            "licenseConcluded": license_, "licenseDeclared": license_,
            "copyrightText": "NOASSERTION", **more}
        return spdx_id(name)

    def relate(one, kind, other):
        relations.append({"spdxElementId": one, "relationshipType": kind,
                          "relatedSpdxElement": other})

    for package, file in zip(packages, files):
        own = add(package.name, package.version, "Apache-2.0", packageFileName=file.name, checksums=[
            {"algorithm": "SHA256", "checksumValue": hashlib.sha256(file.read_bytes()).hexdigest()}])
        relate("SPDXRef-DOCUMENT", "DESCRIBES", own)
        for carried in package.table.get("carried", []):
            relate(own, "CONTAINS", add(carried["name"], carried_version(build, carried),
                                        carried["license"]))
        for dependency in package.depends:
            name, _, bound = dependency.split("|")[0].strip().partition(" ")
            if spdx_id(name) not in described:
                add(name, bound.strip("()") or "any", "NOASSERTION")
            relate(own, "DEPENDS_ON", spdx_id(name))
    digest = hashlib.sha256(json.dumps([described, relations], sort_keys=True).encode()).hexdigest()
    return {"spdxVersion": "SPDX-2.3", "dataLicense": "CC0-1.0", "SPDXID": "SPDXRef-DOCUMENT",
            "name": f"nereid-{packages[0].version}",
            "documentNamespace": f"urn:nereid:spdx:{digest}",
            "creationInfo": {"created": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(epoch)),
                             "creators": ["Tool: nereid-build_deb"]},
            "packages": list(described.values()), "relationships": relations}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("build", type=Path, help="folder that CMake has built")
    parser.add_argument("out", type=Path, help="folder of the packages")
    parser.add_argument("--compression", default="xz", choices=["xz", "zstd", "none"],
                        help="of the packages; none is for tests (default xz)")
    arguments = parser.parse_args()
    build, out = arguments.build.resolve(), arguments.out.resolve()
    out.mkdir(parents=True, exist_ok=True)
    epoch, version = source_time(), debian_version()
    architecture = output("dpkg", "--print-architecture").strip()
    tables = tomllib.loads((PACKAGING / "packages.toml").read_text())
    os.umask(0o022)
    with tempfile.TemporaryDirectory() as folder:
        work = Path(folder)
        packages = []
        for name, table in tables.items():
            if "needs" in table and not (build / table["needs"]).exists():
                print(f"{name} is left out: there is no {build / table['needs']}", file=sys.stderr)
                continue
            packages.append(Package(name, table, work, version, architecture))
        for package in packages:
            package.install(build)
        files = [package.finish(work, build, epoch, out, arguments.compression) for package in packages]
        document = bill_of_materials(packages, files, build, epoch)
    (out / f"nereid_{version}_{architecture}.spdx.json").write_text(
        json.dumps(document, indent=2, sort_keys=True) + "\n")
    for file in files:
        print(file)


if __name__ == "__main__":
    main()
