# SPDX-License-Identifier: Apache-2.0
"""Valid model configurations of every kind, to compare the results of two servers.

CONFIGS maps model names to texts of config.pbtxt. The directory determines the name of a model
unless the text contains it. FILES has the files that the texts need: model name -> {path: bytes}.
"""

XY = """
input [ { name: "x" data_type: TYPE_FP32 dims: [ 16 ] } ]
output [ { name: "y" data_type: TYPE_FP32 dims: [ 16 ] } ]
"""
CPU = 'instance_group [ { kind: KIND_CPU } ]\n'
BATCHED = 'backend: "mine"\nmax_batch_size: 8\n' + XY + CPU

MINIMAL = """
platform: "tensorrt_plan"
max_batch_size: %d
input [ { name: "input0" data_type: TYPE_FP32 dims: [ 16 ] },
        { name: "input1" data_type: TYPE_FP32 dims: [ 16 ] } ]
output [ { name: "output0" data_type: TYPE_FP32 dims: [ 16 ] } ]
"""

SEQUENCE = """
control_input [
  { name: "START" control [ { kind: CONTROL_SEQUENCE_START int32_false_true: [ 0, 1 ] } ] },
  { name: "READY" control [ { kind: CONTROL_SEQUENCE_READY fp32_false_true: [ 0, 1.5 ] } ] },
  { name: "END" control [ { kind: CONTROL_SEQUENCE_END bool_false_true: [ false, true ] } ] },
  { name: "CORRID" control [ { kind: CONTROL_SEQUENCE_CORRID data_type: TYPE_UINT64 } ] } ]
"""


def sequence(inner):
    return BATCHED + "sequence_batching {\n" + inner + "}\n"


def batching(inner):
    return BATCHED + "dynamic_batching { " + inner + " }\n"


def group(inner):
    return 'backend: "mine"\n' + XY + "instance_group [ " + inner + " ]\n"


def optimization(inner):
    return BATCHED + "optimization { " + inner + " }\n"


