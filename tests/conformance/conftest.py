# SPDX-License-Identifier: Apache-2.0
"""Options, servers and clients of the conformance suite.

Runs against Nereid by default; with --peer DIR against the Triton in DIR, where the cases named in
intended_differences.toml are expected to fail, and must. Entries with `python_backend = true` are
differences of Triton's Python backend, whose cases must also fail when it runs in Nereid.
"""

import fnmatch
import os
import shlex
import shutil
import subprocess
import tomllib
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import models
import pytest
from clients import TRANSPORTS, Loop, Transport
from python_server import (  # noqa: F401: fixtures
    kind_of, python, python_client, python_grpc, python_http, python_kind, python_setting,
    start_python)
from server_process import ServerProcess, peer_command

HERE = Path(__file__).resolve().parent
DIFFERENCES = HERE / "intended_differences.toml"


def pytest_addoption(parser):
    group = parser.getgroup("server under test")
    group.addoption("--server-command", default=os.environ.get("NEREID_SERVER"),
                    help="command that starts the server (default: NEREID_SERVER, else the "
                         "'nereid serve' of build/release)")
    group.addoption("--backend-directory", default=os.environ.get("NEREID_BACKENDS"),
                    help="passed to the server under test (default: NEREID_BACKENDS, else nothing)")
    group.addoption("--cache-directory", default=os.environ.get("NEREID_CACHES"),
                    help="passed to servers with a response cache (default: NEREID_CACHES, else "
                         "nothing)")
    group.addoption("--python-backend", metavar="DIR", type=Path,
                    help="where tools/install/python_backend.sh put Triton's Python backend "
                         "(default: build/python_backend, else build/peer)")
    group.addoption("--python-implementation", choices=["nereid", "triton"],
                    help="whose Python backend runs in Nereid (default: Nereid's own if it is "
                         "built, else Triton's)")
    group.addoption("--rollout-requests", type=int, default=20000,
                    help="how many requests the test of a canary sends (default 20000)")
    group.addoption("--peer", metavar="DIR", type=Path,
                    help="test the real Triton that tools/peer/fetch_triton.sh put into DIR")


def pytest_collection_modifyitems(config, items):
    """Marks the cases that must fail: on the peer the intended differences, on Nereid the missing
    features."""
    if not config.getoption("--peer"):
        for item in items:
            for marker in item.iter_markers("not_built"):
                reason = f"not built: {marker.args[0]}"
                item.add_marker(pytest.mark.xfail(strict=True, reason=reason))
        if kind_of(config) == "nereid":
            return
    differences = tomllib.loads(DIFFERENCES.read_text()).get("difference", [])
    if not config.getoption("--peer"):
        differences = [d for d in differences if d.get("python_backend")]
    unused = {pattern for d in differences for pattern in d["cases"]}
    for item in items:
        case = item.nodeid.split("/")[-1]
        for difference in differences:
            matching = [p for p in difference["cases"] if fnmatch.fnmatchcase(case, _literal(p))]
            if matching:
                unused.difference_update(matching)
                item.add_marker(pytest.mark.xfail(strict=True, reason=difference["id"],
                                                  run=difference.get("run", True)))
    whole_suite = all(Path(a.split("::")[0]).resolve() == HERE for a in config.args)
    if config.option.ignore_glob:  # of the cases of Python models, which run separately
        unused = {pattern for pattern in unused if not pattern.startswith("test_python_")}
    if unused and whole_suite and config.getoption("--peer") and not config.option.keyword:
        raise pytest.UsageError(f"{DIFFERENCES.name} names no case: {sorted(unused)}")


def _literal(pattern: str) -> str:
    """Escapes brackets in case names: in the list only * and ? are wildcards."""
    return pattern.replace("[", "[[]")


@pytest.fixture(scope="session")
def is_peer(request) -> bool:
    return request.config.getoption("--peer") is not None


@pytest.fixture(scope="session")
def backends(request) -> Path:
    """The folder of Nereid's backends."""
    given = request.config.option.backend_directory
    return Path(given).resolve() if given else HERE.parents[1] / "build" / "release" / "backends"


@pytest.fixture(scope="session")
def test_plugins(backends) -> Path:
    """The folder of the plug-ins for tests, beside the backends' folder."""
    folder = backends.parent / "tests" / "plugins"
    if not folder.is_dir():
        pytest.skip(f"{folder} is not built")
    return folder


@pytest.fixture(scope="session")
def require_backends(backends, is_peer):
    """Returns require_backends(name, ...), which skips the test if one of the backends is not
    built, and on the peer, which is installed without them."""
    def require(*names):
        for name in names:
            if is_peer or not (backends / name / f"libtriton_{name}.so").exists():
                pytest.skip(f"the server under test has no backend '{name}'")

    return require


