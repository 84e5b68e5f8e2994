# SPDX-License-Identifier: Apache-2.0
"""Load requests whose clients go away while they wait for another load."""

import json
import socket
import struct
import threading

import models
import pytest
import raw_http
import tritonclient.grpc as grpc_client
from tritonclient.utils import InferenceServerException

SLOW = 'parameters { key: "creation_delay_sec" value: { string_value: "6" } }\n'
# Loads with different configurations are not combined.
CONFIG = json.dumps({
    "backend": "identity",
    "input": [{"name": "INPUT0", "data_type": "TYPE_FP32", "dims": [4]}],
    "output": [{"name": "OUTPUT0", "data_type": "TYPE_FP32", "dims": [4]}],
    "instance_group": [{"kind": "KIND_CPU", "count": 1}],
})
PATH = "/v2/repository/models/slow/load"
ABANDONED = 12  # more than there are threads for loads


def write_models(root):
    models.Repository(root).identity("slow", [("FP32", [4])],
                                     extra=models.ONE_CPU_INSTANCE + SLOW)


@pytest.fixture
def loading(start_server):
    return start_server("abandoned", write_models, "--model-control-mode=explicit")


def abandon_http(server):
    """Sends a load and resets the connection."""
    body = json.dumps({"parameters": {"config": CONFIG}}).encode()
    with socket.create_connection(("127.0.0.1", server.http_port)) as client:
        client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        client.sendall(f"POST {PATH} HTTP/1.1\r\nHost: x\r\nContent-Length: {len(body)}\r\n\r\n"
                       .encode() + body)
        client.settimeout(0.1)
        with pytest.raises(TimeoutError):
            client.recv(1)  # the server has received it


def abandon_grpc(server):
    with grpc_client.InferenceServerClient(server.grpc) as client:
        with pytest.raises(InferenceServerException):
            client.load_model("slow", config=CONFIG, client_timeout=0.1)


@pytest.mark.parametrize("abandon", [abandon_http, abandon_grpc])
def test_loads_that_nobody_waits_for_are_not_carried_out(loading, abandon):
    def load():
        raw_http.request(loading, "POST", PATH, "{}")

    first = threading.Thread(target=load)
    first.start()
    while "loading: slow:1" not in loading.log.read_text():
        pass
    for _ in range(ABANDONED):
        abandon(loading)
    first.join()
    # The next load is that of the client that still waits.
    body = json.dumps({"parameters": {"config": CONFIG}})
    assert raw_http.request(loading, "POST", PATH, body).status == 200
    assert loading.log.read_text().count("loading: slow:1") == 2