CONFIGS = {
    # Examples of the specification.
    "minimal": 'name: "minimal"' + MINIMAL % 8,
    "minimal_unbatched": MINIMAL % 0,
    "variable_dims": 'backend: "mine"\ninput { name: "x" data_type: TYPE_FP32 dims: [ 4, -1 ] }\n'
                     'output { name: "y" data_type: TYPE_INT64 dims: [ -1, -1 ] }\n',
    "reshape": """platform: "tensorrt_plan" max_batch_size: 8
        input [ { name: "in" data_type: TYPE_FP32 dims: [ 1 ] reshape: { shape: [ ] } } ]
        output [ { name: "out" data_type: TYPE_FP32 dims: [ 1 ] reshape: { shape: [ ] } } ]""",
    "shape_tensor": """platform: "tensorrt_plan" max_batch_size: 8
        input [ { name: "input0" data_type: TYPE_FP32 dims: [ -1 ] },
                { name: "input1" data_type: TYPE_INT32 dims: [ 1 ] is_shape_tensor: true } ]
        output [ { name: "output0" data_type: TYPE_FP32 dims: [ -1 ] } ]""",
    "version_all": MINIMAL % 8 + "version_policy: { all { }}",
    "version_latest": MINIMAL % 8 + "version_policy: { latest { num_versions: 2 } }",
    "version_specific": MINIMAL % 8 + "version_policy: { specific { versions: [ 1, 7 ] } }",
    "two_cpu_instances": BATCHED.replace(CPU, "instance_group [ { count: 2 kind: KIND_CPU } ]\n"),
    "preferred_sizes": batching("preferred_batch_size: [ 4, 8 ]"),
    "delayed": batching("preferred_batch_size: [ 4, 8 ] max_queue_delay_microseconds: 100"),
    # Platforms and backends.
    "savedmodel": 'platform: "tensorflow_savedmodel"\n' + XY,
    "graphdef": 'platform: "tensorflow_graphdef"\n' + XY,
    "onnx_platform": 'platform: "onnxruntime_onnx"\n',
    "onnx_completed": 'backend: "onnxruntime"\nmax_batch_size: 6\n',
    "onnx_alone": "",
    "libtorch": 'platform: "pytorch_libtorch"\n' + XY,
    "pytorch_backend": 'backend: "pytorch"\n' + XY,
    "openvino": 'backend: "openvino"\n' + XY,
    "own_backend": 'backend: "mine"\n',
    "named.mine": XY,
    "own_file": 'backend: "mine" default_model_filename: "weights.bin"\n' + XY,
    "own_platform": 'backend: "mine" platform: "onnxruntime_onnx"\n' + XY,
    "file_told": 'default_model_filename: "model.onnx"\n',
    # Inputs and outputs.
    "every_type": 'backend: "mine"\n' + "".join(
        f'input {{ name: "i{i}" data_type: {t} dims: [ 1 ] }} '
        f'output {{ name: "o{i}" data_type: {t} dims: [ 2, -1 ] }}\n'
        for i, t in enumerate(("TYPE_BOOL", "TYPE_UINT8", "TYPE_UINT16", "TYPE_UINT32",
                               "TYPE_UINT64", "TYPE_INT8", "TYPE_INT16", "TYPE_INT32",
                               "TYPE_INT64", "TYPE_FP16", "TYPE_FP32", "TYPE_FP64",
                               "TYPE_STRING", "TYPE_BF16"))),
    "image_formats": """backend: "mine"
        input [ { name: "a" data_type: TYPE_UINT8 format: FORMAT_NHWC dims: [ 224, 224, 3 ] },
                { name: "b" data_type: TYPE_UINT8 format: FORMAT_NCHW dims: [ 3, -1, -1 ] } ]
        output { name: "c" data_type: TYPE_FP32 dims: [ 1000 ] }""",
    "optional_and_ragged": """backend: "mine" max_batch_size: 4
        input [ { name: "a" data_type: TYPE_FP32 dims: [ -1 ] allow_ragged_batch: true },
                { name: "b" data_type: TYPE_FP32 dims: [ 1 ] optional: true } ]
        output { name: "c" data_type: TYPE_FP32 dims: [ 1 ] }""",
    "labels": """backend: "mine" input { name: "a" data_type: TYPE_FP32 dims: [ 4 ] }
        output { name: "c" data_type: TYPE_FP32 dims: [ 4 ] label_filename: "labels.txt" }""",
    "reshapes": """backend: "mine"
        input { name: "a" data_type: TYPE_FP32 dims: [ 2, 4, -1, 6 ] reshape { shape: [ 8, -1, 1, 6 ] } }
        output { name: "c" data_type: TYPE_FP32 dims: [ 4 ] reshape { shape: [ 2, 2 ] } }""",
    "batch_io": """backend: "mine" max_batch_size: 8
        input { name: "a" data_type: TYPE_FP32 dims: [ -1 ] allow_ragged_batch: true }
        output { name: "c" data_type: TYPE_FP32 dims: [ -1 ] }
        batch_input [
          { kind: BATCH_ACCUMULATED_ELEMENT_COUNT target_name: "n" data_type: TYPE_FP32
            source_input: "a" },
          { kind: BATCH_ITEM_SHAPE_FLATTEN target_name: [ "s", "t" ] data_type: TYPE_INT32
            source_input: "a" } ]
        batch_output { kind: BATCH_SCATTER_WITH_INPUT_SHAPE target_name: "c" source_input: "a" }
        dynamic_batching { }""",
    # Dynamic batching.
    "dynamic": batching(""),
    "dynamic_unbatched": 'backend: "mine"\n' + XY + "dynamic_batching { }\n",
    "ordered": batching("preserve_ordering: true"),
    "priorities": batching(
        "priority_levels: 3 default_priority_level: 2 "
        "default_queue_policy { timeout_action: DELAY default_timeout_microseconds: 100000 "
        "  allow_timeout_override: true max_queue_size: 10 } "
        "priority_queue_policy { key: 3 value { max_queue_size: 5 } } "
        "priority_queue_policy { key: 1 value { timeout_action: REJECT } }"),
    # Sequences.
    "sequence_default": sequence(SEQUENCE),
    "sequence_direct": sequence("max_sequence_idle_microseconds: 5000000 direct { }" + SEQUENCE),
    "sequence_direct_options": sequence(
        "direct { max_queue_delay_microseconds: 50 minimum_slot_utilization: 0.3 }" + SEQUENCE),
    "sequence_oldest": sequence(
        "oldest { max_candidate_sequences: 4 max_queue_delay_microseconds: 7 "
        "preserve_ordering: true }" + SEQUENCE),
    "sequence_oldest_sizes": sequence(
        "oldest { max_candidate_sequences: 4 preferred_batch_size: [ 2, 4 ] }" + SEQUENCE),
    "sequence_text_id": sequence(
        'control_input { name: "ID" control { kind: CONTROL_SEQUENCE_CORRID '
        'data_type: TYPE_STRING } }'),
    "sequence_state": sequence(SEQUENCE + """
        state [
          { input_name: "si" output_name: "so" data_type: TYPE_INT32 dims: [ -1 ] },
          { input_name: "ti" output_name: "to" data_type: TYPE_FP32 dims: [ 2 ]
            use_same_buffer_for_input_output: true
            initial_state { name: "zero" data_type: TYPE_FP32 dims: [ 2 ] zero_data: true } },
          { input_name: "ui" output_name: "uo" data_type: TYPE_FP32 dims: [ 1 ]
            initial_state { name: "file" data_type: TYPE_FP32 dims: [ 1 ] data_file: "u" } } ]"""),
    "sequence_iterative": sequence("iterative_sequence: true" + SEQUENCE) +
                          "model_transaction_policy { decoupled: true }\n",
    # Ensembles.
    "pipeline": """platform: "ensemble" max_batch_size: 4
        input { name: "a" data_type: TYPE_FP32 dims: [ 16 ] }
        output { name: "c" data_type: TYPE_FP32 dims: [ 16 ] }
        ensemble_scheduling { step [
          { model_name: "dynamic" model_version: -1
            input_map { key: "x" value: "a" } output_map { key: "y" value: "b" } },
          { model_name: "priorities" model_version: 1
            input_map { key: "x" value: "b" } output_map { key: "y" value: "c" } } ] }""",
    # Instance groups.
    "groups": group('{ name: "gg" count: 1 kind: KIND_CPU }, { count: 2 }, { kind: KIND_MODEL }'),
    "group_passive": group('{ kind: KIND_CPU passive: true }, { kind: KIND_CPU }'),
    "group_policy": group('{ kind: KIND_CPU host_policy: "policy_0" }'),
    "group_devices": group('{ kind: KIND_CPU secondary_devices [ '
                           '{ kind: KIND_NVDLA device_id: 3 } ] }'),
    "group_limits": group('{ kind: KIND_CPU rate_limiter { priority: 2 resources [ '
                          '{ name: "R1" count: 4 }, { name: "R2" count: 2 global: true } ] } }'),
    # Optimization.
    "optimization_graph": optimization("graph { level: -1 } priority: PRIORITY_MAX"),
    "optimization_accelerators": optimization(
        'execution_accelerators { gpu_execution_accelerator [ { name: "tensorrt" '
        'parameters { key: "precision_mode" value: "FP16" } '
        'parameters { key: "max_workspace_size_bytes" value: "1073741824" } } ] '
        'cpu_execution_accelerator [ { name: "openvino" } ] }'),
    "optimization_cuda": optimization(
        'cuda { graphs: true busy_wait_events: true output_copy_stream: true graph_spec [ '
        '{ batch_size: 4 input { key: "x" value { dim: [ 16 ] } } '
        'graph_lower_bound { batch_size: 1 input { key: "x" value { dim: [ 8 ] } } } } ] }'),
    "optimization_memory": optimization(
        "input_pinned_memory { enable: false } output_pinned_memory { enable: true } "
        "gather_kernel_buffer_threshold: 1024 eager_batching: true"),
    # Other fields.
    "parameters": BATCHED + 'parameters { key: "b" value { string_value: "2" } }\n'
                  'parameters { key: "a" value { string_value: "line\\nbreak \\"\\\\ \\303\\244" } }\n',
    "metric_tags": BATCHED + 'metric_tags { key: "team" value: "x" }\n',
    "capability_files": BATCHED + 'cc_model_filenames { key: "7.5" value: "model_t4" }\n',
    "warmup": BATCHED + """model_warmup [
        { name: "w" batch_size: 0 count: 3
          inputs { key: "x" value { data_type: TYPE_FP32 dims: [ 16 ] random_data: true } }
          inputs { key: "s" value { data_type: TYPE_INT32 dims: [ ] zero_data: false } }
          inputs { key: "f" value { data_type: TYPE_FP32 dims: [ 2 ] input_data_file: "raw" } } } ]
        """,
    "operations": BATCHED + 'model_operations { op_library_filename: [ "libops.so" ] }\n',
    "decoupled": BATCHED + "model_transaction_policy { decoupled: true }\n",
    "not_decoupled": BATCHED + "model_transaction_policy { }\n",
    "response_cache": BATCHED + "response_cache { enable: true }\n",
    "runtime": 'backend: "mine" runtime: "libtriton_mine.so"\n' + XY,
    "text_forms": """# Comments, <> for {}, lists with and without brackets, ; and , between fields
        backend: "mi" 'ne';  max_batch_size: 0x8,
        input: < name: "x", data_type: TYPE_FP32; dims: 010 dims: -1 >
        output { name: "y" data_type: TYPE_FP32 dims: [ 16, ] }
        """.replace("[ 16, ]", "[ 16 ]"),
}

MODEL_FILES = {
    "savedmodel": "model.savedmodel", "graphdef": "model.graphdef", "libtorch": "model.pt",
    "pytorch_backend": "model.pt", "openvino": "model.xml", "own_file": "weights.bin",
    "operations": "libops.so",
}
ONNX = ("onnx_platform", "onnx_completed", "onnx_alone", "file_told")
FILES = {
    "labels": {"labels.txt": b"a\nb\nc\nd\n"},
    "sequence_state": {"initial_state/u": b"\0\0\0\0"},
    "warmup": {"warmup/raw": b"\0" * 8},
}


def write(root, graph):
    """The repository; `graph` is the content of an ONNX file."""
    for name, text in CONFIGS.items():
        version = root / name / "1"
        version.mkdir(parents=True)
        if text:
            (root / name / "config.pbtxt").write_text(text)
        if name in ONNX:
            (version / "model.onnx").write_bytes(graph)
        elif name == "savedmodel":
            (version / MODEL_FILES[name]).mkdir()
        else:
            (version / MODEL_FILES.get(name, "model.plan")).write_bytes(b"")
        for path, content in FILES.get(name, {}).items():
            (root / name / path).parent.mkdir(exist_ok=True)
            (root / name / path).write_bytes(content)
