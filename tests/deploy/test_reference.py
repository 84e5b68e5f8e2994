# SPDX-License-Identifier: Apache-2.0
"""The man pages and the completion of shells that the program prints, read by the real programs."""

import re
import shutil
import subprocess

import pytest


@pytest.fixture(scope="session")
def text(server_command):
    """text("man", "serve") is what `nereid help man serve` prints."""
    def ask(*words):
        return subprocess.run([server_command, "help", *words], capture_output=True, text=True,
                              check=True).stdout
    return ask


def commands(text):
    return re.findall(r"^\.TP\n\\fB(\w+)\\fR$", text("man"), re.MULTILINE)


def program(name):
    if shutil.which(name) is None:
        pytest.skip(f"{name} is not installed")
    return name


def test_groff_finds_nothing_wrong(text):
    program("groff")
    for words in [()] + [(name,) for name in commands(text)]:
        done = subprocess.run(["groff", "-man", "-ww", "-Tutf8", "-P-cbou"], text=True,
                              input=text("man", *words), capture_output=True, check=True)
        assert done.stderr == "", words
        assert "NAME" in done.stdout and "SEE ALSO" in done.stdout


def test_a_flag_in_a_man_page_can_be_copied(text):
    program("groff")
    page = subprocess.run(["groff", "-man", "-Tutf8", "-P-cbou"], input=text("man", "serve"),
                          capture_output=True, text=True, check=True).stdout
    assert "--model-repository=path" in page


def complete(text, tmp_path, *words, program_name="nereid"):
    """Returns what bash offers for the last word."""
    script = tmp_path / "completion.bash"
    script.write_text(text("completion", "bash"))
    run = ("compopt() { :; }; . \"$0\"; COMP_WORDS=(\"$@\"); COMP_CWORD=$(($# - 1)); COMPREPLY=(); "
           "_nereid; printf '%s\\n' \"${COMPREPLY[@]}\"")
    done = subprocess.run(["bash", "-uc", run, script, program_name, *words], cwd=tmp_path,
                          capture_output=True, text=True, check=True)
    assert done.stderr == ""
    return done.stdout.split()


def test_bash_completes_commands_flags_and_values(text, tmp_path):
    (tmp_path / "models").mkdir()
    assert set(complete(text, tmp_path, "")) == {*commands(text), "help"}
    assert complete(text, tmp_path, "ser") == ["serve"]
    assert complete(text, tmp_path, "serve", "--http-po") == ["--http-port="]
    assert complete(text, tmp_path, "serve", "--log-format", "=", "I") == ["ISO8601"]
    assert complete(text, tmp_path, "serve", "--log-format", "=") == ["default", "ISO8601", "json"]
    assert complete(text, tmp_path, "serve", "--allow-http", "f") == ["false"]
    assert "models" in complete(text, tmp_path, "serve", "--model-repository", "=")
    assert complete(text, tmp_path, "check", "mod") == ["models"]
    assert complete(text, tmp_path, "check", "--for") == ["--format="]
    assert complete(text, tmp_path, "--drain", program_name="/usr/bin/tritonserver") == [
        "--drain-secs="]


@pytest.mark.parametrize("shell, option", [("bash", "-n"), ("zsh", "-n"), ("fish", "--no-execute")])
def test_shells_can_read_their_scripts(text, tmp_path, shell, option):
    script = tmp_path / shell
    script.write_text(text("completion", shell))
    done = subprocess.run([program(shell), option, script], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")


def test_fish_completes(text, tmp_path):
    program("fish")
    (tmp_path / "nereid.fish").write_text(text("completion", "fish"))
    done = subprocess.run(["fish", "--no-config", "-c",
                           f"source {tmp_path}/nereid.fish; complete -C 'nereid serve --log-form'; "
                           "complete -C 'nereid serve --log-format=j'"],
                          capture_output=True, text=True, env={"HOME": str(tmp_path),
                                                               "PATH": "/usr/bin:/bin"})
    offered = [line.split("\t")[0] for line in done.stdout.splitlines()]
    assert offered == ["--log-format", "--log-format=json"], done.stderr
