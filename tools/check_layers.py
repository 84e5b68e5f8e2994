#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks that the folders of src/ depend downward only, as tools/layers.txt says, and that no files
include each other in a circle.

Six things are checked, and each offence is printed with its place:

- every `#include "folder/file.h"` names the includer's own folder or one that the list permits;
- every folder in the DEPS of a nereid_component is one that the list permits;
- a plug-in of backends/, caches/ or repoagents/ includes of src/ only the folders that the list
  permits to `plug-ins`;
- the list itself has no circle, and every folder with sources stands in it;
- a file's namespace is that of its folder in the list: codec/json is nereid::codec::json. Folders
  below it (testing/, abi/) share its namespace or add to it;
- no pairs include each other in a circle, in src/, include/, backends/, caches/ and repoagents/. A
  pair is a header with its source: foo.h and foo.cc count as one.

    tools/check_layers.py [--print] [ROOT]

--print lists every dependency between two folders with its number of includes. Tests (*_test.cc,
*_bench.cc) may include anything, because nothing links them. Exits with 1 if there is an offence.
"""

import argparse
import re
import sys
from collections import Counter
from pathlib import Path

INCLUDE = re.compile(r'^\s*#\s*include\s*"([^"]+)"')
NAMESPACE = re.compile(r"^namespace (nereid(?:::\w+)*) \{", re.MULTILINE)
COMPONENT = re.compile(r"nereid_component\s*\(\s*([\w/]+)(.*?)\)", re.DOTALL)
KEYWORDS = {"SOURCES", "DEPS", "LIBS"}
PLUGINS = "plug-ins"
PLUGIN_FOLDERS = ("backends", "caches", "repoagents")


def read_layers(path: Path) -> dict[str, set[str]]:
    """Folder to the folders it may include; "*" stands for all the others."""
    layers = {}
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        line = line.split("#")[0].strip()
        if not line:
            continue
        folder, colon, permitted = line.partition(":")
        if not colon:
            sys.exit(f"{path}:{number}: expected FOLDER: FOLDERS")
        layers[folder.strip()] = set(permitted.split())
    for folder, permitted in layers.items():
        if "*" in permitted:
            layers[folder] = set(layers) - {folder}
    return layers


def list_offences(layers: dict[str, set[str]], name: str) -> list[str]:
    """Folders that the list names but does not have, and circles."""
    offences = []
    for folder, permitted in layers.items():
        for unknown in sorted(permitted - set(layers)):
            offences.append(f"{name}: {folder} may include {unknown}, which is not in the list")
    remaining = {folder: permitted & set(layers) for folder, permitted in layers.items()}
    while remaining:
        free = [folder for folder, permitted in remaining.items() if not permitted & set(remaining)]
        if not free:
            offences.append(f"{name}: a circle among {', '.join(sorted(remaining))}")
            break
        for folder in free:
            del remaining[folder]
    return offences


def folder_of(path: str, layers: dict[str, set[str]]):
    """The longest folder of the list that holds a path relative to src/, or None."""
    parts = path.split("/")[:-1]
    while parts:
        if "/".join(parts) in layers:
            return "/".join(parts)
        parts.pop()
    return None


def include_offences(root: Path, layers: dict[str, set[str]], arrows: Counter) -> list[str]:
    offences = []
    source = root / "src"
    for path in sorted(source.rglob("*")):
        if path.suffix not in (".h", ".cc", ".c"):
            continue
        shown = path.relative_to(root)
        own = folder_of(path.relative_to(source).as_posix(), layers)
        if own is None:
            offences.append(f"{shown}: its folder is not in the list")
            continue
        if path.stem.endswith(("_test", "_bench")):
            continue
        lines = path.read_text(encoding="utf-8").splitlines()
        for number, line in enumerate(lines, 1):
            match = INCLUDE.match(line)
            other = folder_of(match.group(1), layers) if match else None
            if other is None or other == own:
                continue
            arrows[own, other] += 1
            if other not in layers[own]:
                offences.append(f"{shown}:{number}: {own} may not include {other}: {line.strip()}")
    return offences


def namespace_offences(root: Path, layers: dict[str, set[str]]) -> list[str]:
    """Files that open namespaces of nereid, but not that of their folder."""
    offences = []
    source = root / "src"
    for path in sorted(source.rglob("*")):
        folder = folder_of(path.relative_to(source).as_posix(), layers)
        if path.suffix not in (".h", ".cc") or folder is None:
            continue
        expected = "nereid::" + folder.replace("/", "::")
        opened = set(NAMESPACE.findall(path.read_text(encoding="utf-8")))
        if opened and not any((name + "::").startswith(expected + "::") for name in opened):
            offences.append(f"{path.relative_to(root)}: opens {', '.join(sorted(opened))}, "
                            f"expected {expected}")
    return offences


def plugin_offences(root: Path, layers: dict[str, set[str]], arrows: Counter) -> list[str]:
    """Offences of the plug-ins, which are outside of src/."""
    offences = []
    permitted = layers.get(PLUGINS, set())
    for path in sorted(path for top in PLUGIN_FOLDERS for path in (root / top).rglob("*")):
        if path.suffix not in (".h", ".cc", ".c") or path.stem.endswith(("_test", "_bench")):
            continue
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
            match = INCLUDE.match(line)
            if match is None or not (root / "src" / match.group(1)).is_file():
                continue
            other = folder_of(match.group(1), layers)
            arrows[PLUGINS, other] += 1
            if other not in permitted:
                offences.append(f"{path.relative_to(root)}:{number}: a plug-in may not include "
                                f"{other}: {line.strip()}")
    return offences


def component_folder(name: str, layers: dict[str, set[str]]):
    """The folder that a component's name spells: codec_json is codec/json, app_options is in app."""
    spelled = {folder.replace("/", "_"): folder for folder in layers}
    words = name.replace("/", "_").split("_")
    while words:
        if "_".join(words) in spelled:
            return spelled["_".join(words)]
        words.pop()
    return None


