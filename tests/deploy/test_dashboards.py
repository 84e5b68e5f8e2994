# SPDX-License-Identifier: Apache-2.0
"""deploy/prometheus and deploy/grafana: the rules with promtool, and each panel of each dashboard
against a real Prometheus that scrapes two loaded servers."""

import json
import math
import re
import subprocess
import sys
import urllib.error
import urllib.parse
import urllib.request
from pathlib import Path

import budget_models
import models
import pytest
import raw_http
import rollout_models
from server_process import free_ports

ROOT = Path(__file__).resolve().parents[2]
RULES = ROOT / "deploy" / "prometheus"
DASHBOARDS = sorted((ROOT / "deploy" / "grafana").glob("*.json"))
METRICS = {line.split(" | ")[0] for line in (ROOT / "tests" / "conformance" / "metric_names.txt")
           .read_text().splitlines() if not line.startswith("#")}
ONE = [1.0, 2.0, 3.0, 4.0]


def test_the_rules_are_valid(run_tool):
    run_tool("promtool", "check", "rules", RULES / "nereid_rules.yml")
    run_tool("promtool", "check", "config", RULES / "prometheus.yml")


def test_the_alerts_fire_as_they_should(run_tool):
    run_tool("promtool", "test", "rules", "nereid_rules_test.yml", cwd=RULES)


def test_each_alert_has_a_test_and_a_line_for_users():
    alerts = re.findall(r"alert: (\w+)", (RULES / "nereid_rules.yml").read_text())
    tests = (RULES / "nereid_rules_test.yml").read_text()
    page = (ROOT / "docs" / "user" / "dashboards.md").read_text()
    assert [a for a in alerts if f"alertname: {a}" not in tests] == []
    assert [a for a in alerts if f"`{a}`" not in page] == []


def test_rules_use_metrics_that_exist():
    text = (RULES / "nereid_rules.yml").read_text()
    assert set(re.findall(r"(?<![\w:])(?:nv|nereid)_\w+", text)) <= METRICS


def test_the_dashboards_are_those_of_the_table():
    done = subprocess.run([sys.executable, ROOT / "tools" / "make_dashboards.py", "--check"],
                          capture_output=True, text=True)
    assert done.returncode == 0, done.stdout


def panels():
    for path in DASHBOARDS:
        for panel in json.loads(path.read_text())["panels"]:
            for target in panel["targets"]:
                yield f"{path.stem}: {panel['title']}", target["expr"]


def filled(expression):
    """Returns a query as Grafana sends it with all models and servers selected."""
    for name, value in (("$instance", ".*"), ("$model", ".*"), ("$__rate_interval", "20s")):
        expression = expression.replace(name, value)
    assert "$" not in expression, expression
    return expression


def write_models(root, plugins):
    repo = models.Repository(root)
    repo.identity("batching", [("FP32", [4])], batch=4,
                  extra=models.ONE_CPU_INSTANCE + "dynamic_batching { }\n")
    repo.identity("cached", [("FP32", [4])], extra=models.CACHED + models.ONE_CPU_INSTANCE)
    repo.identity("sequence", [("FP32", [4])], batch=4,
                  extra=models.ONE_CPU_INSTANCE + "sequence_batching { }\n")
    repo.onnx("sum", models.sum_graph())
    repo.broken("broken")
    rollout_models.add_versioned(root, "canary", plugins)
    rollout_models.add_ensemble(root, "around", "canary")
    rollout_models.add_versioned(root, "faulty", plugins, (1,))
    (root / "faulty" / "1" / "fail").write_text("injected fault")


@pytest.fixture
def loaded(start_server, test_plugins, backends):
    """A server with everything that the first three dashboards show, on two fake GPUs."""
    server = start_server(
        "dashboards", lambda root: write_models(root, test_plugins),
        "--cache-config=local,size=1048576", f"--cache-directory={backends.parent / 'caches'}",
        "--metrics-config=summary_latencies=true", "--metrics-config=histogram_latencies=true",
        "--exit-on-error=false", "--strict-readiness=false", "--metrics-address=127.0.0.1",
        environment={"LD_LIBRARY_PATH": str(backends.parent / "fake_gpu"),
                     "NEREID_FAKE_GPUS": "2"})
    plan = b'{"split": {"weights": {"1": 9000, "2": 1000}}, "shadow": {"version": 2}}'
    answer = raw_http.request(server, "PUT", rollout_models.rollout_path("canary"), plan)
    assert answer.status == 200, answer.body
    return server


