#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Stages the pages of the documentation site.

    tools/site/stage.py PAGES CONFIG

The pages link each other, and files of the sources, from everywhere in the repository. So PAGES becomes
a copy of all pages in the folders that they have in the repository, with the files to which they link.
A link to a folder leads to its README.md, or, if it has none, to a list of its files. CONFIG becomes
mkdocs.yml with the pages that its navigation does not name: those beside the sources, under "Develop".
"""

import os
import re
import shutil
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "checks"))

import documents_test as documents  # noqa: E402

ITEM = re.compile(r"(?:-|\d+\.) +")
LINK = re.compile(r"(\]\(\s*<?)([^)\s>#]+)")


def four_spaces(text: str) -> str:
    """Returns the text with what belongs to a list item indented by four spaces, which MkDocs requires;
    on the pages it is indented by the width of the item's mark."""
    lines, width, fenced = [], 0, False
    for line in text.splitlines(keepends=True):
        mark = None if fenced else ITEM.match(line)
        if mark:
            width = len(mark.group())
        elif width and line.startswith(" " * width):
            line = "    " + line[width:]
        elif line.strip():
            width = 0
            fenced ^= line.startswith("```")
        lines.append(line)
    return "".join(lines)


def list_of_files(folder: Path) -> str:
    """Returns the page of a folder without a README.md."""
    names = sorted(str(p.relative_to(ROOT / folder)) for p in (ROOT / folder).rglob("*")
                   if p.is_file() and "__pycache__" not in p.parts)
    return f"# {folder}\n\nThe files of this folder:\n\n" + "".join(f"- `{n}`\n" for n in names)


def stage(pages: Path) -> None:
    shutil.rmtree(pages, ignore_errors=True)
    folders = set()
    for page in documents.pages(ROOT):
        text = (ROOT / page).read_text("utf-8")

        def leads(match, page=page):
            target = documents.target_of(page, match.group(2))
            if documents.ELSEWHERE.match(match.group(2)) or not (ROOT / target).is_dir():
                return match.group()
            folders.add(target)
            return match.group(1) + os.path.relpath(target / "README.md", page.parent)

        for path, _ in documents.links(text):
            target = documents.target_of(page, path)
            if (ROOT / target).is_file() and target.suffix != ".md":
                (pages / target).parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(ROOT / target, pages / target)
        (pages / page).parent.mkdir(parents=True, exist_ok=True)
        (pages / page).write_text(four_spaces(LINK.sub(leads, text)), "utf-8")
    for folder in folders:
        if not (pages / folder / "README.md").exists():
            (pages / folder).mkdir(parents=True, exist_ok=True)
            (pages / folder / "README.md").write_text(list_of_files(folder), "utf-8")


def named_in(config: str) -> set[str]:
    return set(re.findall(r"[\w./-]+\.md\b", config.partition("\nnav:")[2]))


def complete(config: str, pages: Path) -> str:
    """Adds the pages that the navigation does not name: those of a backend to the backends, all others
    at the end."""
    known = named_in(config)
    others = sorted(str(p.relative_to(pages)) for p in pages.rglob("*.md")
                    if str(p.relative_to(pages)) not in known)
    backends = [p for p in others if re.fullmatch(r"backends/[^/]+/README\.md", p)]
    decisions = [p for p in others if p.startswith("docs/decisions/")]
    rest = [p for p in others if p not in backends and p not in decisions]
    marker = "          - docs/user/backends.md\n"
    assert marker in config
    config = config.replace(marker, marker + "".join(f"          - {p}\n" for p in backends))
    config += "      - Decisions:\n" + "".join(f"          - {p}\n" for p in decisions)
    return config + "      - Beside the sources:\n" + "".join(f"          - {p}\n" for p in rest)


def main() -> None:
    pages, config = Path(sys.argv[1]), Path(sys.argv[2])
    stage(pages)
    text = complete((ROOT / "mkdocs.yml").read_text("utf-8"), pages)
    for key, path in (("docs_dir", pages.resolve()), ("site_dir", config.resolve().parent / "site")):
        text = re.sub(rf"^{key}: .*$", f"{key}: {path}", text, flags=re.M)
    config.write_text(text, "utf-8")


if __name__ == "__main__":
    main()
