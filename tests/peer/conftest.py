# SPDX-License-Identifier: Apache-2.0
"""Options and servers of the tests in which Nereid's plug-ins run inside the real Triton."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "conformance"))

from server_process import ServerProcess, peer_command  # noqa: E402


def pytest_addoption(parser):
    group = parser.getgroup("peer")
    group.addoption("--peer", type=Path, default=ROOT / "build" / "peer", metavar="DIR",
                    help="folder of the real Triton (default: build/peer)")
    group.addoption("--build", type=Path, default=ROOT / "build" / "release", metavar="DIR",
                    help="build folder with the plug-ins (default: build/release)")


@pytest.fixture(scope="session")
def peer(request):
    """The folder of Triton, with the current plug-ins of the build folder."""
    folder = request.config.option.peer.resolve()
    subprocess.run([str(ROOT / "tools" / "peer" / "fetch_triton.sh"), str(folder),
                    str(request.config.option.build.resolve())], check=True)
    return folder


@pytest.fixture(scope="session")
def start_triton(peer, tmp_path_factory):
    started = []

    def start(name, write, *flags):
        folder = tmp_path_factory.mktemp(name)
        write(folder / "models")
        server = ServerProcess(peer_command(peer), folder / "models", folder / "server.log",
                               flags, peer=True)
        started.append(server)
        return server.start()

    yield start
    for server in started:
        server.stop()


@pytest.fixture(scope="session")
def start_nereid(request, tmp_path_factory):
    build = request.config.option.build.resolve()
    started = []

    def start(name, write, *flags):
        folder = tmp_path_factory.mktemp(name)
        write(folder / "models")
        server = ServerProcess([str(build / "bin" / "nereid"), "serve"], folder / "models",
                               folder / "server.log",
                               [f"--backend-directory={build / 'backends'}", *flags])
        started.append(server)
        return server.start()

    yield start
    for server in started:
        server.stop()
