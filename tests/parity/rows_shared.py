# SPDX-License-Identifier: Apache-2.0
"""Rows about shared memory. The C API does not have these operations, nor such tensors.

The server "shared" lets clients register regions; the others do not, which is the default.
"""

import os

from asks import Output, Tensor, ask
from rows import OWN_CHECK, OWN_TYPES, PROTOCOLS, TENSORS, Row, json_type, on_http

# The object of the rows, which the server's fixture creates.
KEY = f"/nereid_parity_{os.getpid()}"
OBJECT_SIZE = 1 << 16
PAGE = 4096
HANDLE = bytes(64)  # of the size of a handle of CUDA

BEHIND = TENSORS[:-1]  # the doors of infer, without the C API
KINDS = ("system", "cuda")


def _ask(action, region="", kind="system", **more):
    return ask("shared_memory", kind=kind, action=action, region=region, **more)


CLEAN = (_ask("unregister"),)
REGISTERED = (_ask("register", "parity", key=KEY, byte_size=OBJECT_SIZE),)


def _row(name, question, code="OK", before=(), **more):
    return Row(f"shared_memory/{name}", question, code, doors=PROTOCOLS, before=before,
               after=CLEAN, server="shared", **more)


def _register(name, code, region="parity", *, before=(), kind="system", **more):
    differs = {k: more.pop(k) for k in ("differs", "why") if k in more}
    return _row(f"register_{name}", _ask("register", region, kind, **{"key": KEY, **more}), code,
                before, **differs)


OFF = [
    Row(f"shared_memory/off_{kind}_{action}{'_region' if region else ''}",
        _ask(action, region, kind, handle=HANDLE), code, doors=PROTOCOLS)
    for kind in KINDS
    for action, region, code in (
        ("register", "parity", "UNSUPPORTED"), ("unregister", "", "UNSUPPORTED"),
        ("unregister", "parity", "UNSUPPORTED"), ("status", "", "OK"),
        ("status", "parity", "NOT_FOUND"))
]

REGISTER = [
    _register("right", "OK"),
    _register("right_whole_object", "OK", byte_size=OBJECT_SIZE),
    _register("right_at_offset", "OK", offset=PAGE, byte_size=OBJECT_SIZE - PAGE),
    _register("right_without_slash", "OK", key=KEY[1:]),
    _register("right_again_after_unregister", "OK", before=REGISTERED + CLEAN),
    _register("twice", "ALREADY_EXISTS", before=REGISTERED),
    _register("of_absent_object", "NOT_FOUND", key="/nereid_parity_absent"),
    _register("of_directory", "INVALID_ARG", key=".."),
    _register("key_empty", "INVALID_ARG", key=""),
    _register("key_of_slashes", "INVALID_ARG", key="///"),
    _register("key_with_slash", "INVALID_ARG", key="/a/b"),
    _register("key_that_climbs", "INVALID_ARG", key="/../../etc/hostname"),
    _register("key_reserved", "INVALID_ARG", key="/triton_python_backend_shm_region_1"),
    _register("key_too_long", "INVALID_ARG", key="/" + 256 * "k"),
    _register("name_too_long", "INVALID_ARG", 1025 * "n"),
    _register("size_of_zero", "INVALID_ARG", byte_size=0),
    _register("size_too_large", "INVALID_ARG", byte_size=OBJECT_SIZE + 1),
    _register("size_that_overflows", "INVALID_ARG", byte_size=(1 << 64) - 1),
    _register("end_too_large", "INVALID_ARG", offset=PAGE, byte_size=OBJECT_SIZE),
    _register("end_that_overflows", "INVALID_ARG", offset=(1 << 64) - PAGE, byte_size=2 * PAGE),
    _register("offset_inside_a_page", "INVALID_ARG", offset=1),
    _register("cuda", "INVALID_ARG", kind="cuda", handle=HANDLE),
    _register("cuda_of_system_name", "ALREADY_EXISTS", kind="cuda", handle=HANDLE,
              before=REGISTERED),
]

STATUS = [
    _row("status_of_none", _ask("status")),
    _row("status_of_all", _ask("status"), before=REGISTERED + (
        _ask("register", "second", key=KEY, offset=PAGE, byte_size=PAGE),)),
    _row("status_of_one", _ask("status", "parity"), before=REGISTERED),
    _row("status_of_unknown", _ask("status", "absent"), "NOT_FOUND", before=REGISTERED),
    _row("status_of_unregistered", _ask("status", "parity"), "NOT_FOUND",
         before=REGISTERED + (_ask("unregister", "parity"),)),
    _row("cuda_status_of_all", _ask("status", kind="cuda"), before=REGISTERED),
    _row("cuda_status_of_unknown", _ask("status", "absent", "cuda"), "NOT_FOUND"),
    _row("cuda_status_of_system_name", _ask("status", "parity", "cuda"), "NOT_FOUND",
         before=REGISTERED),
    _row("unregister", _ask("unregister", "parity"), before=REGISTERED),
    _row("unregister_unknown", _ask("unregister", "absent")),
    _row("unregister_all", _ask("unregister"), before=REGISTERED),
    _row("unregister_all_of_none", _ask("unregister")),
    _row("cuda_unregister_of_system_name", _ask("unregister", "parity", "cuda"),
         before=REGISTERED),
    _row("cuda_unregister_leaves_system_regions", _ask("status", "parity"),
         before=REGISTERED + (_ask("unregister", kind="cuda"),)),
]


