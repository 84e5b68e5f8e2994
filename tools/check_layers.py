#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks that the folders of src/ depend downward only, as tools/layers.txt says.

Three things are checked, and each offence is printed with its place:

- every `#include "folder/file.h"` names the includer's own folder or one that the list permits;
- every folder in the DEPS of a nereid_component is one that the list permits;
- the list itself has no circle, and every folder with sources stands in it.

    tools/check_layers.py [--print] [ROOT]

--print lists every arrow between two folders with the number of includes behind it. Tests
(*_test.cc, *_bench.cc) may reach anywhere: they are no part of what others link. Exits with 1 when
something offends.
"""

import argparse
import re
import sys
from collections import Counter
from pathlib import Path

INCLUDE = re.compile(r'^\s*#\s*include\s*"([^"]+)"')
COMPONENT = re.compile(r"nereid_component\s*\(\s*([\w/]+)(.*?)\)", re.DOTALL)
KEYWORDS = {"SOURCES", "DEPS", "LIBS"}


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


def without_comments(path: Path) -> str:
    return re.sub(r"#[^\n]*", "", path.read_text(encoding="utf-8"))


def main() -> int:
    parser = argparse.ArgumentParser(description="Check that dependencies point down only.")
    parser.add_argument("--print", action="store_true", dest="show", help="list the arrows")
    parser.add_argument("root", nargs="?", type=Path, default=Path(__file__).resolve().parents[1])
    options = parser.parse_args()
    layers = read_layers(options.root / "tools" / "layers.txt")
    arrows = Counter()
    offences = list_offences(layers, "tools/layers.txt")
    offences += include_offences(options.root, layers, arrows)
    offences += link_offences(options.root, layers)
    if options.show:
        for (own, other), count in sorted(arrows.items()):
            print(f"{own} -> {other}: {count}")
    for offence in offences:
        print(offence)
    print(f"{sum(arrows.values())} includes across folders, {len(offences)} against the layers")
    return 1 if offences else 0


if __name__ == "__main__":
    sys.exit(main())