def link_offences(root: Path, layers: dict[str, set[str]]) -> list[str]:
    """Offences in the DEPS of the components."""
    offences = []
    for path in sorted((root / "src").rglob("CMakeLists.txt")):
        shown = path.relative_to(root)
        inside = path.relative_to(root / "src").as_posix()
        for match in COMPONENT.finditer(without_comments(path)):
            own = folder_of(inside, layers) or component_folder(match.group(1), layers)
            section = None
            for word in match.group(2).split():
                if word in KEYWORDS:
                    section = word
                elif section == "DEPS":
                    other = component_folder(word, layers)
                    if other is None:
                        offences.append(f"{shown}: {match.group(1)} names {word}: no such folder")
                    elif other != own and other not in layers.get(own, set()):
                        offences.append(f"{shown}: {own} may not link {other}")
    return offences


PAIRED = ("src", "include/nereid", "backends", "caches", "repoagents")
INCLUDE_FOLDERS = ("src", "include", "backends", "caches", "repoagents")


def pair_graph(root: Path) -> dict[str, set[str]]:
    """Pair to the pairs that it includes. A pair is named by its path without the suffix."""
    files = [path for top in PAIRED for path in sorted((root / top).rglob("*"))
             if path.suffix in (".h", ".cc", ".c") and not path.stem.endswith(("_test", "_bench"))]
    graph = {path.relative_to(root).with_suffix("").as_posix(): set() for path in files}
    for path in files:
        own = path.relative_to(root).with_suffix("").as_posix()
        for line in path.read_text(encoding="utf-8").splitlines():
            match = INCLUDE.match(line)
            if match is None:
                continue
            name = match.group(1).removesuffix(".h")
            places = [f"{folder}/{name}" for folder in (*INCLUDE_FOLDERS, Path(own).parent.as_posix())]
            graph[own].update(place for place in places if place in graph and place != own)
    return graph


def circles(graph: dict[str, set[str]]) -> list[list[str]]:
    """The groups of pairs that all reach each other."""
    # What is in no circle goes first: a pair that includes nothing, or is included by nothing.
    remaining = {pair: set(others) for pair, others in graph.items()}
    while True:
        included = set().union(*remaining.values()) if remaining else set()
        free = [pair for pair, others in remaining.items() if not others or pair not in included]
        if not free:
            break
        for pair in free:
            del remaining[pair]
        for others in remaining.values():
            others.difference_update(free)

    def reached_from(pair: str) -> set[str]:
        reached, waiting = set(), [pair]
        while waiting:
            for other in remaining[waiting.pop()] - reached:
                reached.add(other)
                waiting.append(other)
        return reached

    reach = {pair: reached_from(pair) for pair in remaining}
    groups = {tuple(sorted(other for other in reach[pair] if pair in reach[other]))
              for pair in remaining if pair in reach[pair]}
    return sorted(list(group) for group in groups)


def circle_offences(root: Path) -> tuple[int, list[str]]:
    """The number of pairs, and the circles among them, each with its includes."""
    graph = pair_graph(root)
    offences = []
    for group in circles(graph):
        arrows = "; ".join(f"{pair} includes {', '.join(sorted(graph[pair] & set(group)))}"
                           for pair in group)
        offences.append(f"a circle of {len(group)} pairs: {arrows}")
    return len(graph), offences


def without_comments(path: Path) -> str:
    return re.sub(r"#[^\n]*", "", path.read_text(encoding="utf-8"))


def main() -> int:
    parser = argparse.ArgumentParser(description="Check that dependencies point down only, without circles.")
    parser.add_argument("--print", action="store_true", dest="show", help="list the dependencies")
    parser.add_argument("root", nargs="?", type=Path, default=Path(__file__).resolve().parents[1])
    options = parser.parse_args()
    layers = read_layers(options.root / "tools" / "layers.txt")
    arrows = Counter()
    offences = list_offences(layers, "tools/layers.txt")
    offences += include_offences(options.root, layers, arrows)
    offences += plugin_offences(options.root, layers, arrows)
    offences += link_offences(options.root, layers)
    offences += namespace_offences(options.root, layers)
    pairs, circular = circle_offences(options.root)
    if options.show:
        for (own, other), count in sorted(arrows.items()):
            print(f"{own} -> {other}: {count}")
    for offence in offences + circular:
        print(offence)
    print(f"{sum(arrows.values())} includes across folders, {len(offences)} against the layers; "
          f"{pairs} pairs, {len(circular)} circles")
    return 1 if offences or circular else 0


if __name__ == "__main__":
    sys.exit(main())
