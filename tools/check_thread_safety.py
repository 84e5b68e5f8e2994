#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks with clang that every member is used with its mutex held.

    tools/check_thread_safety.py [--build DIR] [--list] [--tidy] [--again] [FILE...]

Two checks are made in src/, caches/, backends/, repoagents/ and python/, except for tests:

- No mutex is bare. Locks are those of base/mutex.h, and each `Mutex` is named by an annotation
  (NEREID_GUARDED_BY, NEREID_REQUIRES, ...) in its header or source. A mutex that guards no member,
  because it only orders calls, has the comment "guards no member" on its line or the line above.
- clang compiles each file without a warning under -Wthread-safety (and -Wall -Wextra). Nothing is
  written. The commands are those of DIR/compile_commands.json; DIR is build/release unless given.

FILE... restricts the second check to these sources. --list prints every mutex and what names it.
--tidy reads the sources with clang-tidy instead, which makes the checks of .clang-tidy in the same
pass. Exits with 1 if there is an offence, with 2 if clang or the commands are missing.

A source that passed is not read again until its text, a header of the project that it includes, its
command, the settings or the version of clang differ: ~/.cache/nereid/lint has an empty file for each
such state, for a month. --again reads every source.
"""

import argparse
import concurrent.futures
import hashlib
import json
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import time

FOLDERS = ("src", "caches", "backends", "repoagents", "python")
LOCKS = pathlib.Path("src/base/mutex.h")
BARE = re.compile(r"\bstd::(?:recursive_|shared_|timed_)?mutex\b|\bstd::condition_variable\b"
                  r"|\bstd::(?:lock_guard|unique_lock|scoped_lock|shared_lock)\b")
MUTEX = re.compile(r"^\s*(?:mutable |static |inline )*(?:nereid::)?(?:base::)?Mutex (?P<name>\w+)\s*"
                   r"(?:NEREID_\w+\([^)]*\)\s*)?;(?P<rest>.*)$")
ANNOTATION = re.compile(r"NEREID_(?:PT_)?(?:GUARDED_BY|REQUIRES|EXCLUDES|ACQUIRE|RELEASE|"
                        r"RETURN_CAPABILITY)\((?P<names>[^)]*(?:\([^)]*\)[^)]*)*)\)")
ORDERS_ONLY = "guards no member"
# Options that GCC has and clang does not.
GCC_ONLY = {"-fno-gnu-unique", "-Wno-restrict", "-Wno-stringop-overflow", "-Wno-stringop-overread",
            "-Wno-array-bounds", "-Wno-subobject-linkage", "-fpch-preprocess", "-Winvalid-pch"}
# C++20 has changed the meaning of the comparisons of RapidJSON's iterators.
CLANG_OPTIONS = ["-fsyntax-only", "-Wthread-safety", "-Werror", "-Wno-ambiguous-reversed-operator"]
CLANG, CLANG_TIDY = "clang++-14", "clang-tidy-14"


def sources(root):
    """Yields the headers and sources that are not tests, relative to `root`."""
    for folder in FOLDERS:
        for path in sorted((root / folder).rglob("*")):
            if path.suffix in (".h", ".cc") and not path.stem.endswith(("_test", "_bench")):
                yield path.relative_to(root)


def named_by_annotations(text):
    """Returns every word that stands in an annotation's parentheses."""
    return {word for found in ANNOTATION.finditer(text)
            for word in re.findall(r"\w+", found["names"])}


def pair_text(root, path):
    """Returns the text of a header and its source together."""
    pair = [root / path.with_suffix(suffix) for suffix in (".h", ".cc")]
    return "\n".join(file.read_text() for file in pair if file.exists())


def without_comment(line):
    return line.split("//", 1)[0]


def find_mutexes(root):
    """Returns (places of Mutex, offences): each place is (path, line, name, how it is named)."""
    mutexes, offences = [], []
    for path in sources(root):
        lines = (root / path).read_text().splitlines()
        if path != LOCKS:
            offences += [f"{path}:{number}: {found[0]}: use base/mutex.h"
                         for number, line in enumerate(lines, 1)
                         if (found := BARE.search(without_comment(line)))]
        for number, line in enumerate(lines, 1):
            found = MUTEX.match(line)
            if not found or path == LOCKS:
                continue
            above = lines[number - 2] if number > 1 else ""
            if found["name"] in named_by_annotations(pair_text(root, path)):
                how = "annotated"
            elif ORDERS_ONLY in line or (above.lstrip().startswith("//") and ORDERS_ONLY in above):
                how = ORDERS_ONLY
            else:
                how = "bare"
                offences.append(f"{path}:{number}: nothing is annotated with '{found['name']}'; say "
                                f"NEREID_GUARDED_BY({found['name']}) or \"{ORDERS_ONLY}\"")
            mutexes.append((path, number, found["name"], how))
    return mutexes, offences


def clang_command(entry, tool):
    """Returns the words that have `tool` check what `entry` of the commands compiles."""
    words = shlex.split(entry["command"])
    launchers = [n for n, word in enumerate(words) if pathlib.Path(word).name == "ccache"]
    words = words[launchers[-1] + 1:] if launchers else words
    kept, skip = [], False
    for word in words[1:]:
        if skip or word in GCC_ONLY:
            skip = False
        elif word in ("-o", "-include"):  # CMake includes a precompiled header of GCC
            skip = True
        elif word != "-c":
            kept.append(word)
    if tool == CLANG_TIDY:
        source = kept.pop()  # CMake writes it last
        return [tool, "--quiet", source, "--", CLANG, *kept, *CLANG_OPTIONS]
    return [tool, *kept, *CLANG_OPTIONS]