def _part(region="parity", offset=None, byte_size=16):
    made = {"shared_memory_region": region, "shared_memory_byte_size": byte_size}
    return made if offset is None else {**made, "shared_memory_offset": offset}


def _input(parameters, shape=(4,), datatype="INT32"):
    return Tensor("INPUT0", datatype, shape, tuple(range(shape[0])), parameters=parameters)


def _infer(name, code="OK", inputs=None, outputs=(), *, model="plain", before=REGISTERED,
           doors=BEHIND, **more):
    inputs = (_input({}),) if inputs is None else inputs
    return Row(f"shared_memory/infer_{name}",
               ask("infer", model=model, inputs=inputs, outputs=outputs), code, doors=doors,
               before=before, after=CLEAN, server="shared", **more)


def _infer_in(name, code, parameters, **more):
    return _infer(name, code, (_input(parameters),), **more)


def _infer_out(name, code, parameters, **more):
    return _infer(name, code, None, (Output("OUTPUT0", parameters=parameters),), **more)


CLASSES = on_http("INVALID_ARG",
                  "Output can't set both 'shared_memory_region' and 'classification'")

INFER = [
    _infer_in("right_input", "OK", _part()),
    _infer_in("right_input_at_offset", "OK", _part(offset=OBJECT_SIZE - 16)),
    _infer_out("right_output", "OK", _part(offset=PAGE)),
    _infer_out("right_output_with_room", "OK", _part(offset=PAGE, byte_size=64)),
    _infer("right_both", "OK", (_input(_part()),),
           (Output("OUTPUT0", parameters=_part(offset=PAGE)),)),
    _infer("right_empty", "OK", (_input(_part(byte_size=0), (0,), "BYTES"),), model="text"),
    _infer_in("input_of_unknown_region", "NOT_FOUND", _part("absent")),
    _infer_in("input_of_unregistered_region", "NOT_FOUND", _part(),
              before=REGISTERED + CLEAN),
    _infer_in("input_where_it_is_off", "NOT_FOUND", _part(), before=()),
    _infer_in("input_at_the_end", "INVALID_ARG", _part(offset=OBJECT_SIZE)),
    _infer_in("input_beyond_the_end", "INVALID_ARG", _part(offset=OBJECT_SIZE - 15)),
    _infer_in("input_larger_than_region", "INVALID_ARG", _part(byte_size=OBJECT_SIZE + 1)),
    _infer_in("input_that_overflows", "INVALID_ARG", _part(offset=1, byte_size=(1 << 63) - 1)),
    _infer_in("input_of_too_few_bytes", "INVALID_ARG", _part(byte_size=12)),
    _infer_in("input_of_too_many_bytes", "INVALID_ARG", _part(byte_size=20)),
    _infer_in("input_of_negative_offset", "INVALID_ARG", _part(offset=-1), why=OWN_TYPES,
              differs=on_http(*json_type("shared_memory_offset", "unsigned-integer"))),
    _infer_in("input_without_byte_size", "INVALID_ARG", {"shared_memory_region": "parity"},
              why=OWN_CHECK,
              differs={door: ("INVALID_ARG", "'shared_memory_byte_size' must be specified along "
                              "with 'shared_memory_region' parameter for tensor 'INPUT0'")
                       for door in ("grpc", "grpc_contents", "grpc_stream")}),
    _infer_out("output_in_unknown_region", "NOT_FOUND", _part("absent")),
    _infer_out("output_at_the_end", "INVALID_ARG", _part(offset=OBJECT_SIZE)),
    _infer_out("output_larger_than_region", "INVALID_ARG", _part(byte_size=OBJECT_SIZE + 1)),
    _infer_out("output_without_room", "INTERNAL", _part(byte_size=15)),
    _infer_out("output_of_negative_size", "INVALID_ARG", _part(byte_size=-1), why=OWN_TYPES,
               differs=on_http(*json_type("shared_memory_byte_size", "unsigned-integer"))),
    _infer("output_with_classes", "INVALID_ARG", None,
           (Output("OUTPUT0", 1, _part(offset=PAGE)),), differs=CLASSES,
           why="Triton's words, with one capital letter"),
    _infer("strings_that_are_none", "INVALID_ARG", (_input(_part(), (1,), "BYTES"),),
           model="text"),
]

ROWS = OFF + REGISTER + STATUS + INFER
