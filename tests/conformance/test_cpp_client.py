# SPDX-License-Identifier: Apache-2.0
"""A client that is built on gRPC's official C++ library (tests/interop/client), over every kind of
connection."""

import shutil
import subprocess
import tempfile
from pathlib import Path

import models
import pytest
from certificates import Certificates
from test_access import Tokens, nereid  # noqa: F401

pytestmark = pytest.mark.skipif(shutil.which("openssl") is None, reason="no program openssl")

CASES = ("health", "metadata", "configuration", "statistics", "infer", "typed_contents", "strings",
         "large_tensors", "async_infer", "stream_infer", "stream_error", "repository_index",
         "model_control", "error_status", "deadline", "cancel", "shared_memory")
WAYS = ("clear", "tls", "mutual", "unix", "unix_tls", "compressed", "tls_compressed")


def write(root):
    repository = models.Repository(root)
    for name in ("ints", "loadable"):
        repository.identity(name, [("INT32", [-1])])
    repository.identity("text", [("BYTES", [-1])])
    repository.identity("slow", [("INT32", [-1])], extra=models._delay(1000))


@pytest.fixture(scope="module")
def program(backends):
    path = backends.parent / "bin" / "grpc_cpp_client"
    if not path.exists():
        pytest.skip("the C++ client is not built: Debian's libgrpc++-dev, libprotobuf-dev and "
                    "protobuf-compiler-grpc are missing")
    return path


@pytest.fixture(scope="module")
def certificates(tmp_path_factory):
    return Certificates(tmp_path_factory.mktemp("certificates")).issue("server").issue("client")


@pytest.fixture(scope="module")
def folder():
    """A directory with a short path: that of a socket has at most 107 characters."""
    with tempfile.TemporaryDirectory(prefix="nereid") as name:
        yield Path(name)


class Way:
    """A server, and how the client reaches it."""

    def __init__(self, program, server, address, options=()):
        self.program, self.server, self.address, self.options = program, server, address, options

    def run(self, case, *more):
        done = subprocess.run([self.program, self.address, case, *self.options, *more],
                              capture_output=True, text=True, timeout=60)
        assert done.returncode == 0, done.stdout + done.stderr + self.server.log_tail()
        return done.stdout


@pytest.fixture(scope="module")
def start(start_server, program, is_peer, certificates, folder):
    """start(way, *flags) starts a server with which a client can connect in this way."""
    def start(name, *flags):
        flags = ["--model-control-mode=explicit", "--load-model=*", *flags]
        if not is_peer:
            flags.append("--allow-client-shm=true")
        options = []
        if "tls" in name or name == "mutual":
            flags += certificates.flags("grpc", mutual=name == "mutual")
            options.append(f"--root={certificates.ca}")
        if "compressed" in name:
            flags.append("--grpc-infer-response-compression-level=medium")
            options.append(f"--compression={'deflate' if 'tls' in name else 'gzip'}")
        if "unix" in name:
            if is_peer:
                pytest.skip("Triton has no Unix sockets")
            flags.append(f"--grpc-address=unix:{folder}/{name}")
        server = start_server(f"cpp_{name}", write, *flags)
        address = f"unix:{folder}/{name}" if "unix" in name else f"localhost:{server.grpc_port}"
        return Way(program, server, address, options)

    return start


@pytest.fixture(scope="module", params=WAYS)
def way(request, start, certificates):
    made = start(request.param)
    if request.param == "mutual":
        made.options += own_certificate(certificates)
    return made


def own_certificate(certificates):
    return [f"--certificate={certificates.path('client.crt')}",
            f"--key={certificates.path('client.key')}"]


@pytest.mark.parametrize("case", CASES)
def test_case(way, case):
    way.run(case)


@pytest.mark.parametrize("name", ["clear", "tls"])
def test_tokens(start, is_peer, nereid, tmp_path, name):  # noqa: F811
    """Over TLS the library itself adds the token to each call."""
    if is_peer:
        pytest.skip("Triton has no roles")
    tokens = Tokens(nereid, tmp_path / "access")
    tokens.add("all", "infer,observe,manage")
    way = start(name, f"--auth-file={tokens.path}")

    def status(*options):
        return way.run("status", *options).split(maxsplit=1)

    assert status(f"--token={tokens.texts['observe']}") == ["0"]
    for token, code, text in ((None, "16", "send a valid token"),
                              (tokens.texts["all"][:-1], "16", "send a valid token"),
                              (tokens.texts["infer"], "7", "this operation needs")):
        got, message = status(*([f"--token={token}"] if token else []))
        assert got == code and text in message
    for case in ("metadata", "infer", "async_infer", "stream_infer", "model_control"):
        way.run(case, f"--token={tokens.texts['all']}")


def test_certificates_are_needed(start, certificates):
    """A client without a certificate of its own gets no further than the handshake, nor does one
    that does not know the server's authority."""
    code, _ = start("mutual").run("status").split(maxsplit=1)
    assert code == "14"
    certificates.authority("other_ca")
    way = start("tls")
    way.options = [f"--root={certificates.path('other_ca.crt')}"]
    code, _ = way.run("status").split(maxsplit=1)
    assert code == "14"
