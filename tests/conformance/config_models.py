# SPDX-License-Identifier: Apache-2.0
"""Repositories of ONNX models whose configurations contain settings that the backend must obey.

tests/models/make_models.py makes the ONNX files and describes them. A model that batches exists
twice: NAME_direct executes every request separately, and NAME_dynamic combines three requests that
are sent at the same time.
"""

import shutil
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "models"))

import make_models  # noqa: E402

ONE_CPU = "instance_group [ { count: 1 kind: KIND_CPU } ]\n"
# The delay of five seconds never passes, because three requests fill the preferred size.
OF_THREE = ("dynamic_batching { preferred_batch_size: [ 3 ] "
            "max_queue_delay_microseconds: 5000000 }\n")


def io(kind, name, datatype, dims, extra=""):
    return (f'{kind} {{ name: "{name}" data_type: TYPE_{datatype} '
            f'dims: [ {", ".join(map(str, dims))} ] {extra} }}\n')


def reshape(*shape):
    return f'reshape {{ shape: [ {", ".join(map(str, shape))} ] }}'


def batch_input(kind, target, datatype, source="values"):
    return (f'batch_input {{ kind: BATCH_{kind} target_name: "{target}" '
            f'data_type: TYPE_{datatype} source_input: "{source}" }}\n')


def batch_output(target, source):
    return (f'batch_output {{ kind: BATCH_SCATTER_WITH_INPUT_SHAPE target_name: "{target}" '
            f'source_input: "{source}" }}\n')


def write(root, name, onnx, config):
    """Writes a model folder. With `config` None the backend completes the whole configuration."""
    folder = root / name
    (folder / "1").mkdir(parents=True)
    (folder / "1" / "model.onnx").write_bytes(make_models.MODELS[onnx]())
    if config is not None:
        (folder / "config.pbtxt").write_text(f'backend: "onnxruntime"\n{config}')
    return folder


def write_both(root, name, onnx, config):
    write(root, name + "_direct", onnx, "max_batch_size: 8\n" + ONE_CPU + config)
    write(root, name + "_dynamic", onnx, "max_batch_size: 8\n" + ONE_CPU + OF_THREE + config)


def describe_config(datatype):
    """A configuration with each kind of batch input, each of which an output returns."""
    return (
        io("input", "values", "FP32", [-1], "allow_ragged_batch: true")
        + io("output", "doubled", "FP32", [-1]) + io("output", "out_widest", "INT64", [1])
        + "".join(io("output", name, datatype, [1])
                  for name in ("out_count", "out_end", "out_begin", "out_shape", "out_flat"))
        + batch_input("ELEMENT_COUNT", "count", datatype)
        + batch_input("ACCUMULATED_ELEMENT_COUNT", "ends", datatype)
        + batch_input("ACCUMULATED_ELEMENT_COUNT_WITH_ZERO", "bounds", datatype)
        + batch_input("MAX_ELEMENT_COUNT_AS_SHAPE", "widest", datatype)
        + batch_input("ITEM_SHAPE", "shapes", datatype)
        + batch_input("ITEM_SHAPE_FLATTEN", "flat", datatype)
        + batch_output("doubled", "values"))


