# SPDX-License-Identifier: Apache-2.0
"""Renders a chart with the real Helm, which the Python package helm-sdkpy contains:

    helm.py CHART VALUES.json            prints the rendered manifests
    helm.py --lint CHART                 prints Helm's findings as JSON

The package can only install charts, so this program is also the Kubernetes API that Helm installs to: it
knows no objects, lists the kinds that Helm asks for, and accepts what is created. Nothing is kept. A
program of its own, because a call of the library cannot be interrupted. PYTHONPATH names the folder of
the package.
"""

import asyncio
import http.server
import json
import os
import sys
import tempfile
import threading

# Kinds of the chart and of Helm: group/version -> (plural, kind).
KINDS = {
    "v1": [("services", "Service"), ("serviceaccounts", "ServiceAccount"), ("secrets", "Secret"),
           ("configmaps", "ConfigMap"), ("namespaces", "Namespace")],
    "apps/v1": [("deployments", "Deployment")],
    "policy/v1": [("poddisruptionbudgets", "PodDisruptionBudget")],
    "autoscaling/v2": [("horizontalpodautoscalers", "HorizontalPodAutoscaler")],
    "networking.k8s.io/v1": [("networkpolicies", "NetworkPolicy")],
    "keda.sh/v1alpha1": [("scaledobjects", "ScaledObject")],
    "monitoring.coreos.com/v1": [("podmonitors", "PodMonitor")],
}


def discovery(path):
    """Returns the answer to a question for versions, groups or kinds; None for another path."""
    if path == "/version":
        return {"major": "1", "minor": "34", "gitVersion": "v1.34.0"}
    if path == "/api":
        return {"kind": "APIVersions", "versions": ["v1"]}
    if path == "/apis":
        versions = [v for v in KINDS if "/" in v]
        return {"kind": "APIGroupList", "apiVersion": "v1", "groups": [
            {"name": v.split("/")[0], "versions": [{"groupVersion": v, "version": v.split("/")[1]}],
             "preferredVersion": {"groupVersion": v, "version": v.split("/")[1]}}
            for v in versions]}
    for version, kinds in KINDS.items():
        if path == ("/api/v1" if version == "v1" else f"/apis/{version}"):
            return {"kind": "APIResourceList", "apiVersion": "v1", "groupVersion": version,
                    "resources": [{"name": plural, "singularName": kind.lower(),
                                   "namespaced": kind != "Namespace", "kind": kind,
                                   "verbs": ["create", "get", "list", "patch", "delete"]}
                                  for plural, kind in kinds]}
    return None


class Cluster(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def answer(self, status, document):
        body = json.dumps(document).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def do_GET(self):  # noqa: N802 - the name is http.server's
        path = self.path.partition("?")[0]
        document = discovery(path)
        if document is not None:
            self.answer(200, document)
        elif path.split("/")[-1] == "secrets":
            self.answer(200, {"kind": "SecretList", "apiVersion": "v1", "items": []})
        else:
            self.answer(404, {"kind": "Status", "apiVersion": "v1", "status": "Failure",
                              "reason": "NotFound", "code": 404})

    def accept(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        if self.path.partition("?")[0].split("/")[-2:-1] == ["secrets"] or b"k8s\0" == body[:4]:
            # Helm's own record of the release, in Kubernetes' binary form.
            self.answer(201, {"kind": "Secret", "apiVersion": "v1", "metadata": {"name": "release"}})
        else:
            self.answer(201, json.loads(body))

    do_POST = do_PUT = do_PATCH = accept

    def log_message(self, *arguments):
        pass


def main():
    from helm_sdkpy import Configuration, Install, Lint

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Cluster)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    kubeconfig = json.dumps({
        "apiVersion": "v1", "kind": "Config", "current-context": "test",
        "clusters": [{"name": "test",
                      "cluster": {"server": f"http://127.0.0.1:{server.server_port}"}}],
        "contexts": [{"name": "test", "context": {"cluster": "test", "user": "test"}}],
        "users": [{"name": "test", "user": {"token": "none"}}]})
    with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
        file.write(kubeconfig)
        file.flush()
        run(Configuration(namespace="serving", kubeconfig=file.name), Install, Lint)


def run(configuration, install, lint):
    if sys.argv[1] == "--lint":
        print(json.dumps(asyncio.run(lint(configuration).run(sys.argv[2]))))
    else:
        with open(sys.argv[2]) as file:
            values = json.load(file)
        release = asyncio.run(install(configuration).run("test", sys.argv[1], values=values,
                                                         wait=False, timeout=60))
        print(release["manifest"])
    sys.stdout.flush()
    os._exit(0)


if __name__ == "__main__":
    main()
