# SPDX-License-Identifier: Apache-2.0
"""Rows about who may do what: "guarded" knows nobody (an empty access file), "managed" serves
management at an address of its own. The C API has no callers to tell apart."""

from asks import Tensor, ask
from rows import PROTOCOLS, Row

INPUTS = (Tensor("INPUT0", "INT32", (4,), (1, 2, 3, 4)),)
# Without the stream, which is refused as a whole: its status is that of no request.
OVER_WIRE = ("http", "http_binary", "grpc", "grpc_contents")
CHANGE_LOG = {"log_verbose_level": 0}
CHANGE_TRACE = {"trace_rate": "1000"}


def _refused(server, code, name, question, doors=PROTOCOLS):
    return Row(f"access/{server}_{name}", question, code, doors=doors, server=server)


def _nobody(name, question, **more):
    return _refused("guarded", "UNAUTHENTICATED", name, question, **more)


def _elsewhere(name, question, code="FORBIDDEN"):
    return _refused("managed", code, name, question)


ROWS = [
    _refused("guarded", "OK", "server_live", ask("server_live")),
    _refused("guarded", "OK", "server_ready", ask("server_ready")),
    _nobody("server_metadata", ask("server_metadata")),
    _nobody("model_ready", ask("model_ready", model="plain")),
    _nobody("model_ready_of_absent", ask("model_ready", model="absent")),
    _nobody("model_metadata", ask("model_metadata", model="plain")),
    _nobody("model_config", ask("model_config", model="plain")),
    _nobody("model_statistics", ask("model_statistics")),
    _nobody("repository_index", ask("repository_index")),
    _nobody("model_load", ask("model_load", model="spare")),
    _nobody("model_unload", ask("model_unload", model="spare")),
    _nobody("log_settings", ask("log_settings")),
    _nobody("trace_settings", ask("trace_settings")),
    _nobody("trace_settings_of_a_model", ask("trace_settings", model="plain")),
    _nobody("shared_memory_status", ask("shared_memory", kind="system", action="status")),
    _nobody("shared_memory_register",
            ask("shared_memory", kind="cuda", action="register", region="r")),
    _nobody("infer", ask("infer", model="plain", inputs=INPUTS), doors=OVER_WIRE),
    _nobody("infer_of_absent", ask("infer", model="absent", inputs=INPUTS), doors=OVER_WIRE),
    _elsewhere("model_load", ask("model_load", model="spare")),
    _elsewhere("model_unload", ask("model_unload", model="spare")),
    _elsewhere("log_change", ask("log_settings", settings=CHANGE_LOG)),
    _elsewhere("log_read", ask("log_settings"), "OK"),
    _elsewhere("trace_change", ask("trace_settings", settings=CHANGE_TRACE)),
    _elsewhere("trace_change_of_a_model",
               ask("trace_settings", settings=CHANGE_TRACE, model="plain")),
    _elsewhere("trace_read", ask("trace_settings"), "OK"),
    _elsewhere("repository_index", ask("repository_index"), "OK"),
    _elsewhere("shared_memory_register",
               ask("shared_memory", kind="system", action="register", region="r")),
]
