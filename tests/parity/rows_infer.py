# SPDX-License-Identifier: Apache-2.0
"""Rows about inference."""

from asks import Output, Tensor, ask
from rows import OWN_CHECK, OWN_TYPES, TENSORS, Row, json_type, on_http

PROTOCOLS = TENSORS[:-1]
HTTP = TENSORS[:2]
GRPC = TENSORS[2:5]
RAW = ("http_binary", "grpc", "grpc_stream", "c")  # doors that send bytes

FOUR = (1, 2, 3, 4)


def ints(name="INPUT0", shape=(4,), values=FOUR, datatype="INT32", **more):
    return Tensor(name, datatype, shape, values, **more)


def batch(items=1, **more):
    return ints(shape=(items, 4), values=FOUR * items, **more)


def _infer(kind, code="OK", model="plain", inputs=None, *, doors=TENSORS, differs=None, why="",
           server="explicit", before=(), after=(), **arguments):
    inputs = (ints(),) if inputs is None else inputs
    return Row(f"infer/{kind}", ask("infer", model=model, inputs=inputs, **arguments), code,
               doors=doors, differs=differs or {}, why=why, server=server, before=before,
               after=after)


def _right_datatypes():
    """Returns one row for each datatype of the wire."""
    return [
        _infer("right_bytes", model="text",
               inputs=(Tensor("INPUT0", "BYTES", (3,), ("one", "", "\N{SNOWMAN}")),)),
        _infer("right_floats", model="classifier",
               inputs=(Tensor("INPUT0", "FP32", (3,), (0.5, -1.5, 1e10)),)),
        _infer("right_no_elements", model="text", inputs=(Tensor("INPUT0", "BYTES", (0,), ()),)),
    ]


RIGHT = [
    _infer("right"),
    _infer("right_id", request_id="number 7"),
    _infer("right_version", model="several", version="1"),
    _infer("right_latest_version", model="several"),
    _infer("right_batch", model="batched", inputs=(batch(3),)),
    _infer("right_ensemble", model="pipeline", inputs=(ints("x"),)),
    _infer("right_two_inputs", model="pair", inputs=(ints("INPUT0"), ints("INPUT1"))),
    _infer("right_output", outputs=(Output("OUTPUT0"),)),
    _infer("right_one_of_two_outputs", model="pair", inputs=(ints("INPUT0"), ints("INPUT1")),
           outputs=(Output("OUTPUT1"),)),
    _infer("right_output_twice", outputs=(Output("OUTPUT0"), Output("OUTPUT0")),
           doors=PROTOCOLS),
    *_right_datatypes(),
    _infer("right_parameters", parameters={"text": "a", "whole": 7, "switch": True,
                                           "real": 0.5}),
    _infer("right_sequence_ids_without_sequences", parameters={
        "sequence_id": 7, "sequence_start": True, "sequence_end": True}),
    _infer("right_classification", model="classifier", outputs=(Output("OUTPUT0", 2),),
           inputs=(Tensor("INPUT0", "FP32", (3,), (0.25, 4, 2)),), doors=PROTOCOLS),
    _infer("right_classification_of_more", model="classifier", outputs=(Output("OUTPUT0", 9),),
           inputs=(Tensor("INPUT0", "FP32", (3,), (0.25, 4, 2)),), doors=PROTOCOLS),
    _infer("right_priority", model="levels", inputs=(batch(),), parameters={"priority": 1}),
    _infer("right_priority_zero", model="levels", inputs=(batch(),), parameters={"priority": 0}),
    _infer("right_priority_beyond_levels", model="levels", inputs=(batch(),),
           parameters={"priority": 4}),
    _infer("right_priority_without_levels", model="batched", inputs=(batch(),),
           parameters={"priority": 5}),
    _infer("right_timeout", model="cancelling", inputs=(batch(),),
           parameters={"timeout": 60_000_000}),
    _infer("right_timeout_zero", model="cancelling", inputs=(batch(),), parameters={"timeout": 0}),
]

