# SPDX-License-Identifier: Apache-2.0
"""The models of the rows. `spare` and `broken` exist, but are not loaded."""

import models

# Loaded at the start.
SERVING = ("plain", "batched", "text", "pair", "several", "sequence", "texts_only", "levels",
           "classifier", "decoupled", "pipeline", "cancelling")
ONE = models.ONE_CPU_INSTANCE


def write(root):
    repository = models.Repository(root)
    ints = [("INT32", [4])]
    repository.identity("plain", ints, extra=ONE)
    repository.identity("batched", ints, batch=4, extra=ONE)
    repository.identity("text", [("BYTES", [-1])], extra=ONE)
    repository.identity("pair", ints * 2, extra=ONE)
    repository.identity("several", ints, versions=(1, 3), extra=ONE
                        + "version_policy: { specific: { versions: [ 1, 3 ] } }\n")
    repository.identity("sequence", ints, batch=4, extra=ONE + "sequence_batching { }\n")
    # Sequences whose model accepts only text ids.
    repository.identity("texts_only", ints, batch=4, extra=ONE + (
        'sequence_batching { control_input { name: "CORRID" control { '
        "kind: CONTROL_SEQUENCE_CORRID data_type: TYPE_STRING } } }\n"))
    repository.identity("levels", ints, batch=4, extra=ONE + (
        "dynamic_batching { priority_levels: 3 default_priority_level: 2 }\n"))
    repository.identity("cancelling", ints, batch=4, extra=ONE + (
        "dynamic_batching { default_queue_policy { allow_timeout_override: true } }\n"))
    repository.identity("classifier", [("FP32", [3])], extra=ONE,
                        tensor_extra=[("", 'label_filename: "labels.txt"')])
    (root / "classifier" / "labels.txt").write_text("cat\ndog\nbird\n")
    repository.identity("decoupled", ints, extra=ONE
                        + "model_transaction_policy { decoupled: true }\n")
    repository.identity("spare", ints, extra=ONE)
    repository.identity("member", ints, extra=ONE)
    repository.broken("broken")
    _write_pipeline(root)


def _write_pipeline(root):
    """Writes an ensemble with the only step `member`."""
    (root / "pipeline" / "1").mkdir(parents=True)
    (root / "pipeline" / "config.pbtxt").write_text("""\
name: "pipeline"
platform: "ensemble"
input { name: "x" data_type: TYPE_INT32 dims: [ 4 ] }
output { name: "y" data_type: TYPE_INT32 dims: [ 4 ] }
ensemble_scheduling { step {
  model_name: "member" model_version: -1
  input_map { key: "INPUT0" value: "x" } output_map { key: "OUTPUT0" value: "y" }
} }
""")


def write_unready(root):
    """Writes a repository for servers that load all models at the start; one load fails."""
    repository = models.Repository(root)
    repository.identity("plain", [("INT32", [4])], extra=ONE)
    repository.broken("broken")
