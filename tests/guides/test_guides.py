# SPDX-License-Identifier: Apache-2.0
"""The pages that lead a reader through commands: every command runs, and prints what the page says."""

import re
import shutil
from pathlib import Path

import guide_page
import pytest
from PIL import Image
from server_process import free_ports

ROOT = Path(__file__).resolve().parents[2]
USER = ROOT / "docs" / "user"
PAGES = [USER / "first_picture.md", USER / "tutorial.md", *sorted((USER / "recipes").glob("*.md"))]
EXAMPLES = ROOT / "build" / "examples"


@pytest.fixture
def examples(tmp_path):
    """A folder with what nereid-examples installs, and a photograph for the reader."""
    if not (EXAMPLES / "model_repository" / "photo").is_dir():
        pytest.skip("examples/make_repository.py has not made the example models")
    folder = tmp_path / "examples"
    shutil.copytree(EXAMPLES / "model_repository" / "photo", folder / "photo")
    return folder


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_the_commands_of_a_page(page, examples, tmp_path, server_command, backends):
    steps = guide_page.steps_of(page)
    if page.parent.name != "recipes" or page.stem != "README":
        assert any(step.kind == "commands" for step in steps), f"{page} has no commands"
    reader = guide_page.Reader(
        tmp_path, Path(server_command).resolve(), free_ports(3),
        {"/usr/share/nereid/examples": str(examples)}, [f"--backend-directory={backends}"])
    picture = Image.open(EXAMPLES / "pictures" / "cat.png").convert("RGB")
    picture.save(reader.work / "cat.jpg", quality=90)
    wrong = reader.follow(steps)
    assert not wrong, "\n".join(wrong)


def test_the_first_picture_takes_at_most_five_commands():
    text = (USER / "first_picture.md").read_text("utf-8")
    commands = [step.text for step in guide_page.steps_of(USER / "first_picture.md")
                if step.kind == "commands"]
    until_the_answer = "".join(commands[: text.split("prints:")[0].count("```") // 2])
    assert 3 <= len(re.findall(r"^\S", until_the_answer, re.M)) <= 5


def test_outputs_are_compared():
    assert guide_page.alike("photo version 1, 21.4 ms", "photo version 1, 3.1 ms")
    assert guide_page.alike("  0     0.836171  285", "0 0.84 285")
    assert not guide_page.alike("  0     0.836171  285", "0 0.7 285")
    assert not guide_page.alike("a b", "a c")
    assert guide_page.alike("ready … ok", "ready by now ok")
    assert guide_page.matches(["a", "…", "b"], ["a", "x", "y", "b"])
    assert not guide_page.matches(["a", "b"], ["a"])
