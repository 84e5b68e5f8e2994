# SPDX-License-Identifier: Apache-2.0
"""The servers and the doors to them: HTTP and gRPC of a server process, and the C API of a library
in this process over the same repository."""

import shlex
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path.append(str(HERE.parent / "conformance"))

import c_api  # noqa: E402
import c_door  # noqa: E402
import repository  # noqa: E402
import rows_shared  # noqa: E402
from grpc_door import GrpcDoor, GrpcStreamDoor  # noqa: E402
from http_door import HttpDoor  # noqa: E402
from server_process import ServerProcess, peer_command  # noqa: E402

# Kind of servers -> (repository, control mode, models loaded at the start)
SERVERS = {
    "explicit": (repository.write, "explicit", repository.SERVING),
    "unready": (repository.write_unready, "none", ()),
    "guarded": (repository.write, "explicit", repository.SERVING),
    "managed": (repository.write, "explicit", repository.SERVING),
    "shared": (repository.write, "explicit", ("plain", "text")),
}
# Of Nereid alone: further flags of a kind, which is then no server of the C API.
FLAGS = {
    "guarded": lambda root: [f"--auth-file={nobody(root)}"],
    "managed": lambda root: ["--admin-port=0"],
    "shared": lambda root: ["--allow-client-shm=true"],
}


def nobody(root) -> Path:
    """Returns an access file that names nobody."""
    path = root / "access"
    path.touch()
    return path


def pytest_addoption(parser):
    group = parser.getgroup("server under test")
    group.addoption("--server-command", help="command that starts the server (default: the "
                                             "'nereid serve' of build/release)")
    group.addoption("--library", type=Path, help="libtritonserver.so of the same build (default: "
                                                 "that of build/release)")
    group.addoption("--backend-directory", type=Path,
                    help="folder of the identity backend (default: that of build/release)")
    group.addoption("--peer", metavar="DIR", type=Path,
                    help="use the real Triton that tools/peer/fetch_triton.sh put into DIR, over "
                         "HTTP and gRPC; for looking with --outcomes: rows may fail")
    group.addoption("--outcomes", metavar="FILE", type=Path,
                    help="write the result of every row through every door")


@pytest.fixture(scope="session")
def options(request):
    return request.config.option


@pytest.fixture(scope="session")
def backends(options) -> Path:
    return (options.backend_directory or ROOT / "build" / "release" / "backends").resolve()


@pytest.fixture(scope="session")
def library(options):
    """The C API, or None if it cannot be loaded into this process: a sanitizer must be the first
    library of a process."""
    path = options.library or ROOT / "build" / "release" / "lib" / "libtritonserver.so"
    if options.peer:
        return None
    code = path.read_bytes()
    if b"__asan_init" in code or b"__tsan_init" in code:
        return None
    return c_api.Library(path)


@pytest.fixture(scope="session")
def shared_object():
    """The object of the rows about shared memory."""
    path = Path("/dev/shm") / rows_shared.KEY[1:]
    path.write_bytes(bytes(rows_shared.OBJECT_SIZE))
    yield
    path.unlink()


@pytest.fixture(scope="session")
def doors(options, library, backends, shared_object, tmp_path_factory):
    """Kind of servers -> name -> door. The doors are closed with the session, and the servers must
    end without an error."""
    if options.peer:
        command = peer_command(options.peer.resolve())
    else:
        command = shlex.split(options.server_command
                              or f"{ROOT}/build/release/bin/nereid serve")
    made, processes = {}, []
    for kind, (write, mode, startup) in SERVERS.items():
        if options.peer and kind in FLAGS:
            continue
        root = tmp_path_factory.mktemp(kind)
        write(root / "models")
        flags = [f"--model-control-mode={mode}", "--exit-on-error=false",
                 "--backend-config=identity,example-parameters=false",
                 f"--trace-config=triton,file={root}/trace.json",
                 *(f"--load-model={model}" for model in startup)]
        if not options.peer:
            flags.append(f"--backend-directory={backends}")
        if kind in FLAGS:
            flags += FLAGS[kind](root)
        server = ServerProcess(command, root / "models", root / "server.log", flags,
                               bool(options.peer))
        server.start("/v2/models/plain/ready", wait_status=401 if kind == "guarded" else 200)
        processes.append(server)
        made[kind] = {"http": HttpDoor(server), "http_binary": HttpDoor(server, binary=True),
                      "grpc": GrpcDoor(server), "grpc_contents": GrpcDoor(server, contents=True),
                      "grpc_stream": GrpcStreamDoor(server)}
        if library and kind not in FLAGS:
            made[kind]["c"] = c_door.CDoor(library, c_door.start_server(
                library, root / "models", backends, mode, startup))
    yield made
    for group in made.values():
        for door in group.values():
            door.close()
    for server in processes:
        server.stop()


@pytest.fixture(scope="session")
def record(options):
    """record(row, outcomes): kept for --outcomes."""
    lines = []

    def keep(row, outcomes):
        lines.append(f"{row.name}  [{row.code}]")
        lines.extend(f"    {door}: {o.status} {o.text if o.answer is None else o.answer}"
                     for door, o in outcomes.items())
    yield keep
    if options.outcomes:
        options.outcomes.write_text("\n".join(lines) + "\n")


def pytest_terminal_summary(terminalreporter):
    import table
    runs = sum(len(row.doors) for row in table.ROWS)
    terminalreporter.write_line(
        f"parity: {len(table.ROWS)} rows (operation x kind), {runs} runs through doors, "
        f"{sum(bool(row.differs) for row in table.ROWS)} rows with listed differences")
