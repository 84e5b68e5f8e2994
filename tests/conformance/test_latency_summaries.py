# SPDX-License-Identifier: Apache-2.0
"""Summaries of latencies: their lines and the configured quantiles."""

import re

import models
import numpy as np
import pytest
import raw_http

# Every execution takes much longer than this, so the position of each observation is certain.
SLOW = ('parameters { key: "execute_delay_ms" value: { string_value: "120" } }\n'
        + models.ONE_CPU_INSTANCE)


def write_models(root):
    models.Repository(root).identity("usual", [("FP32", [4])], extra=SLOW)


def page(server):
    return raw_http.get(server, "/metrics", port=server.metrics_port).body.decode()


PARTS = ("request", "queue", "compute_input", "compute_infer", "compute_output")


@pytest.fixture(scope="module")
def summing(start_server):
    return start_server("summing", write_models, "--metrics-config=summary_latencies=true",
                        "--metrics-config=summary_quantiles=0.5:0.05,0.95:0.001",
                        "--metrics-config=counter_latencies=false")


def summary(server, part, model="usual"):
    """Returns count, sum and the value of each quantile of nv_inference_<part>_summary_us."""
    name = f"nv_inference_{part}_summary_us"
    labels = f'model="{model}",version="1"'
    found = {}
    for line in page(server).splitlines():
        matched = re.fullmatch(re.escape(name) + r'(_count|_sum|)\{' + re.escape(labels) +
                               r'(?:,quantile="(.*)")?\} (.*)', line)
        if matched:
            found[matched[2] or matched[1][1:]] = float(matched[3])
    return found


def test_they_have_count_sum_and_quantiles(summing, connect):
    empty = summary(summing, "request")
    assert (empty["count"], empty["sum"]) == (0, 0)
    assert list(empty) == ["count", "sum", "0.5", "0.95"]
    assert all(value != value for value in list(empty.values())[2:]), "no number"
    client = connect("http", summing)
    for _ in range(3):
        client.infer("usual", [client.input("INPUT0", np.zeros(4, np.float32))])
    for part in PARTS:
        found = summary(summing, part)
        assert list(found) == ["count", "sum", "0.5", "0.95"]
        assert found["count"] == 3
        assert found["0.5"] <= found["0.95"]
    for part in ("request", "compute_infer"):
        found = summary(summing, part)
        assert found["sum"] >= 3 * 120_000
        assert found["0.5"] >= 119_000
    text = page(summing)
    for part in PARTS:
        assert text.count(f"# TYPE nv_inference_{part}_summary_us summary\n") == 1
    assert "nv_inference_request_duration_us" not in text


def test_they_are_off_unless_asked(start_server):
    assert "summary" not in page(start_server("plain", write_models))