def single_sources(entries):
    """Returns the compile commands with one source each: the file of a unity build, which includes
    several sources, is replaced by them."""
    for entry in entries:
        path = pathlib.Path(entry["directory"], entry["file"])
        if not path.name.startswith("unity_"):
            yield entry
            continue
        for name in re.findall(r'^#include "(.+)"', path.read_text(), re.M):
            source = os.path.normpath(path.parent / name)
            head, _, tail = entry["command"].rpartition(entry["file"])
            yield {**entry, "file": source, "command": head + source + tail}


def chosen_entries(root, build, files):
    """Returns the compile commands of the sources that are checked, each source once."""
    wanted = {str((root / path).resolve()) for path in sources(root) if path.suffix == ".cc"}
    if files:
        wanted &= {str(pathlib.Path(file).resolve()) for file in files}
    entries = {}
    for entry in single_sources(json.loads((build / "compile_commands.json").read_text())):
        if str(pathlib.Path(entry["file"]).resolve()) in wanted:
            entries.setdefault(entry["file"], entry)
    return list(entries.values())


class PassedSources:
    """Remembers which sources passed. The memory is shared by all checkouts of the project."""

    INCLUDE = re.compile(r'^\s*#\s*include\s+"([^"]+)"', re.M)
    KEPT_S = 30 * 24 * 3600

    def __init__(self, root, tool):
        home = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
        self.folder = pathlib.Path(home, "nereid", "lint")
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
        except OSError:  # a home that cannot be written: nothing is remembered
            self.folder = pathlib.Path(tempfile.mkdtemp())
        for path in self.folder.iterdir():
            if time.time() - path.stat().st_mtime > self.KEPT_S:
                path.unlink(missing_ok=True)
        self.root = str(root.resolve())
        version = subprocess.run([tool, "--version"], stdout=subprocess.PIPE, check=True).stdout
        settings = root / ".clang-tidy"
        self.common = version + (settings.read_bytes() if settings.exists() else b"")
        self.files = {}  # path -> (digest of its text, names that it includes), or None

    def read(self, path):
        if path not in self.files:
            try:
                data = pathlib.Path(path).read_bytes()
            except OSError:
                self.files[path] = None
            else:
                names = self.INCLUDE.findall(data.decode(errors="replace"))
                self.files[path] = (hashlib.sha256(data).hexdigest(), names)
        return self.files[path]

    def included(self, source, folders):
        """Returns the digests of a source and of all files that it includes by quoted names."""
        digests, seen, waiting = [], set(), [os.path.normpath(source)]
        while waiting:
            path = waiting.pop()
            if path in seen or self.read(path) is None:
                continue
            seen.add(path)
            digest, names = self.files[path]
            digests.append(digest)
            for name in names:
                for folder in (os.path.dirname(path), *folders):
                    found = os.path.normpath(os.path.join(folder, name))
                    if self.read(found) is not None:
                        waiting.append(found)
                        break
        return sorted(digests)

    def file_for(self, entry, tool):
        """Returns the file that exists if the source passed in exactly this state."""
        words = clang_command(entry, tool)
        folders = [word[2:] for word in words if word.startswith("-I")]
        folders += [after for word, after in zip(words, words[1:]) if word in ("-I", "-isystem")]
        state = "\n".join(words + self.included(entry["file"], folders))
        state = state.replace(self.root, "ROOT").encode()
        return self.folder / hashlib.sha256(self.common + state).hexdigest()


def check(entry, tool):
    """Returns the complaints of clang or clang-tidy about one source, or an empty text."""
    run = subprocess.run(clang_command(entry, tool), cwd=entry["directory"], text=True,
                         stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
    return "" if run.returncode == 0 else run.stdout + run.stderr


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", type=pathlib.Path)
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--root", type=pathlib.Path,
                        default=pathlib.Path(__file__).resolve().parent.parent)
    parser.add_argument("--tidy", action="store_true")
    parser.add_argument("--again", action="store_true")
    parser.add_argument("files", nargs="*", metavar="FILE")
    options = parser.parse_args()
    build = options.build or options.root / "build/release"

    mutexes, offences = find_mutexes(options.root)
    if options.list:
        for path, number, name, how in mutexes:
            print(f"{path}:{number}: {name}: {how}")
    tool = CLANG_TIDY if options.tidy else CLANG
    if shutil.which(tool) is None:
        print(f"{tool} is not installed (apt install clang-14 clang-tidy-14)", file=sys.stderr)
        return 2
    if not (build / "compile_commands.json").exists():
        print(f"{build} has no compile_commands.json: run cmake first", file=sys.stderr)
        return 2
    entries = chosen_entries(options.root, build, options.files)
    passed = PassedSources(options.root, tool)
    memory = {entry["file"]: passed.file_for(entry, tool) for entry in entries}
    unread = [entry for entry in entries if options.again or not memory[entry["file"]].exists()]

    def check_and_remember(entry):
        text = check(entry, tool)
        if not text:
            memory[entry["file"]].touch()
        return text

    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        complaints = [text for text in pool.map(check_and_remember, unread) if text]
    for entry in entries:
        if memory[entry["file"]].exists():
            memory[entry["file"]].touch()
    for text in offences + complaints:
        print(text)
    bare = sum(how == "bare" for *_, how in mutexes)
    print(f"{len(mutexes)} mutexes, {bare} bare; {len(offences)} offences; "
          f"{tool} read {len(unread)} sources, {len(complaints)} with complaints; "
          f"{len(entries) - len(unread)} had passed before")
    return 1 if offences or complaints else 0


if __name__ == "__main__":
    sys.exit(main())
