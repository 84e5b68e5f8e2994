# SPDX-License-Identifier: Apache-2.0
"""Servers and programs for the tests of deploy/. The servers are those of the conformance suite."""

import contextlib
import importlib.util
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
CONFORMANCE = ROOT / "tests" / "conformance"
sys.path.append(str(CONFORMANCE))
_spec = importlib.util.spec_from_file_location("conformance_fixtures", CONFORMANCE / "conftest.py")
_fixtures = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(_fixtures)
pytest_addoption = _fixtures.pytest_addoption
start_server = _fixtures.start_server
backends = _fixtures.backends
test_plugins = _fixtures.test_plugins


@pytest.fixture(scope="session")
def is_peer() -> bool:
    return False


@pytest.fixture(scope="session")
def server_command(request):
    """The program of the server under test, without "serve"."""
    given = request.config.option.server_command
    return given.split()[0] if given else str(ROOT / "build" / "release" / "bin" / "nereid")


@pytest.fixture(scope="session")
def tools() -> Path:
    """The folder of tools/install/deploy_tools.sh."""
    folder = Path(os.environ.get("NEREID_DEPLOY_TOOLS", ROOT / "build" / "deploy_tools"))
    if not (folder / "run").exists():
        pytest.skip(f"no {folder}: run tools/install/deploy_tools.sh build/deploy_tools")
    return folder


@pytest.fixture(scope="session")
def run_tool(tools):
    """run_tool(name, *arguments) runs a program to its end and returns its output; a failure fails
    the test."""
    def run(name, *arguments, **options):
        done = subprocess.run([str(tools / "run"), name, *map(str, arguments)], text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=60,
                              **options)
        assert done.returncode == 0, done.stdout
        return done.stdout
    return run


@pytest.fixture
def start_tool(tools, tmp_path):
    """start_tool(name, *arguments) starts a program that is ended with the test. Returns the
    process, whose output is in the file `log`."""
    with contextlib.ExitStack() as ends:
        def start(name, *arguments, **options):
            log = tmp_path / f"{name}.log"
            with open(log, "wb") as out:
                process = subprocess.Popen([str(tools / "run"), name, *map(str, arguments)],
                                           stdout=out, stderr=subprocess.STDOUT,
                                           stdin=subprocess.DEVNULL, **options)
            process.log = log
            ends.callback(process.wait)
            ends.callback(process.kill)
            return process
        yield start


def wait_until(condition, what, limit=60.0):
    """Asks `condition` until it returns a true value, and returns that."""
    end = time.monotonic() + limit
    while not (value := condition()):
        assert time.monotonic() < end, f"{what()} after {limit} s"
        time.sleep(0.1)  # between two questions, not instead of one
    return value


@pytest.fixture(scope="session")
def wait_for():
    return wait_until