def write_serving(root: Path, operators: Path):
    """Writes models that load. `operators` is the library with the operator Triple."""
    # The model has the shape [batch,3,4]. Clients send 12 numbers and get them back as 2 by 6.
    write_both(root, "folded", "look",
               io("input", "x", "FP32", [12], reshape(3, 4))
               + io("output", "y", "FP32", [2, 6], reshape(3, 4))
               + io("output", "seen", "INT64", [2]))
    write_both(root, "folded_variable", "look",
               io("input", "x", "FP32", [2, 2, -1], reshape(4, -1))
               + io("output", "y", "FP32", [2, 2, -1], reshape(4, -1))
               + io("output", "seen", "INT64", [2]))
    write_both(root, "numbers", "double",
               io("input", "x", "FP32", [1], reshape()) + io("output", "y", "FP32", [1], reshape()))
    write(root, "folded_fixed", "fixed",
          io("input", "x", "FP32", [6], reshape(2, 3))
          + io("output", "y", "FP32", [3, 2], reshape(2, 3)))
    write(root, "rank_0", "scalar",
          io("input", "x", "INT64", [1]) + io("output", "y", "INT64", [1]))
    write_both(root, "ragged_int32", "describe_int32", describe_config("INT32"))
    write_both(root, "ragged_fp32", "describe_fp32", describe_config("FP32"))
    write_both(root, "ragged_texts", "ragged_string",
               io("input", "texts", "STRING", [-1], "allow_ragged_batch: true")
               + io("output", "y", "STRING", [-1]) + batch_output("y", "texts"))
    write_both(root, "ragged_short", "shorten",
               io("input", "values", "FP32", [-1], "allow_ragged_batch: true")
               + io("output", "y", "FP32", [-1]) + batch_output("y", "values"))
    folder = root / "ragged_identity"
    (folder / "1").mkdir(parents=True)
    (folder / "config.pbtxt").write_text(
        'backend: "identity"\nmax_batch_size: 8\n' + ONE_CPU + OF_THREE
        + io("input", "values", "INT32", [-1], "allow_ragged_batch: true")
        + io("output", "copied", "INT32", [-1]))
    write_both(root, "defaulted", "default_row",
               io("input", "x", "FP32", [4]) + io("input", "bias", "FP32", [4], "optional: true")
               + io("output", "y", "FP32", [4]))
    write_both(root, "undefaulted", "accumulate",
               io("input", "x", "FP32", [4]) + io("input", "state", "FP32", [4], "optional: true")
               + io("output", "y", "FP32", [4]))
    write_both(root, "table", "gather",
               io("input", "index", "INT64", [1]) + io("output", "y", "FP32", [1, 2]))
    for level in (-1, 0, 1, 2):
        write(root, f"level_{level}", "mlp",
              f"max_batch_size: 8\noptimization {{ graph {{ level: {level} }} }}\n"
              + io("input", "x", "FP32", [64]) + io("output", "y", "FP32", [10]))
    write(root, "for_gpus", "mlp", """\
max_batch_size: 8
instance_group [ { kind: KIND_CPU secondary_devices [ { kind: KIND_NVDLA device_id: 0 } ] } ]
optimization {
  priority: PRIORITY_MAX
  cuda { graphs: true }
  input_pinned_memory { enable: false }
  execution_accelerators { gpu_execution_accelerator: [ {
    name: "tensorrt" parameters { key: "precision_mode" value: "FP16" } } ] }
}
cc_model_filenames { key: "7.5" value: "absent.onnx" }
""" + io("input", "x", "FP32", [64]) + io("output", "y", "FP32", [10]))
    folder = write(root, "operators", "triple", "max_batch_size: 8\n"
                   f'model_operations {{ op_library_filename: "{operators.name}" }}\n'
                   + io("input", "x", "FP32", [-1]) + io("output", "y", "FP32", [-1]))
    put_plugin(folder, operators)
    write(root, "tuned", "mlp", "max_batch_size: 8\n" + "".join(
        f'parameters {{ key: "{key}" value: {{ string_value: "{value}" }} }}\n' for key, value in (
            ("intra_op_thread_count", "1"), ("inter_op_thread_count", "1"),
            ("execution_mode", "1"), ("enable_mem_arena", "1"), ("enable_mem_pattern", "0"),
            ("memory.enable_memory_arena_shrinkage", "cpu:0"),
            ("session.use_device_allocator_for_initializers", "1"),
            ("session.intra_op.allow_spinning", "0")))
        + io("input", "x", "FP32", [64]) + io("output", "y", "FP32", [10]))
    write_completed(root)


def write_completed(root: Path):
    """Writes models whose configurations the backend completes."""
    write(root, "all_completed", "mlp", None)
    write(root, "fixed_completed", "fixed", None)
    write(root, "numbers_completed", "double", None)
    write(root, "output_given", "mlp",
          "max_batch_size: 16\n" + io("output", "y", "FP32", [5, 2], reshape(10)))
    write(root, "both_given", "mlp",
          io("input", "x", "FP32", [-1, 64]) + io("output", "y", "FP32", [-1, 10]))
    write(root, "one_batch", "mlp", "max_batch_size: 1\n")


