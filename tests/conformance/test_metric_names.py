# SPDX-License-Identifier: Apache-2.0
"""Every metric of a CPU server: name, type, labels and help, against the list metric_names.txt. On
the peer, the metrics that Triton 2.51 has, by name, type and labels."""

import os
import re
from pathlib import Path

import models
import pytest
import raw_http
from prometheus_client.openmetrics.parser import text_string_to_metric_families as parse_open
from prometheus_client.parser import text_string_to_metric_families as parse_text

GOLDEN = Path(__file__).with_name("metric_names.txt")
OPEN_METRICS = "application/openmetrics-text; version=1.0.0; charset=utf-8"
# Of versions after 2.51, and of Nereid alone.
NOT_IN_TRITON = re.compile(r"nereid_|nv_model_load_duration_secs|nv_inference_first_response")


def write_models(root):
    repo = models.Repository(root)
    repo.identity("batching", [("FP32", [4])], batch=4, extra=models.ONE_CPU_INSTANCE
                  + 'metric_tags { key: "team" value: "a" }\n'
                  + "dynamic_batching { }\n")
    repo.identity("cached", [("FP32", [4])], extra=models.CACHED + models.ONE_CPU_INSTANCE)
    repo.identity("sequence", [("FP32", [4])], batch=4, extra=models.ONE_CPU_INSTANCE
                  + "sequence_batching { }\n")


@pytest.fixture(scope="module")
def measured(start_server, request, is_peer):
    option = request.config.getoption("--cache-directory")
    flags = ["--cache-config=local,size=1048576", "--metrics-config=summary_latencies=true"]
    if option:
        flags.append(f"--cache-directory={option}")
    if not is_peer:
        flags.append("--metrics-config=histogram_latencies=true")
    started = start_server("metric_names", write_models, *flags)
    for model in ("batching", "cached"):
        shape = [1, 4] if model == "batching" else [4]
        body = {"inputs": [raw_http.tensor("INPUT0", "FP32", shape, [1, 2, 3, 4])]}
        assert raw_http.infer(started, model, body).status == 200
    if not is_peer:
        plan = b'{"split": {"weights": {"1": 10000}}, "shadow": {"version": 2}}'
        assert raw_http.request(started, "PUT", "/v2/repository/models/cached/rollout",
                                plan).status == 200
    return started


def page(measured, accept=None):
    return raw_http.get(measured, "/metrics", port=measured.metrics_port,
                        headers={"Accept": accept} if accept else {})


def listing(text):
    """Returns {name: (type, labels, help)} of a page in Prometheus' text format."""
    found, kinds, helps = {}, {}, {}
    for line in text.splitlines():
        if line.startswith("# HELP "):
            _, _, name, words = line.split(" ", 3)
            helps[name] = words
        elif line.startswith("# TYPE "):
            _, _, name, kind = line.split(" ")
            kinds[name] = kind
            found[name] = set()
        else:
            series = line.rsplit(" ", 1)[0]
            name, _, labels = series.partition("{")
            family = next(n for n in (name.removesuffix(s) for s in ("", "_bucket", "_count",
                                                                     "_sum")) if n in kinds)
            keys = tuple(re.findall(r'(\w+)="', labels))
            found[family].add(keys)
    return {name: (kinds[name], " ".join(sorted({k for keys in sets for k in keys})),
                   helps.get(name, "")) for name, sets in found.items()}


def golden():
    rows = {}
    for line in GOLDEN.read_text().splitlines():
        if line and not line.startswith("#"):
            name, kind, labels, words = line.split(" | ")
            rows[name] = (kind, labels, words)
    return rows


@pytest.fixture(scope="module")
def budgeted(start_server, is_peer):
    """A server with a budget of memory for its models; it has more metrics."""
    if is_peer:
        return None
    started = start_server("metric_names_budget", write_models, "--model-memory-budget=100000000")
    body = {"inputs": [raw_http.tensor("INPUT0", "FP32", [1, 4], [1, 2, 3, 4])]}
    assert raw_http.infer(started, "batching", body).status == 200
    return started


