# SPDX-License-Identifier: Apache-2.0
"""The repository of the console's tests: each kind of input, an ensemble, and names and labels that
would do harm if the page took them for markup."""

import ensembles
import models
import sequence_models
from config_models import put_plugin

HOSTILE_NAME = "z><img src=x onerror=window.harm=1>"
HOSTILE_LABEL = "<script>window.harm=1</script><svg onload=window.harm=1>"
HOSTILE_TENSOR = "'\"><iframe srcdoc='<script>parent.harm=1</script>'>"


def write_stream(root, plugins):
    """A model that sends each element of its input as an answer of its own."""
    repository = models.Repository(root)
    config = ('backend: "repeat"\n' + models._tensor("input", "IN", "INT32", [-1])
              + models._tensor("input", "DELAY", "UINT32", [-1])
              + models._tensor("input", "WAIT", "UINT32", [1])
              + models._tensor("output", "OUT", "INT32", [1])
              + models._tensor("output", "IDX", "UINT32", [1])
              + "model_transaction_policy { decoupled: true }\n" + models.ONE_CPU_INSTANCE)
    put_plugin(repository._write("repeat", config, (1,)), plugins / "libtriton_repeat.so")


def write(root):
    repository = models.Repository(root)
    one = models.ONE_CPU_INSTANCE
    repository.identity("numbers", [("INT32", [4])], batch=8, extra=one
                        + "dynamic_batching { max_queue_delay_microseconds: 100 }\n")
    repository.identity("texts", [("BYTES", [1])], extra=one)
    repository.identity("picture", [("FP32", [3, -1, -1])], extra=one)
    repository.identity("detector", [("FP32", [3, -1, -1]), ("FP32", [-1, 5])], extra=one)
    repository.identity("sound", [("FP32", [-1])], extra=one)
    repository.identity("wide", [("INT64", [2]), ("FP16", [2])], extra=one)
    repository.identity(HOSTILE_NAME, [("INT32", [1])], extra=one)
    repository.onnx("classifier", models.classifier_graph(True), models.classifier_config(8),
                    labels=f"cat\n{HOSTILE_LABEL}\nbird\n")
    folder = root / "hostile_tensor" / "1"
    folder.mkdir(parents=True)
    quoted = HOSTILE_TENSOR.replace("\\", "\\\\").replace('"', '\\"')
    (folder.parent / "config.pbtxt").write_text(
        f'backend: "identity"\ninput {{ name: "{quoted}" data_type: TYPE_INT32 dims: [ 1 ] }}\n'
        f'output {{ name: "OUTPUT0" data_type: TYPE_INT32 dims: [ 1 ] }}\n')
    repository.identity("a", [("INT32", [4])], extra=one)
    repository.identity("b", [("INT32", [4])], extra=one)
    ensembles.write_ensemble(root, "chain", ensembles.chain("a", "b"), ensembles.X, ensembles.Y)
    sequence_models.accumulator(root, "sums", sequence_models.state(), has_start=True)
    repository.broken("broken")
