# SPDX-License-Identifier: Apache-2.0
"""Tests that docs/README.md links every page and that every link has a target."""

import os
import re
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
INDEX = Path("docs/README.md")
SHELVES = ("docs/user", "docs/user/recipes", "docs/developer", "docs/decisions")
LEFT_OUT = {"build", "node_modules", "__pycache__"}  # and every folder with a leading dot

CODE_BLOCK = re.compile(r"^ *```.*?^ *```", re.M | re.S)
CODE_SPAN = re.compile(r"(`+)(?!`).*?(?<!`)\1(?!`)", re.S)
LINK = re.compile(r"\]\(\s*<?([^)\s>]+)>?[^)]*\)|^\[[^\]]+\]:\s+(\S+)", re.M)
ELSEWHERE = re.compile(r"[a-zA-Z][a-zA-Z0-9+.-]*:|//")  # https:, mailto:


def pages(root):
    """The Markdown files of the project, relative to its root."""
    for folder, folders, files in os.walk(root):
        folders[:] = [f for f in folders if f not in LEFT_OUT and not f.startswith(".")]
        for file in files:
            if file.endswith(".md"):
                yield (Path(folder) / file).relative_to(root)


def links(text):
    """Returns the targets (path, anchor) of a page's links inside the project."""
    text = CODE_BLOCK.sub("", text)
    text = CODE_SPAN.sub(lambda m: "" if "](" in m.group() else m.group(), text)
    for match in LINK.finditer(text):
        target = match.group(1) or match.group(2)
        if not ELSEWHERE.match(target):
            path, _, anchor = target.partition("#")
            yield path, anchor


def anchors(text):
    """Returns the anchors of a page's headings in GitHub's form."""
    found = set()
    for heading in re.findall(r"^#{1,6} +(.*?) *#*$", CODE_BLOCK.sub("", text), re.M):
        heading = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading)
        slug = re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")
        number, name = 0, slug
        while name in found:
            number += 1
            name = f"{slug}-{number}"
        found.add(name)
    return found


def target_of(page, path):
    """Returns the path, relative to the root, to which a link of a page leads."""
    return Path(os.path.normpath(page.parent / path)) if path else page


def broken_links(root):
    """Returns one line for each link without a target."""
    broken = []
    for page in sorted(pages(root)):
        for path, anchor in links((root / page).read_text()):
            target = target_of(page, path)
            if path.startswith("/") or target.parts[:1] == ("..",):
                broken.append(f"{page}: {path} leads out of the project")
            elif not (root / target).exists():
                broken.append(f"{page}: {path} does not exist")
            elif anchor and target.suffix == ".md" and anchor not in anchors(
                    (root / target).read_text()):
                broken.append(f"{page}: {target} has no heading #{anchor}")
    return broken


def reachable(root, page):
    """Returns all pages to which links lead from a page, over any number of pages."""
    found, todo = {page}, [page]
    while todo:
        page = todo.pop()
        for path, _ in links((root / page).read_text()):
            target = target_of(page, path)
            if target.suffix == ".md" and target not in found and (root / target).is_file():
                found.add(target)
                todo.append(target)
    return found


def unlinked_pages(root):
    """Returns the pages of docs/ that the index does not link itself, and pages to which no link
    leads."""
    named = {target_of(INDEX, path) for path, _ in links((root / INDEX).read_text())}
    there = reachable(root, INDEX)
    shelved = {page for page in pages(root)
               if page.parts[0] == "docs" and page.parts[1] in ("user", "developer")}
    return sorted(map(str, (shelved - named) | {p for p in pages(root) if p not in there}))


class Documents(unittest.TestCase):
    def test_every_link_points_at_something(self):
        self.assertEqual(broken_links(ROOT), [])

    def test_every_page_is_linked_from_the_index(self):
        self.assertEqual(unlinked_pages(ROOT), [], f"link them from {INDEX}")

    def test_every_page_of_docs_is_on_a_shelf(self):
        loose = [str(page) for page in pages(ROOT) if page.parts[0] == "docs" and page != INDEX
                 and str(page.parent) not in SHELVES]
        self.assertEqual(loose, [], f"the shelves are {SHELVES}")


class TheChecks(unittest.TestCase):
    """Tests that the checks find each kind of error."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = Path(folder.name)
        self.write("docs/README.md", "[a](user/a.md), [top](../README.md#the-top)\n")
        self.write("docs/user/a.md", "# A `b`, c\n[index](../README.md) [here](#a-b-c)\n")
        self.write("README.md", "# The top\n[out](https://example.org/x) `[no](link)`\n")

    def write(self, path, text):
        (self.root / path).parent.mkdir(parents=True, exist_ok=True)
        (self.root / path).write_text(text)

    def test_nothing_wrong(self):
        self.assertEqual(broken_links(self.root), [])
        self.assertEqual(unlinked_pages(self.root), [])

    def test_broken_links(self):
        self.write("docs/user/a.md", "[x](gone.md) [y](../README.md#gone) [z](../../../etc)\n"
                   "[r]: ../nothing.txt\n```\n[code](gone.txt)\n```\n")
        self.assertEqual(broken_links(self.root), [
            "docs/user/a.md: gone.md does not exist",
            "docs/user/a.md: docs/README.md has no heading #gone",
            "docs/user/a.md: ../../../etc leads out of the project",
            "docs/user/a.md: ../nothing.txt does not exist"])

    def test_unlinked_pages(self):
        self.write("docs/user/b.md", "[a](a.md)\n")
        self.write("docs/user/c.md", "c\n")
        self.write("README.md", "# The top\n[c](docs/user/c.md)\n")
        self.assertEqual(unlinked_pages(self.root), ["docs/user/b.md", "docs/user/c.md"])

    def test_headings_of_the_same_name(self):
        self.assertEqual(anchors("# X\n## X\n"), {"x", "x-1"})


if __name__ == "__main__":
    unittest.main()