@pytest.fixture(scope="session")
def server_plugins(request, test_plugins, tmp_path_factory) -> Path:
    """Prepares a test plug-in for the server under test: Triton's library has a different name."""
    peer = request.config.option.peer
    if not peer:
        return test_plugins
    if shutil.which("patchelf") is None:
        pytest.skip("patchelf is not installed")
    (library,) = (peer.resolve() / "wheel" / "nvidia_pytriton.libs").glob("libtritonserver-*.so")
    folder = tmp_path_factory.mktemp("peer_plugins")
    for plugin in test_plugins.glob("libtriton_*.so"):
        shutil.copy(plugin, folder)
        subprocess.run(["patchelf", "--replace-needed", "libtritonserver.so", library.name,
                        str(folder / plugin.name)], check=True)
    return folder


@pytest.fixture(scope="session")
def built_platforms(is_peer, test_plugins) -> list:
    """Returns the platforms of platform_models that the server under test supports and for which
    there is data."""
    if is_peer:
        pytest.skip("Triton serves half of these platforms no longer")
    import platform_models
    return platform_models.available(test_plugins)


@pytest.fixture(scope="session")
def start_server(request, tmp_path_factory):
    """Starts servers over repositories. Ends them with the session and checks how they end."""
    options = request.config.option
    if options.peer:
        command = peer_command(options.peer.resolve())
    elif options.server_command:
        command = shlex.split(options.server_command)
    else:
        command = [str(HERE.parents[1] / "build" / "release" / "bin" / "nereid"), "serve"]
    # The identity backend, which the peer also has, responds with its outputs only.
    common = ["--backend-config=identity,example-parameters=false"]
    if options.backend_directory and not options.peer:
        common.append(f"--backend-directory={options.backend_directory}")
    started = []

    def start(name, write, *flags, wait_path="/v2/health/ready", wait_status=200,
              environment=None, tls=None):
        folder = tmp_path_factory.mktemp(name)
        write(folder / "models")
        server = ServerProcess(command, folder / "models", folder / "server.log",
                               common + list(flags), bool(options.peer), environment, tls)
        server.start(wait_path, wait_status=wait_status)
        started.append(server)
        return server

    yield start
    # At the same time, because a busy Triton does not end before its grace is over. All servers are ended
    # before the first failure is reported.
    with ThreadPoolExecutor(max_workers=16) as pool:
        ends = [pool.submit(server.stop) for server in started]
    failures = [str(end.exception()) for end in ends if end.exception()]
    assert not failures, "\n".join(failures)


@pytest.fixture(scope="session")
def server(start_server):
    """The server with the main repository, after all its models are ready."""
    return start_server("main", models.write_main)


@pytest.fixture(scope="session")
def second(start_server):
    """A server with one model that cannot load; the other models serve."""
    return start_server("second", models.write_second, "--exit-on-error=false",
                        wait_path="/v2/models/good/ready")


@pytest.fixture(scope="session")
def loop():
    loop = Loop()
    yield loop
    loop.stop()


@pytest.fixture(scope="session")
def transports(server, loop):
    made = {name: Transport(name, server, loop) for name in TRANSPORTS}
    yield made
    for transport in made.values():
        transport.close()


@pytest.fixture(scope="session")
def connect(loop):
    """Official clients of servers other than the main one: connect(transport, server)."""
    made = {}

    def connect(name, server):
        key = (name, server.http, server.grpc)
        if key not in made:
            made[key] = Transport(name, server, loop)
        return made[key]

    yield connect
    for transport in made.values():
        transport.close()


@pytest.fixture(params=TRANSPORTS)
def client(request, transports):
    """Each of the four official clients in turn."""
    return transports[request.param]


@pytest.fixture(params=["http", "http_aio"])
def http(request, transports):
    return transports[request.param]


@pytest.fixture(params=["grpc", "grpc_aio"])
def grpc(request, transports):
    return transports[request.param]


@pytest.fixture(autouse=True)
def alive(request, is_peer):
    """Checks after each case that the server under test still runs.

    A dead server is started again, so that one death fails only one case. A death of the peer is
    not reported here, because the case that caused it has failed already.
    """
    if "server" not in request.fixturenames:
        yield
        return
    server = request.getfixturevalue("server")
    transports = request.getfixturevalue("transports")
    yield
    if server.alive():
        return
    report = f"the server died with {server.process.returncode}:\n{server.log_tail()}"
    server.restart()
    for transport in transports.values():
        transport.close()
        transport.connect()
    assert is_peer, report
