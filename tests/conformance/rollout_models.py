# SPDX-License-Identifier: Apache-2.0
"""Models with several versions, and rollouts over them."""

import json
import os
import shutil

import raw_http
from models import ONE_CPU_INSTANCE
from sequences import batching, parameter

ALL_VERSIONS = "version_policy { all { } }\n"
TENSORS = ('input { name: "INPUT0" data_type: TYPE_FP32 dims: [ 1 ] }\n'
           'output { name: "OUTPUT0" data_type: TYPE_FP32 dims: [ 1 ] }\n')
SUMS = ('input { name: "INPUT" data_type: TYPE_INT32 dims: [ 1 ] }\n'
        'output { name: "OUTPUT" data_type: TYPE_INT32 dims: [ 1 ] }\n')
DOCUMENT = {"inputs": [raw_http.tensor("INPUT0", "FP32", [1], [1.5])]}


def add(root, name, backend, config, plugin, versions):
    folder = root / name
    for version in versions:
        (folder / str(version)).mkdir(parents=True)
    (folder / "config.pbtxt").write_text(
        f'name: "{name}"\nbackend: "{backend}"\nmax_batch_size: 0\n'
        + config + ALL_VERSIONS + ONE_CPU_INSTANCE)
    shutil.copy(plugin, folder)


def add_versioned(root, name, plugins, versions=(1, 2)):
    add(root, name, "versioned", TENSORS, plugins / "libtriton_versioned.so", versions)


def add_sums(root, name, plugins):
    add(root, name, "sequence", SUMS + batching("oldest { max_candidate_sequences: 64 }"),
        plugins / "libtriton_sequence.so", (1, 2))


def add_sums_in_states(root, name, plugins):
    """The same sums, which the server keeps: such sequences can be handed over to other replicas."""
    add(root, name, "sequence", SUMS + parameter("keep", "state")
        + batching("oldest { max_candidate_sequences: 1024 }",
                   extra='state { input_name: "INPUT_STATE" output_name: "OUTPUT_STATE" '
                         "data_type: TYPE_INT32 dims: [ 1 ] }\n"),
        plugins / "libtriton_sequence.so", (1, 2))


def add_ensemble(root, name, member, extra=""):
    folder = root / name
    (folder / "1").mkdir(parents=True)
    (folder / "config.pbtxt").write_text(
        f'name: "{name}"\nplatform: "ensemble"\nmax_batch_size: 0\n' + TENSORS + extra
        + f'ensemble_scheduling {{ step {{ model_name: "{member}" model_version: -1 '
        'input_map { key: "INPUT0" value: "INPUT0" } '
        'output_map { key: "OUTPUT0" value: "OUTPUT0" } } }\n')


def set_file(server, model, version, name, text):
    """Changes a version of a "versioned" model that serves; None removes the file."""
    path = server.repository / model / str(version) / name
    if text is None:
        path.unlink(missing_ok=True)
        return
    new = path.with_suffix(".new")
    new.write_text(text)
    os.replace(new, path)


def rollout_path(model):
    return f"/v2/repository/models/{model}/rollout"


def put(server, model, plan):
    body = plan if isinstance(plan, bytes) else json.dumps(plan).encode()
    return raw_http.request(server, "PUT", rollout_path(model), body,
                            {"Content-Type": "application/json"})


def begin(server, model, plan):
    answer = put(server, model, plan)
    assert answer.status == 200, answer.body
    return answer.json


def end(server, model):
    return raw_http.request(server, "DELETE", rollout_path(model))


def status(server, model):
    answer = raw_http.get(server, rollout_path(model))
    assert answer.status == 200, answer.body
    return answer.json


def version_status(server, model, version):
    (found,) = [v for v in status(server, model)["versions"] if v["version"] == version]
    return found


def split(key="request", **weights):
    return {"key": key, "weights": {name.removeprefix("v"): parts
                                    for name, parts in weights.items()}}


def pipelined(wire, model, count, path=None):
    """Sends requests back to back on one connection. Returns the versions that answered."""
    body = json.dumps(DOCUMENT).encode()
    one = raw_http.head("POST", path or raw_http.infer_path(model),
                        "Content-Type: application/json", f"Content-Length: {len(body)}") + body
    wire.send(one * count)
    return [wire.read().json["model_version"] for _ in range(count)]