def _typed(key, kind, value, expected):
    """Returns the rows for a parameter of a type other than `expected`, with the names of JSON's
    types. The C API has its own type for each of these values, except for the last one."""
    return _infer(kind, "INVALID_ARG", model="sequence", inputs=(batch(),), doors=PROTOCOLS,
                  parameters={"sequence_id": 7, "sequence_start": True, "sequence_end": True,
                              key: value},
                  differs=on_http(*json_type(key, expected)), why=OWN_TYPES)


_BOTH_ENDS = {"sequence_start": True, "sequence_end": True}


def _sequence(kind, code="OK", model="sequence", inputs=None, parameters=None, **more):
    return _infer(f"sequence_{kind}", code, model,
                  (batch(),) if inputs is None else inputs, parameters=parameters or {}, **more)


def _part(**flags):
    return ask("infer", model="sequence", inputs=(batch(),),
               parameters={"sequence_id": 99, **flags})


SEQUENCES = [
    _sequence("right_number", parameters={"sequence_id": 7, **_BOTH_ENDS}),
    _sequence("right_largest_int", parameters={"sequence_id": 2**63 - 1, **_BOTH_ENDS}),
    _sequence("right_text", parameters={"sequence_id": "seven", **_BOTH_ENDS}),
    _sequence("right_text_of_128", parameters={"sequence_id": "x" * 128, **_BOTH_ENDS}),
    _sequence("right_text_of_128_bytes", parameters={"sequence_id": "\N{SNOWMAN}" * 42,
                                                     **_BOTH_ENDS}),
    _sequence("right_end", parameters={"sequence_id": 99, "sequence_end": True},
              before=(_part(sequence_start=True),)),
    _sequence("text_of_129", "UNSUPPORTED", parameters={"sequence_id": "x" * 129, **_BOTH_ENDS}),
    _sequence("text_of_129_bytes", "UNSUPPORTED",
              parameters={"sequence_id": "\N{SNOWMAN}" * 43, **_BOTH_ENDS}),
    _sequence("text_of_129_with_id", "UNSUPPORTED", request_id="seven",
              parameters={"sequence_id": "x" * 129, **_BOTH_ENDS}),
    _sequence("text_of_129_without_sequences", "UNSUPPORTED", model="plain", inputs=(ints(),),
              parameters={"sequence_id": "x" * 129}),
    _sequence("no_id", "INVALID_ARG", parameters=_BOTH_ENDS),
    _sequence("id_zero", "INVALID_ARG", parameters={"sequence_id": 0, **_BOTH_ENDS}),
    _sequence("id_empty", "INVALID_ARG", parameters={"sequence_id": "", **_BOTH_ENDS}),
    _sequence("no_start", "INVALID_ARG", parameters={"sequence_id": 12}),
    _sequence("no_start_of_text", "INVALID_ARG", parameters={"sequence_id": "twelve"}),
    _sequence("batch_of_two", "INVALID_ARG", inputs=(batch(2),),
              parameters={"sequence_id": 7, **_BOTH_ENDS}),
    _sequence("number_for_a_model_of_texts", "INVALID_ARG", model="texts_only",
              parameters={"sequence_id": 7, **_BOTH_ENDS}),
    _typed("sequence_id", "sequence_id_of_switch", True, "unsigned-integer"),
    _typed("sequence_id", "sequence_id_real", 1.5, "unsigned-integer"),
    _typed("sequence_start", "sequence_start_of_text", "yes", "boolean"),
    _typed("sequence_end", "sequence_end_of_number", 1, "boolean"),
    # Over gRPC a negative number becomes the unsigned number with the same bits, as in Triton.
    _sequence("id_negative", "INVALID_ARG", parameters={"sequence_id": -7, **_BOTH_ENDS},
              doors=HTTP),
    _sequence("id_negative_over_grpc", parameters={"sequence_id": -7, **_BOTH_ENDS}, doors=GRPC),
]