# name -> (ONNX model, configuration, part of the reason why it does not load).
MLP_IO = io("input", "x", "FP32", [64]) + io("output", "y", "FP32", [10])
REFUSED = {
    "accelerator_absent": (
        "mlp", "max_batch_size: 8\noptimization { execution_accelerators { "
        'cpu_execution_accelerator: [ { name: "xnnpack" } ] } }\n' + MLP_IO,
        "the Execution Accelerator 'xnnpack' is not in this ONNX Runtime"),
    "accelerator_unknown": (
        "mlp", "max_batch_size: 8\noptimization { execution_accelerators { "
        'cpu_execution_accelerator: [ { name: "openvion" } ] } }\n' + MLP_IO,
        "unknown Execution Accelerator 'openvion' is requested in "
        "optimization.execution_accelerators.cpu_execution_accelerator; the known ones are: "
        "openvino, xnnpack"),
    "level_unknown": (
        "mlp", "max_batch_size: 8\noptimization { graph { level: 7 } }\n" + MLP_IO,
        "optimization.graph.level is 7, but must be -1 (basic), 0 (all), 1 (extended) or 2 (none)"),
    "operators_absent": (
        "triple", 'max_batch_size: 8\nmodel_operations { op_library_filename: "absent.so" }\n'
        + io("input", "x", "FP32", [-1]) + io("output", "y", "FP32", [-1]),
        "model_operations.op_library_filename 'absent.so' is not there; tried"),
    "other_name": (
        "mlp", "max_batch_size: 8\n" + io("input", "z", "FP32", [64])
        + io("output", "y", "FP32", [10]),
        "unexpected inference input 'z', allowed inputs are: x"),
    "too_many_inputs": (
        "mlp", "max_batch_size: 8\n" + io("input", "x", "FP32", [64]) * 2
        + io("output", "y", "FP32", [10]),
        "unable to load model 'too_many_inputs', configuration expects 2 inputs, model provides 1"),
    "dims_of_a_scalar": (
        "scalar", io("input", "x", "INT64", [2]) + io("output", "y", "INT64", [1]),
        "unable to load model 'dims_of_a_scalar', scalar tensor 'x', should only provide 1 in the "
        "model configuration when the model doesn't support batching. Model configuration provided: "
        "[2]."),
    "dim_of_zero": (
        "mlp", "max_batch_size: 8\n" + io("input", "x", "FP32", [0]) + io("output", "y", "FP32", [10]),
        "model input 'x' dimension must be integer >= 1, or -1 to indicate a variable-size dimension "
        "for dim_of_zero"),
    "no_type": (
        "mlp", "max_batch_size: 8\n" + io("input", "x", "INVALID", [64])
        + io("output", "y", "FP32", [10]), "model input 'x' must specify 'data_type' for no_type"),
    "other_type": (
        "mlp", "max_batch_size: 8\n" + io("input", "x", "INT32", [64])
        + io("output", "y", "FP32", [10]),
        "unable to load model 'other_type', configuration expects datatype TYPE_INT32 for input 'x', "
        "model provides TYPE_FP32"),
    "other_dims": (
        "mlp", "max_batch_size: 8\n" + io("input", "x", "FP32", [64])
        + io("output", "y", "FP32", [11]),
        "model 'other_dims', tensor 'y': the model expects 2 dimensions (shape [-1,10]) but the model "
        "configuration specifies 2 dimensions (an initial batch dimension because max_batch_size > 0 "
        "followed by the explicit tensor shape, making complete shape [-1,11])"),
    "batching_impossible": (
        "fixed", "max_batch_size: 8\n",
        "autofill failed for model 'batching_impossible': model does not support batching while "
        "non-zero max_batch_size is specified"),
    "ragged_and_optional": (
        "ragged", "max_batch_size: 8\n" + io("input", "rows", "FP32", [1])
        + io("input", "values", "FP32", [-1], "allow_ragged_batch: true optional: true")
        + io("output", "y", "FP32", [1]),
        "input 'values' cannot be both optional and allow_ragged_batch"),
    "ragged_matrix": (
        "mlp", "max_batch_size: 8\n" + io("input", "x", "FP32", [64], "allow_ragged_batch: true")
        + io("output", "y", "FP32", [10]),
        "configuration expects model provides input with shape [-1]  for ragged input 'x', model "
        "provides [-1,64]"),
    "batch_input_type": (
        "describe_int32", "max_batch_size: 8\n" + describe_config("FP32"),
        "configuration expects datatype TYPE_FP32 for batch_input 'count', model provides "
        "TYPE_INT32"),
}


def write_refused(root: Path):
    for name, (onnx, config, _) in REFUSED.items():
        write(root, name, onnx, config)
    write(root, "good", "mlp", None)


def put_plugin(folder: Path, library: Path):
    """Copies a plug-in into the folder of a model, which the server searches first."""
    shutil.copy(library, folder / library.name)
