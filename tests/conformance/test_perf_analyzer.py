# SPDX-License-Identifier: Apache-2.0
"""perf_analyzer, the load generator of Triton's project: in the clear and over TLS, with and without
shared memory. bench/fetch_perf_analyzer.sh downloads it; without it the tests are skipped."""

import csv
import json
import os
import re
import shutil
import subprocess
from pathlib import Path

import models
import pytest
from certificates import Certificates

ROOT = Path(__file__).resolve().parents[2]
ELEMENTS = 256

pytestmark = pytest.mark.skipif(shutil.which("openssl") is None, reason="no program openssl")


def write(root):
    repository = models.Repository(root)
    repository.identity("floats", [("FP32", [ELEMENTS])], batch=8)
    repository.identity("text", [("BYTES", [-1])])


@pytest.fixture(scope="module")
def program():
    path = Path(os.environ.get("NEREID_PERF_ANALYZER", ROOT / "build/perf_analyzer/perf_analyzer"))
    if not path.exists():
        pytest.skip(f"there is no {path}: run bench/fetch_perf_analyzer.sh build/perf_analyzer "
                    "build/peer, or set NEREID_PERF_ANALYZER")
    return path


@pytest.fixture(scope="module")
def certificates(tmp_path_factory):
    return Certificates(tmp_path_factory.mktemp("certificates")).issue("server").issue("client")


@pytest.fixture(scope="module", params=["clear", "tls", "mutual"])
def way(request, program, start_server, is_peer, certificates):
    """Returns the server, and perf_analyzer's options of TLS for HTTP and gRPC."""
    flags = [] if is_peer else ["--allow-client-shm=true"]
    if request.param == "clear":
        return start_server("perf_clear", write, *flags), {"http": [], "grpc": []}
    if is_peer:
        pytest.skip("Triton has no TLS on HTTP")
    mutual = request.param == "mutual"
    server = start_server(
        f"perf_{request.param}", write, *flags, *certificates.flags("http", mutual=mutual),
        *certificates.flags("grpc", mutual=mutual),
        tls=certificates.context(certificate="client" if mutual else None))
    options = {"http": ["--ssl-https-ca-certificates-file", certificates.ca],
               "grpc": ["--ssl-grpc-use-ssl", "true", "--ssl-grpc-root-certifications-file",
                        certificates.ca]}
    if mutual:
        own = certificates.path("client.crt"), certificates.path("client.key")
        options["http"] += ["--ssl-https-client-certificate-file", own[0],
                            "--ssl-https-private-key-file", own[1]]
        options["grpc"] += ["--ssl-grpc-certificate-chain-file", own[0],
                            "--ssl-grpc-private-key-file", own[1]]
    return server, options


def get(server, path):
    connection = server.http_connection(timeout=60)
    connection.request("GET", path)
    document = json.loads(connection.getresponse().read())
    connection.close()
    return document


def executed(server, model):
    """Returns the numbers of successful and failed requests."""
    stats = get(server, f"/v2/models/{model}/stats")["model_stats"][0]["inference_stats"]
    return int(stats["success"]["count"]), int(stats["fail"]["count"])


def measure(program, way, protocol, table, *words, model="floats"):
    server, tls = way
    port = server.http_port if protocol == "http" else server.grpc_port
    scheme = "https://" if protocol == "http" and tls["http"] else ""
    before = executed(server, model)
    done = subprocess.run(
        [program, "-m", model, "-i", protocol, "-u", f"{scheme}localhost:{port}",
         "--concurrency-range", "4", "-p", "200", "-s", "999", "-r", "3", "-f", table,
         *tls[protocol], *words], capture_output=True, text=True, timeout=100)
    output = done.stdout + done.stderr
    assert done.returncode == 0, output
    assert not re.search(r"(?i)\berror|failed|exception", output), output
    with open(table, newline="", encoding="utf-8") as rows:
        assert float(next(csv.DictReader(rows))["Inferences/Second"]) > 0, output
    after = executed(server, model)
    assert after[0] > before[0] and after[1] == before[1], output


@pytest.mark.parametrize("words", [
    ("http",), ("http", "--async"), ("http", "-b", "4"), ("http", "--shared-memory", "system"),
    ("http", "--input-tensor-format", "json", "--output-tensor-format", "json"),
    ("grpc",), ("grpc", "--async"), ("grpc", "--streaming", "--async"),
    ("grpc", "--shared-memory", "system"),
    ("grpc", "--shared-memory", "system", "--streaming", "--async"),
    ("grpc", "--grpc-compression-algorithm", "gzip"),
], ids=" ".join)
def test_load(program, way, tmp_path, words):
    measure(program, way, words[0], tmp_path / "table", *words[1:])


@pytest.mark.parametrize("protocol", ["http", "grpc"])
def test_strings_in_shared_memory(program, way, tmp_path, protocol):
    measure(program, way, protocol, tmp_path / "table", "--shared-memory", "system", "--shape",
            "INPUT0:8", "--string-length", "100", "--output-shared-memory-size", "4096",
            model="text")


def test_no_region_is_left(way):
    """perf_analyzer takes back what it has registered."""
    server, _ = way
    assert get(server, "/v2/systemsharedmemory/status") == []
