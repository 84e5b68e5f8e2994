# SPDX-License-Identifier: Apache-2.0
"""Measures the memory of an open sequence: one request starts it, no request ends it."""

import http.client
import json

from cases import OPEN_SEQUENCES

MODEL = "identity_open"
WARM = 500  # sequences that are opened first, so that one-time costs are not counted


def _open(server, ids):
    connection = http.client.HTTPConnection("127.0.0.1", server.http_port, timeout=60)
    try:
        for sequence in ids:
            body = json.dumps({
                "parameters": {"sequence_id": sequence, "sequence_start": True},
                "inputs": [{"name": "INPUT0", "datatype": "FP32", "shape": [1, 4],
                            "data": [1, 2, 3, 4]}]})
            connection.request("POST", f"/v2/models/{MODEL}/infer", body)
            answer = connection.getresponse()
            text = answer.read()
            if answer.status != 200:
                server.fail(f"refused sequence {sequence}: {text.decode(errors='replace')}")
    finally:
        connection.close()


def measure(server):
    """{"sequences", "bytes_each", "mib_before", "mib_after"} of one server."""
    _open(server, range(1, WARM + 1))
    before = server.anonymous_mib()
    _open(server, range(WARM + 1, OPEN_SEQUENCES + 1))
    after = server.anonymous_mib()
    opened = OPEN_SEQUENCES - WARM
    return {"sequences": opened, "bytes_each": (after - before) * 1048576 / opened,
            "mib_before": before, "mib_after": after}