WRONG_MODELS = [
    _infer("unknown_model", "NOT_FOUND", model="absent"),
    _infer("unknown_model_and_version", "NOT_FOUND", model="absent", version="1"),
    _infer("unknown_version", "NOT_FOUND", version="7"),
    _infer("version_not_served", "NOT_FOUND", model="several", version="2"),
    _infer("version_out_of_range", "INVALID_ARG", version="99999999999999999999",
           doors=PROTOCOLS),
    _infer("version_of_letters", "INVALID_ARG", version="one", doors=GRPC),
    _infer("not_loaded", "NOT_FOUND", model="spare"),
    _infer("failed_to_load", "NOT_FOUND", model="broken", server="unready"),
    _infer("unloaded", "NOT_FOUND", model="spare",
           before=(ask("model_load", model="spare"), ask("model_unload", model="spare"))),
    _infer("decoupled_model", "UNSUPPORTED", model="decoupled", doors=PROTOCOLS, why=OWN_CHECK,
           differs={**on_http("UNSUPPORTED", "HTTP end point doesn't support models with "
                                             "decoupled transaction policy"),
                    "grpc_stream": ("OK", "")}),
]

NOT_THE_SHAPE = ("INVALID_ARG",
                 "Unable to parse 'data': Shape does not match true shape of 'data' field")

WRONG_TENSORS = [
    _infer("no_inputs", "INVALID_ARG", inputs=()),
    _infer("missing_input", "INVALID_ARG", model="pair"),
    _infer("missing_input_with_id", "INVALID_ARG", model="pair", request_id="seven"),
    _infer("unexpected_input", "INVALID_ARG", inputs=(ints("NOPE"),)),
    _infer("additional_input", "INVALID_ARG", inputs=(ints(), ints("NOPE"))),
    _infer("input_twice", "INVALID_ARG", inputs=(ints(), ints())),
    _infer("input_without_name", "INVALID_ARG", inputs=(ints(""),)),
    _infer("datatype", "INVALID_ARG", inputs=(ints(datatype="UINT32"),)),
    _infer("datatype_of_other_size", "INVALID_ARG", inputs=(ints(datatype="INT64"),)),
    _infer("datatype_with_id", "INVALID_ARG", inputs=(ints(datatype="INT64"),),
           request_id="seven"),
    _infer("datatype_unknown", "INVALID_ARG",
           inputs=(ints(datatype="NOPE", raw=bytes(16)),), doors=RAW),
    _infer("shape_of_other_size", "INVALID_ARG", inputs=(ints(shape=(5,), values=FOUR + (5,)),)),
    _infer("shape_of_other_rank", "INVALID_ARG", inputs=(ints(shape=(2, 2)),)),
    _infer("shape_empty", "INVALID_ARG", inputs=(ints(shape=(), values=(1,)),)),
    _infer("shape_zero", "INVALID_ARG", inputs=(ints(shape=(0,), values=()),)),
    _infer("shape_negative", "INVALID_ARG", inputs=(ints(shape=(-1,)),), why=OWN_TYPES,
           differs=on_http(*json_type("shape", "unsigned-integer"))),
    _infer("shape_of_batch_too_large", "INVALID_ARG", model="batched", inputs=(batch(5),)),
    _infer("shape_without_batch", "INVALID_ARG", model="batched"),
    _infer("shape_batch_of_zero", "INVALID_ARG", model="batched", inputs=(batch(0),)),
    _infer("shape_of_ensemble", "INVALID_ARG", model="pipeline",
           inputs=(ints("x", shape=(5,), values=FOUR + (5,)),)),
    _infer("too_few_bytes", "INVALID_ARG", inputs=(ints(raw=bytes(12)),), doors=RAW),
    _infer("too_many_bytes", "INVALID_ARG", inputs=(ints(raw=bytes(20)),), doors=RAW),
    _infer("no_bytes", "INVALID_ARG", inputs=(ints(raw=b""),), doors=RAW),
    _infer("bytes_without_length", "INVALID_ARG", model="text", doors=RAW,
           inputs=(Tensor("INPUT0", "BYTES", (1,), (), raw=b"abc"),)),
    _infer("bytes_too_few_elements", "INVALID_ARG", model="text",
           inputs=(Tensor("INPUT0", "BYTES", (2,), ("one",)),), doors=RAW),
    _infer("bytes_longer_than_there_are", "INVALID_ARG", model="text", doors=RAW,
           inputs=(Tensor("INPUT0", "BYTES", (1,), (), raw=b"\x09\x00\x00\x00abc"),)),
    _infer("too_few_values", "INVALID_ARG", inputs=(ints(values=(1, 2, 3)),),
           doors=("http", "grpc_contents"), differs={"http": NOT_THE_SHAPE}, why=OWN_CHECK),
    _infer("too_many_values", "INVALID_ARG", inputs=(ints(values=FOUR + (5,)),),
           doors=("http", "grpc_contents"), differs={"http": NOT_THE_SHAPE}, why=OWN_CHECK),
]