@pytest.fixture
def budgeted(start_server, test_plugins):
    def write(root):
        for name in ("first", "second", "third"):
            budget_models.add(root, name, test_plugins)
    return start_server("budget", write, budget_models.budget(2), "--metrics-address=127.0.0.1")


def send_load(loaded, budgeted):
    """Sends requests of each kind, and some that fail."""
    def tensor(shape):
        return {"inputs": [raw_http.tensor("INPUT0", "FP32", shape, ONE)]}

    def ask(server, model, document):
        assert raw_http.infer(server, model, document).status == 200, model

    ask(loaded, "batching", tensor([1, 4]))
    ask(loaded, "cached", tensor([4]))
    ask(loaded, "sum", {"inputs": [raw_http.tensor(n, "FP32", [1, 4], ONE) for n in "AB"]})
    ask(loaded, "sequence", {**tensor([1, 4]), "parameters": {
        "sequence_id": 7, "sequence_start": True, "sequence_end": True}})
    for model in ("canary", "around"):
        ask(loaded, model, rollout_models.DOCUMENT)
    assert raw_http.infer(loaded, "faulty", rollout_models.DOCUMENT).status == 500
    for model in ("first", "second", "third"):
        ask(budgeted, model, rollout_models.DOCUMENT)


class Prometheus:
    def __init__(self, port):
        self.url = f"http://127.0.0.1:{port}/api/v1/"

    def get(self, path, **parameters):
        url = self.url + path + "?" + urllib.parse.urlencode(parameters)
        try:
            with urllib.request.urlopen(url, timeout=30) as answer:
                return json.load(answer)["data"]
        except urllib.error.HTTPError as error:
            if error.code == 503:  # Prometheus is starting
                raise
            raise AssertionError(f"{parameters}: {error.read().decode()}") from error

    def values(self, expression):
        """Returns the finite values of a query."""
        found = (float(row["value"][1]) for row in self.get("query", query=expression)["result"])
        return [value for value in found if math.isfinite(value)]


@pytest.fixture
def prometheus(start_tool, tmp_path, loaded, budgeted, wait_for):
    targets = json.dumps([f"127.0.0.1:{server.metrics_port}" for server in (loaded, budgeted)])
    text = (RULES / "prometheus.yml").read_text().replace('["localhost:8002"]', targets)
    (tmp_path / "prometheus.yml").write_text(text.replace("15s", "1s"))
    (tmp_path / "nereid_rules.yml").write_bytes((RULES / "nereid_rules.yml").read_bytes())
    port, = free_ports(1)
    process = start_tool("prometheus", f"--config.file={tmp_path}/prometheus.yml",
                         f"--storage.tsdb.path={tmp_path}/data",
                         f"--web.listen-address=127.0.0.1:{port}")
    server = Prometheus(port)

    def answers():
        assert process.poll() is None, process.log.read_text()
        try:
            return server.values("count(up == 1)") == [2.0]
        except OSError:
            return False

    wait_for(answers, lambda: "Prometheus does not see both servers: " + process.log.read_text())
    return server


def test_each_panel_shows_data_of_loaded_servers(prometheus, loaded, budgeted, wait_for):
    missing = dict((f"{name}: {expression}", filled(expression)) for name, expression in panels())
    assert len(missing) > 40

    def value_of(title):
        return max(prometheus.values(next(filled(e) for name, e in panels() if name == title)))

    positive = {"overview: Requests per second", "model: Share of failures",
                "repository_rollouts: Shadow traffic", "repository_rollouts: Evictions"}

    def all_have_data():
        send_load(loaded, budgeted)
        for name in [n for n, expression in missing.items() if prometheus.values(expression)]:
            del missing[name]
        if not missing:
            positive.difference_update([title for title in positive if value_of(title) > 0])
        return not missing and not positive

    wait_for(all_have_data, lambda: f"no data for {sorted(missing)} {sorted(positive)}", 120)
    assert value_of("overview: Servers that answer") == 2
    assert value_of("overview: Failed models") == 1
    assert value_of("overview: Stuck stages") == 0


def test_the_recording_rules_run(prometheus, loaded, budgeted, wait_for):
    records = re.findall(r"record: (\S+)", (RULES / "nereid_rules.yml").read_text())

    def recorded():
        send_load(loaded, budgeted)
        return all(prometheus.values(name) for name in records)

    wait_for(recorded, lambda: "a recording rule has no result", 120)
    groups = prometheus.get("rules")["groups"]
    assert [rule["name"] for group in groups for rule in group["rules"] if rule["health"] == "err"
            ] == []
