# SPDX-License-Identifier: Apache-2.0
"""The Helm chart, rendered by the real Helm for each file of deploy/helm/nereid/ci and checked against the
schemas of Kubernetes; the objects for KServe and Seldon; and all flags in them against the program."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import kubernetes_validate
import models
import pytest
import raw_http
import yaml
from server_process import ServerProcess

ROOT = Path(__file__).resolve().parents[2]
CHART = ROOT / "deploy" / "helm" / "nereid"
VALUES = sorted(path.name.removesuffix("-values.yaml") for path in (CHART / "ci").glob("*.yaml"))
VERSIONS = [f"1.{minor}" for minor in range(28, 35)]
CUSTOM = {"ScaledObject", "PodMonitor"}  # kinds without a schema of Kubernetes itself
OTHERS = sorted([*(ROOT / "deploy" / "kserve").glob("*.yaml"),
                 *(ROOT / "deploy" / "seldon").glob("*.yaml")])


@pytest.fixture(scope="session")
def helm(tools):
    """helm(*arguments) runs helm.py and returns its process."""
    def run(*arguments):
        return subprocess.run(
            [sys.executable, ROOT / "tests" / "deploy" / "helm.py", *arguments], timeout=120,
            capture_output=True, text=True,
            env={**os.environ, "PYTHONPATH": str(tools / "python")})
    return run


@pytest.fixture(scope="session")
def render(helm, tmp_path_factory):
    """render(values) is the list of the rendered objects."""
    rendered = {}

    def objects(name):
        if name not in rendered:
            values = yaml.safe_load((CHART / "ci" / f"{name}-values.yaml").read_text())
            path = tmp_path_factory.mktemp(name) / "values.json"
            path.write_text(json.dumps(values))
            done = helm(CHART, path)
            assert done.returncode == 0, done.stderr
            rendered[name] = [d for d in yaml.safe_load_all(done.stdout) if d]
        return rendered[name]
    return objects


def one(objects, kind, suffix=""):
    found, = [o for o in objects if o["kind"] == kind and o["metadata"]["name"].endswith(suffix)]
    return found


def pod_of(objects):
    return one(objects, "Deployment")["spec"]["template"]["spec"]


def test_the_chart_has_the_version_of_the_project():
    version = re.search(r"project\(nereid VERSION (\S+)", (ROOT / "CMakeLists.txt").read_text())[1]
    chart = yaml.safe_load((CHART / "Chart.yaml").read_text())
    assert (chart["version"], chart["appVersion"]) == (version, version)
    for path in OTHERS:
        for image in re.findall(r"image: nereid:(\S+)|defaultImageVersion: \"(\S+)\"",
                                path.read_text()):
            assert version in image, path


def test_helm_finds_nothing_to_complain(helm):
    done = helm("--lint", CHART)
    assert done.returncode == 0, done.stderr
    findings = json.loads(done.stdout)
    assert findings["Errors"] is None
    assert all(message["Severity"] <= 1 for message in findings["Messages"]), findings


def test_there_are_six_sets_of_values():
    assert len(VALUES) >= 6


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("name", VALUES)
def test_objects_are_valid(render, name, version):
    for document in render(name):
        if document["kind"] not in CUSTOM:
            kubernetes_validate.validate(document, version, strict=True)


def test_wrong_values_are_refused(helm, tmp_path):
    for values, words in (({"replicas": 3}, "replicas"), ({"flags": {"--id": "x"}}, "id"),
                          ({"modelRepository": {"path": "models"}}, "path"),
                          ({"autoscaling": {"kind": "magic"}}, "kind")):
        path = tmp_path / "values.json"
        path.write_text(json.dumps(values))
        done = helm(CHART, path)
        assert done.returncode != 0 and words in done.stderr, values


@pytest.mark.parametrize("name", VALUES)
def test_pods_keep_the_restricted_standard(render, name):
    pod = pod_of(render(name))
    container, = pod["containers"]
    assert pod["securityContext"]["runAsNonRoot"] is True
    assert pod["securityContext"]["seccompProfile"] == {"type": "RuntimeDefault"}
    assert container["securityContext"] == {
        "allowPrivilegeEscalation": False, "readOnlyRootFilesystem": True,
        "capabilities": {"drop": ["ALL"]}}
    assert pod["automountServiceAccountToken"] is False
    allowed = {"emptyDir", "persistentVolumeClaim", "secret"}
    assert all(set(volume) - {"name"} <= allowed for volume in pod["volumes"])


@pytest.mark.parametrize("name", VALUES)
def test_pods_have_the_time_to_leave(render, name):
    pod = pod_of(render(name))
    container, = pod["containers"]
    args = dict(arg.removeprefix("--").split("=", 1) for arg in container["args"][1:])
    sleep = int(container["lifecycle"]["preStop"]["exec"]["command"][1])
    assert pod["terminationGracePeriodSeconds"] > (
        sleep + int(args["drain-secs"]) + int(args["exit-timeout-secs"]))


def test_sequences_are_handed_over(render, helm, tmp_path):
    objects = render("sequences")
    service = one(objects, "Service", "-handover")
    assert service["spec"]["publishNotReadyAddresses"] is True  # a replica that leaves is not ready
    assert service["spec"]["clusterIP"] == "None"
    pod = pod_of(objects)
    container, = pod["containers"]
    name = service["metadata"]["name"]
    peers, = [a for a in container["args"] if a.startswith("--sequence-handover-peers=")]
    assert peers.split("=")[1].startswith(f"{name}.") and peers.endswith(".svc:8000")
    assert {"name": "handover", "mountPath": "/etc/nereid/handover", "readOnly": True} in (
        container["volumeMounts"])
    policy = one(objects, "NetworkPolicy")["spec"]
    own = [{"podSelector": policy["podSelector"]}]
    assert any(rule.get("from") == own for rule in policy["ingress"])
    assert any(rule.get("to") == own for rule in policy["egress"])
    assert not any(o["metadata"]["name"].endswith("-handover") for o in render("default"))
    for values, words in (({"enabled": True}, "tokenSecret"),
                          ({"enabled": True, "tokenSecret": "x"}, None)):
        path = tmp_path / "values.json"
        path.write_text(json.dumps({"sequenceHandover": values, "tlsSecret": "tls"}))
        done = helm(CHART, path)
        assert done.returncode != 0 and (words or "cannot be used with tlsSecret") in done.stderr


def test_autoscaling(render):
    scaled = one(render("object-store"), "ScaledObject")["spec"]
    trigger, = scaled["triggers"]
    assert trigger["metadata"]["threshold"] == "0.1"
    assert "replicas" not in one(render("object-store"), "Deployment")["spec"]
    hpa = one(render("secured"), "HorizontalPodAutoscaler")["spec"]
    assert [metric["type"] for metric in hpa["metrics"]] == ["Resource", "External"]
    assert hpa["metrics"][1]["external"]["target"]["value"] == "50m"


def test_the_query_of_keda_is_valid(render, run_tool, tmp_path):
    trigger, = one(render("object-store"), "ScaledObject")["spec"]["triggers"]
    rules = tmp_path / "rules.yml"
    rules.write_text(yaml.safe_dump({"groups": [{"name": "keda", "rules": [
        {"record": "x", "expr": trigger["metadata"]["query"]}]}]}))
    run_tool("promtool", "check", "rules", rules)


def test_parts_can_be_left_out(render):
    assert {o["kind"] for o in render("minimal")} == {"Deployment", "Service"}
    assert one(render("default"), "Service", "-replicas")["spec"]["clusterIP"] == "None"


def test_gpus_and_tls(render):
    container, = pod_of(render("gpu"))["containers"]
    assert container["resources"]["limits"] == {"memory": "64Gi", "nvidia.com/gpu": 2}
    container, = pod_of(render("secured"))["containers"]
    assert container["readinessProbe"]["httpGet"]["scheme"] == "HTTPS"


def flags_in(document):
    """Yields the command lines of all containers in an object, as (command, args)."""
    if isinstance(document, dict):
        if "args" in document:
            yield document.get("command", []), document["args"]
        for value in document.values():
            yield from flags_in(value)
    elif isinstance(document, list):
        for value in document:
            yield from flags_in(value)


def check_flags(server_command, command, args):
    """--help ends the command line; what stands before it has been read and is correct."""
    words = [word for word in args if word != "serve"]
    done = subprocess.run([server_command, "serve", *words, "--help"], capture_output=True,
                          text=True)
    assert done.stderr.startswith("Usage: nereid serve"), done.stderr
    assert command in ([], ["tritonserver"], ["/usr/bin/nereid"])


@pytest.mark.parametrize("name", VALUES)
def test_flags_of_the_chart_are_those_of_the_program(render, server_command, name):
    lines = list(flags_in(render(name)))
    assert len(lines) == 1
    for command, args in lines:
        assert args[0] == "serve"
        check_flags(server_command, command, args)


@pytest.mark.parametrize("path", OTHERS, ids=lambda path: path.stem)
def test_flags_of_kserve_and_seldon_are_those_of_the_program(server_command, path):
    for document in yaml.safe_load_all(path.read_text()):
        for command, args in flags_in(document):
            check_flags(server_command, command, args)


def test_the_pod_of_the_serving_runtime_is_valid():
    runtime = yaml.safe_load((ROOT / "deploy/kserve/cluster_serving_runtime.yaml").read_text())
    pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "x"},
           "spec": {"containers": runtime["spec"]["containers"]}}
    for version in VERSIONS:
        kubernetes_validate.validate(pod, version, strict=True)


def test_a_server_starts_as_kserve_starts_it(server_command, backends, tmp_path):
    """The arguments of the runtime and of the InferenceService, with other ports and another folder."""
    runtime, service = (yaml.safe_load((ROOT / "deploy" / "kserve" / name).read_text())
                        for name in ("cluster_serving_runtime.yaml", "inference_service.yaml"))
    container, = runtime["spec"]["containers"]
    models.Repository(tmp_path / "models").identity("classifier", [("INT32", [1])])
    args = [*container["args"], *service["spec"]["predictor"]["model"]["args"]]
    args = [arg for arg in args if "-port=" not in arg and "--model-store=" not in arg]
    program = Path(server_command).with_name("tritonserver")
    server = ServerProcess([program], tmp_path / "models", tmp_path / "log",
                           [*args, f"--model-store={tmp_path / 'models'}",
                            f"--backend-directory={backends}"])
    server.start()
    try:
        body = {"inputs": [raw_http.tensor("INPUT0", "INT32", [1], [5])]}
        assert raw_http.infer(server, "classifier", body).json["outputs"][0]["data"] == [5]
    finally:
        server.kill()
