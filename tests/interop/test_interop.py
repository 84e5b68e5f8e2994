# SPDX-License-Identifier: Apache-2.0
"""The gRPC project's interoperability tests, with the official Python and C++ clients, against a
test service on the server's own gRPC layer (interop_server)."""

import os
import subprocess
import types
from pathlib import Path

import cases
import grpc
import pytest
from google.protobuf import descriptor_pb2, descriptor_pool, message_factory

BUILD = Path(os.environ.get("NEREID_BUILD_DIR", "build/release"))
BINARIES = BUILD / "bin"
DESCRIPTORS = BUILD / "tests" / "interop" / "generated" / "interop.desc"


@pytest.fixture(scope="module")
def port():
    server = BINARIES / "interop_server"
    if not server.exists():
        pytest.skip(f"{server} is not built")
    process = subprocess.Popen([server], stdout=subprocess.PIPE, text=True)
    yield int(process.stdout.readline())
    process.terminate()
    assert process.wait(30) == 0


@pytest.fixture(scope="module")
def messages(port):
    """The classes of the messages, from the descriptors that the build has made."""
    files = descriptor_pb2.FileDescriptorSet.FromString(DESCRIPTORS.read_bytes())
    pool = descriptor_pool.DescriptorPool()
    for file in files.file:
        pool.Add(file)
    return types.SimpleNamespace(**{
        name: message_factory.GetMessageClass(pool.FindMessageTypeByName("grpc.testing." + name))
        for name in (m.name for m in files.file[0].message_type)})


@pytest.fixture(scope="module")
def stub(port, messages):
    with grpc.insecure_channel(f"127.0.0.1:{port}") as channel:
        yield cases.Stub(channel, messages)


@pytest.mark.parametrize("case", cases.CASES, ids=lambda case: case.__name__)
def test_python_client(case, stub):
    case(stub)


# With grpcio the messages of a stream are compressed all or none.
CPP_CASES = [*(case.__name__ for case in cases.CASES), "client_compressed_streaming",
             "server_compressed_streaming"]


@pytest.mark.parametrize("case", CPP_CASES)
def test_cpp_client(case, port):
    client = BINARIES / "grpc_cpp_client"
    if not client.exists():
        pytest.skip("the C++ client is not built: Debian's libgrpc++-dev, libprotobuf-dev and "
                    "protobuf-compiler-grpc are missing")
    done = subprocess.run([client, f"127.0.0.1:{port}", case], capture_output=True, text=True,
                          timeout=60)
    assert done.returncode == 0, done.stdout + done.stderr
