# SPDX-License-Identifier: Apache-2.0
"""Tests that the navigation of the documentation site names every page for users, and that the pages
are staged as MkDocs needs them. Where tools/build_site.sh has installed MkDocs, the site is built."""

import importlib.util
import re
import subprocess
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SITE_PYTHON = ROOT / "build/site-venv/bin/python"

_spec = importlib.util.spec_from_file_location("site_stage", ROOT / "tools/site/stage.py")
stage = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(stage)


class Navigation(unittest.TestCase):
    def setUp(self):
        self.config = (ROOT / "mkdocs.yml").read_text()
        self.named = re.findall(r"[\w./-]+\.md\b", self.config.partition("\nnav:")[2])

    def test_every_entry_is_a_page_and_stands_once(self):
        self.assertEqual([p for p in self.named if not (ROOT / p).is_file()], [])
        self.assertEqual(len(self.named), len(set(self.named)))

    def test_every_page_of_the_shelves_is_named(self):
        pages = {str(p) for p in stage.documents.pages(ROOT)
                 if str(p).startswith(("docs/user/", "docs/developer/"))}
        self.assertEqual(sorted(pages - set(self.named)), [], "add them to nav of mkdocs.yml")


class Stage(unittest.TestCase):
    def test_lists_are_indented_for_mkdocs(self):
        self.assertEqual(stage.four_spaces("1. a\n\n   ```\n   b\n   ```\n2. c\nd\n"),
                         "1. a\n\n    ```\n    b\n    ```\n2. c\nd\n")
        self.assertEqual(stage.four_spaces("- a\n  b\n  - c\n"), "- a\n    b\n    - c\n")
        self.assertEqual(stage.four_spaces("```\n- a\n  b\n```\n"), "```\n- a\n  b\n```\n")

    def test_every_page_and_every_file_with_a_link_is_staged(self):
        with tempfile.TemporaryDirectory() as name:
            pages = Path(name) / "pages"
            stage.stage(pages)
            self.assertTrue((pages / "tools/install/packages.txt").is_file())
            self.assertEqual({p for p in stage.documents.pages(ROOT) if not (pages / p).is_file()},
                             set())
            whole = stage.complete((ROOT / "mkdocs.yml").read_text(), pages)
            self.assertEqual(stage.named_in(whole),
                             {str(p.relative_to(pages)) for p in pages.rglob("*.md")})

    @unittest.skipUnless(SITE_PYTHON.exists(), "tools/build_site.sh makes build/site-venv")
    def test_the_site_is_built_without_a_warning(self):
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            subprocess.run([SITE_PYTHON, ROOT / "tools/site/stage.py", folder / "pages",
                            folder / "site.yml"], check=True)
            done = subprocess.run([SITE_PYTHON, "-m", "mkdocs", "build", "--strict", "--quiet",
                                   "--config-file", folder / "site.yml"],
                                  capture_output=True, text=True, timeout=300, check=False)
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
            index = (folder / "site/search/search_index.json").read_text()
            self.assertIn("docs/user/first_picture.html", index)
            # Nothing is loaded from elsewhere.
            page = (folder / "site/index.html").read_text()
            self.assertEqual(re.findall(r'<(?:script|link|img)[^>]*(?:src|href)="https?://[^"]*', page),
                             [])


if __name__ == "__main__":
    unittest.main()
