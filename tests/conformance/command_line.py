# SPDX-License-Identifier: Apache-2.0
"""Runs Nereid's tools against the server under test. The peer is asked by Nereid's tools, too."""

import os
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def program(config):
    """The program of the tools."""
    command = config.option.server_command
    if config.option.peer or not command:
        return str(ROOT / "build/release/bin/nereid")
    return command.split()[0]


def environment(server, url=None, more=None):
    """The variables of a tool that asks the server."""
    return {**os.environ, "NEREID_URL": url or f"http://{server.http}", **(more or {})}


def runner(config):
    """Returns run(server, word, ...), which runs a tool, checks its exit code and returns what it
    has written."""
    path = program(config)

    def run(server, *words, code=0, environment_more=None, url=None, **options):
        done = subprocess.run([path, *map(str, words)], capture_output=True, text=True, timeout=120,
                              env=environment(server, url, environment_more), **options)
        assert code is None or done.returncode == code, (done.stdout, done.stderr)
        return done
    return run
