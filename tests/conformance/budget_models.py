# SPDX-License-Identifier: Apache-2.0
"""Models with a known size in memory, and servers with a budget for them."""

import collections
import re
import shutil

import raw_http
from models import ONE_CPU_INSTANCE

MIB = 1 << 20
SIZE = 16 * MIB
TENSORS = ('input { name: "INPUT0" data_type: TYPE_FP32 dims: [ 1 ] }\n'
           'output { name: "OUTPUT0" data_type: TYPE_FP32 dims: [ 1 ] }\n')


def add(root, name, plugins, size=SIZE, extra="", versions=(1,), **files):
    """Writes a model of the backend "ballast" that occupies `size` bytes. `files` are the files of
    each version, by name."""
    folder = root / name
    for version in versions:
        (folder / str(version)).mkdir(parents=True, exist_ok=True)
        with open(folder / str(version) / "ballast", "wb") as ballast:
            ballast.truncate(size)
        for file, text in files.items():
            (folder / str(version) / file).write_text(str(text))
    (folder / "config.pbtxt").write_text(
        f'name: "{name}"\nbackend: "ballast"\nmax_batch_size: 0\n' + TENSORS + ONE_CPU_INSTANCE
        + extra)
    shutil.copy(plugins / "libtriton_ballast.so", folder)


def budget(models, size=SIZE):
    """Returns the flag of a budget in which `models` models fit, and not one more."""
    return f"--model-memory-budget={models * size + size // 2}"


def numbers(server):
    """Returns the metrics of the budget by their names without prefix, and the bytes of the models
    by name."""
    text = raw_http.get(server, "/metrics", port=server.metrics_port).body.decode()
    found = {}
    models = {}
    for name, labels, value in re.findall(r"^nereid_model_memory_(\w+)({.*})? (\S+)$", text,
                                          re.MULTILINE):
        label = re.search(r'="(.*)"', labels)
        if name == "bytes":
            models[label.group(1)] = float(value)
        else:
            found[name + ("_" + label.group(1) if label else "")] = float(value)
    return found, models


def index(server):
    """Returns the entries of the repository index by model."""
    answer = raw_http.request(server, "POST", "/v2/repository/index", b"{}")
    assert answer.status == 200, answer.body
    return {entry["name"]: entry for entry in answer.json}


def resident(server):
    return {name for name, entry in index(server).items() if entry.get("state") == "READY"}


def document(value=1.5):
    return {"inputs": [raw_http.tensor("INPUT0", "FP32", [1], [value])]}


def infer(server, model, value=1.5, **options):
    return raw_http.infer(server, model, document(value), **options)


class OfflineLru:
    """The hits of a cache of `capacity` models that evicts the least recently used one."""

    def __init__(self, capacity):
        self.capacity = capacity
        self.models = collections.OrderedDict()
        self.hits = 0
        self.requests = 0

    def use(self, model):
        self.requests += 1
        if model in self.models:
            self.hits += 1
        elif len(self.models) == self.capacity:
            self.models.popitem(last=False)
        self.models[model] = None
        self.models.move_to_end(model)

    def ratio(self):
        return self.hits / max(1, self.requests)
