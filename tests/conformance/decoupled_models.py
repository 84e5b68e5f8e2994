# SPDX-License-Identifier: Apache-2.0
"""Models with several responses to a request (tests/plugins), and the requests for them."""

import numpy as np
from config_models import put_plugin
from grpc_raw import infer_request, tensor
from models import ONE_CPU_INSTANCE, Repository, _tensor

DECOUPLED = "model_transaction_policy { decoupled: true }\n"


def write(plugins):
    """Returns a function that writes the repository. `plugins` is the folder with the libraries."""
    def write_models(root):
        repository = Repository(root)
        repeat = ('backend: "repeat"\n' + _tensor("input", "IN", "INT32", [-1])
                  + _tensor("input", "DELAY", "UINT32", [-1])
                  + _tensor("input", "WAIT", "UINT32", [1])
                  + _tensor("output", "OUT", "INT32", [1])
                  + _tensor("output", "IDX", "UINT32", [1]) + DECOUPLED + ONE_CPU_INSTANCE)
        last = 'parameters { key: "final_with_last" value: { string_value: "true" } }\n'
        square = ('backend: "square"\n' + _tensor("input", "IN", "INT32", [1])
                  + _tensor("output", "OUT", "INT32", [1]) + DECOUPLED + ONE_CPU_INSTANCE)
        for name, plugin, config in (
                ("repeat_int32", "repeat", repeat), ("repeat_counted", "repeat", repeat),
                ("repeat_last", "repeat", repeat + last), ("square_int32", "square", square),
                ("square_counted", "square", square), ("square_measured", "square", square)):
            put_plugin(repository._write(name, config, (1,)), plugins / f"libtriton_{plugin}.so")
        for name, extra in (("faults", DECOUPLED), ("faults_single", "")):
            repository.identity(name, [("UINT8", [-1])], extra=extra + ONE_CPU_INSTANCE,
                                backend="decoupled_faults")
            put_plugin(root / name, plugins / "libtriton_decoupled_faults.so")
        echo = 'parameters { key: "echo_parameters" value: { string_value: "true" } }\n'
        repository.identity("plain", [("INT32", [-1])], extra=echo)
        repository.identity("text", [("BYTES", [-1])], extra=echo)
        repository.identity("half", [("FP16", [-1])])
        repository.identity("floats", [("FP32", [-1])], batch=8)
        repository.identity("rows", [("INT32", [2, -1])])
        repository.identity("batch", [("INT32", [4])], batch=8)
        repository.identity("pair", [("INT32", [-1]), ("BYTES", [-1])])
        for name in ("parameters", "id"):
            repository._write(f"named_{name}", 'backend: "identity"\n'
                              + _tensor("input", name, "BYTES", [-1])
                              + _tensor("output", "OUTPUT0", "BYTES", [-1]), (1,))
    return write_models


def repeat(values, delays=None, wait=0, model="repeat_int32", **kwargs):
    """Returns a request whose responses are `values`, each after its delay in ms."""
    values = np.array(values, np.int32)
    delays = np.array(delays if delays is not None else [0] * len(values), np.uint32)
    return infer_request(
        model, [tensor("IN", "INT32", [len(values)]), tensor("DELAY", "UINT32", [len(delays)]),
                tensor("WAIT", "UINT32", [1])],
        [values.tobytes(), delays.tobytes(), np.array([wait], np.uint32).tobytes()], **kwargs)


def square(value, model="square_int32", **kwargs):
    return infer_request(model, [tensor("IN", "INT32", [1])],
                         [np.array([value], np.int32).tobytes()], **kwargs)


def fault(name, count=1, size=1, model="faults", **kwargs):
    """Returns a request to the plug-in that violates the given rule."""
    return infer_request(model, [tensor("INPUT0", "UINT8", [size])], [b"\7" * size],
                         parameters={"fault": name, "count": count}, **kwargs)


def int_of(response, place=0) -> int:
    """Returns the only element of an output."""
    return int(np.frombuffer(response.infer_response.raw_output_contents[place], np.int32)[0])


def is_final(response) -> bool:
    return response.infer_response.parameters["triton_final_response"].bool_param