NO_COUNT = ("INVALID_ARG", "Unable to set 'classification': attempt to access JSON "
                        "non-unsigned-integer as unsigned-integer")

WRONG_OUTPUTS = [
    _infer("unknown_output", "INVALID_ARG", outputs=(Output("NOPE"),)),
    _infer("unknown_output_beside_right", "INVALID_ARG",
           outputs=(Output("OUTPUT0"), Output("NOPE"))),
    _infer("unknown_output_of_ensemble", "INVALID_ARG", model="pipeline", inputs=(ints("x"),),
           outputs=(Output("NOPE"),)),
    _infer("output_without_name", "INVALID_ARG", outputs=(Output(""),)),
    _infer("classification_negative", "INVALID_ARG", outputs=(Output("OUTPUT0", -1),),
           doors=PROTOCOLS, differs=on_http(*NO_COUNT), why=OWN_TYPES),
    _infer("classification_of_text", "INVALID_ARG", outputs=(Output("OUTPUT0", "two"),),
           doors=PROTOCOLS, differs=on_http(*NO_COUNT), why=OWN_TYPES),
    _infer("classification_of_texts", "INVALID_ARG", model="text",
           inputs=(Tensor("INPUT0", "BYTES", (1,), ("one",)),),
           outputs=(Output("OUTPUT0", 1),), doors=PROTOCOLS),
]

WRONG_PARAMETERS = [
    _infer("parameter_reserved", "INVALID_ARG", parameters={"triton_nope": "a"}, doors=PROTOCOLS,
           why="Triton's: a parameter that gRPC alone has",
           differs=on_http("INVALID_ARG", "parameter keys starting with 'triton_' are reserved for "
                                          "Triton usage and should not be specified.")),
    _infer("parameter_without_value", "INVALID_ARG", parameters={"nope": None}, doors=PROTOCOLS,
           why=OWN_TYPES,
           differs=on_http("INVALID_ARG", "parameter 'nope' has invalid type. It should be either "
                                          "'int', 'double', 'bool', or 'string'.")),
    _typed("priority", "priority_of_text", "high", "unsigned-integer"),
    _typed("priority", "priority_negative", -1, "unsigned-integer"),
    _typed("timeout", "timeout_of_text", "soon", "unsigned-integer"),
    _typed("timeout", "timeout_real", 1.5, "unsigned-integer"),
]


def _generate(kind, code="OK", model="text", body=None, **more):
    """Rows for HTTP only: neither gRPC nor the C API have generate."""
    body = {"INPUT0": "hello"} if body is None else body
    return Row(f"generate/{kind}", ask("generate", model=model, body=body, **more), code,
               doors=("http",))


GENERATE = [
    _generate("right"),
    _generate("right_id", body={"INPUT0": "hello", "id": "seven"}),
    _generate("right_list", body={"INPUT0": ["hello"]}),
    _generate("right_stream", stream=True),
    _generate("right_version", version="1"),
    _generate("unknown_model", "NOT_FOUND", model="absent"),
    _generate("unknown_version", "NOT_FOUND", version="7"),
    _generate("not_loaded", "NOT_FOUND", model="spare"),
    _generate("missing_input", "INVALID_ARG", body={"other": "hello"}),
    _generate("wrong_datatype", "INVALID_ARG", body={"INPUT0": 7}),
    _generate("wrong_shape", "INVALID_ARG", model="plain", body={"INPUT0": [1, 2, 3]}),
    _generate("parameter_of_list", "INVALID_ARG", body={"INPUT0": "hello", "nope": [1]}),
    _generate("unknown_model_stream", "NOT_FOUND", model="absent", stream=True),
    _generate("missing_input_stream", "INVALID_ARG", body={"other": "hello"}, stream=True),
]

ROWS = (RIGHT + SEQUENCES + WRONG_MODELS + WRONG_TENSORS + WRONG_OUTPUTS + WRONG_PARAMETERS
        + GENERATE)