def test_names_types_labels_and_help(measured, budgeted, is_peer):
    found = listing(page(measured).body.decode())
    if budgeted is not None:
        assert "nereid_model_memory_budget_bytes" not in found
        with_budget = listing(page(budgeted).body.decode())
        found.update({name: row for name, row in with_budget.items()
                      if name.startswith("nereid_model_memory_")})
    if os.environ.get("NEREID_UPDATE_GOLDEN") and not is_peer:
        rows = ["# name | type | labels | help"]
        rows += [" | ".join((name, *found[name])) for name in sorted(found)]
        GOLDEN.write_text("\n".join(rows) + "\n")
    wanted = golden()
    if not is_peer:
        assert found == wanted
        return
    # Triton's help is in its own words. It has no GPU here either.
    shown = {name: row[:2] for name, row in found.items()}
    assert shown == {name: row[:2] for name, row in wanted.items()
                     if not NOT_IN_TRITON.match(name)}


def test_labels_are_sorted(measured):
    for line in page(measured).body.decode().splitlines():
        if not line.startswith("#") and "{" in line:
            keys = re.findall(r'(\w+)="', line.split("{", 1)[1])
            keys = [key for key in keys if key not in ("le", "quantile")]
            assert keys == sorted(keys), line


def test_the_text_format_is_the_usual_one(measured):
    for accept in (None, "*/*", "text/plain; version=0.0.4"):
        answer = page(measured, accept)
        assert answer.headers["content-type"] == "text/plain; charset=utf-8"
        assert b"# EOF" not in answer.body
        assert {f.name for f in parse_text(answer.body.decode())}


@pytest.mark.parametrize("accept", [
    "application/openmetrics-text; version=1.0.0",
    # what Prometheus sends
    "application/openmetrics-text;version=1.0.0;escaping=allow-utf-8;q=0.5,"
    "application/openmetrics-text;version=0.0.1;q=0.4,text/plain;version=0.0.4;q=0.2,*/*;q=0.1"])
def test_open_metrics_has_the_same_series(measured, accept, is_peer):
    if is_peer:
        pytest.skip("Triton has no OpenMetrics")
    answer = page(measured, accept)
    assert answer.headers["content-type"] == OPEN_METRICS
    text = answer.body.decode()
    assert text.endswith("\n# EOF\n") and text.count("# EOF") == 1
    families = list(parse_open(text))  # raises ValueError for what OpenMetrics forbids
    names = {sample.name for family in families for sample in family.samples}
    plain = page(measured).body.decode()
    assert names == {re.split("[{ ]", line)[0] for line in plain.splitlines()
                     if not line.startswith("#")}
    kinds = {family.name: family.type for family in families}
    assert kinds["nereid_batch_closed"] == "counter"
    assert kinds["nv_inference_request_success"] == "unknown"
    assert kinds["nv_inference_request_summary_us"] == "summary"
    assert kinds["nv_inference_first_response_histogram_ms"] == "histogram"
    units = {family.name: family.unit for family in families if family.unit}
    assert units["nv_cpu_memory_used_bytes"] == "bytes"
    assert units["nv_inference_queue_duration_us"] == "us"


def test_hostile_names_stay_labels(measured, start_server, is_peer):
    if is_peer:
        pytest.skip("the names of Triton's tags are checked elsewhere")

    def write(root):
        models.Repository(root).identity(
            "odd", [("FP32", [4])], extra=models.ONE_CPU_INSTANCE +
            r'metric_tags { key: "t\"\n x" value: "a\\\"\nb\u2028" }' + "\n")
    text = page(start_server("odd_tags", write), OPEN_METRICS).body.decode()
    for family in parse_open(text):
        for sample in family.samples:
            if sample.labels.get("model") == "odd":
                assert sample.labels["_t___x"].startswith('a\\"\nb')


def test_a_load_has_its_duration(measured, is_peer):
    if is_peer:
        pytest.skip("of a later version")
    values = [float(line.rsplit(" ", 1)[1]) for line in page(measured).body.decode().splitlines()
              if line.startswith("nv_model_load_duration_secs{")]
    assert len(values) == 3 and all(0 < value < 60 for value in values)
