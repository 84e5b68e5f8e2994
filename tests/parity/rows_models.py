# SPDX-License-Identifier: Apache-2.0
"""Rows about the server, its models and its repository."""

import json

from asks import ask
from rows import PROTOCOLS, Row, json_type

SERVER = [
    Row("server_live/right", ask("server_live")),
    Row("server_ready/right", ask("server_ready")),
    Row("server_ready/a_model_failed", ask("server_ready"), server="unready"),
    Row("server_live/a_model_failed", ask("server_live"), server="unready"),
    Row("server_metadata/right", ask("server_metadata")),
]


ODD_NAME = "a b'\"<\N{SNOWMAN}"


def _of_model(operation, *, not_found, version_failed):
    """Returns the rows of an operation about one model: the valid one, and each way to name a model
    wrongly. `not_found` is the code for a model that does not exist or does not serve;
    `version_failed` is the code for a version that exists and could not be loaded."""
    def row(kind, code="OK", **arguments):
        settings = {k: arguments.pop(k) for k in ("server", "doors", "differs", "why")
                    if k in arguments}
        return Row(f"{operation}/{kind}", ask(operation, **arguments), code, **settings)

    made = [
        row("right", model="plain"),
        row("right_of_an_ensemble", model="pipeline"),
        row("right_version", model="several", version="3"),
        row("right_latest_of_several", model="several"),
        row("unknown_model", not_found, model="absent"),
        row("unknown_model_and_version", not_found, model="absent", version="1"),
        row("unknown_version", not_found, model="plain", version="7"),
        row("version_not_served", not_found, model="several", version="2"),
        row("version_zero", not_found, model="plain", version="0"),
        row("not_loaded", not_found, model="spare"),
        row("failed_to_load", not_found, model="broken", server="unready"),
        row("failed_to_load_version", version_failed, model="broken", version="1",
            server="unready"),
        row("version_out_of_range", "INVALID_ARG", model="plain", version="99999999999999999999",
            doors=PROTOCOLS),
    ]
    return [*made, row("name_with_odd_characters", not_found, model=ODD_NAME)]


def _versions_as_text(operation):
    """HTTP's paths contain only digits. Other texts are sent over gRPC only, and must get the same
    error for each operation."""
    return [Row(f"{operation}/version_{kind}", ask(operation, model="plain", version=text),
                "INVALID_ARG", doors=("grpc",))
            for kind, text in (("of_letters", "one"), ("negative", "-2"))]


MODELS = (
    _of_model("model_ready", not_found="OK", version_failed="OK")
    + _of_model("model_metadata", not_found="NOT_FOUND", version_failed="UNAVAILABLE")
    + _of_model("model_config", not_found="NOT_FOUND", version_failed="UNAVAILABLE")
    + _of_model("model_statistics", not_found="INVALID_ARG", version_failed="INVALID_ARG")
    + [Row("model_statistics/right_of_all", ask("model_statistics"))]
    # HTTP has no path without a name.
    + [Row(f"{operation}/name_empty", ask(operation, model=""), code, doors=("grpc", "c"))
       for operation, code in (("model_ready", "OK"), ("model_metadata", "NOT_FOUND"),
                               ("model_config", "NOT_FOUND"))]
    + [row for operation in ("model_ready", "model_metadata", "model_config", "model_statistics")
       for row in _versions_as_text(operation)]
)

INDEX = [
    Row("repository_index/right", ask("repository_index")),
    Row("repository_index/right_ready_only", ask("repository_index", ready=True)),
    Row("repository_index/right_ready_or_not", ask("repository_index", ready=False)),
    Row("repository_index/a_model_failed", ask("repository_index"), server="unready"),
    # Over HTTP Triton ignores the name and returns the whole index.
    Row("repository_index/repository_name", ask("repository_index", repository="other"),
        "UNSUPPORTED", doors=("grpc",)),
    Row("repository_index/repository_name_over_http",
        ask("repository_index", ready=True, repository="other"), doors=("http",)),
]


def _config(**changes):
    tensor = {"data_type": "TYPE_INT32", "dims": [4]}
    return json.dumps({"backend": "identity", "max_batch_size": 0,
                       "input": [{"name": "INPUT0", **tensor}],
                       "output": [{"name": "OUTPUT0", **tensor}],
                       "instance_group": [{"kind": "KIND_CPU", "count": 1}], **changes})


def _load(kind, code="OK", model="spare", parameters=None, *, judged=None, **settings):
    """`judged` is a second operation whose answer shows the effect of the load."""
    load = ask("model_load", model=model, **({"parameters": parameters} if parameters else {}))
    return Row(f"model_load/{kind}", judged or load, code,
               before=(*settings.pop("before", ()), *((load,) if judged else ())),
               after=(ask("model_unload", model="spare"),), **settings)


OWN_LOADS = ("Triton's words over HTTP and gRPC, which have values of their own types; its C API "
             "says only that the poll has failed, ours says why")

LOAD = [
    _load("right"),
    _load("right_again", before=(ask("model_load", model="spare"),)),
    _load("right_makes_ready", judged=ask("model_ready", model="spare")),
    _load("right_config", parameters={"config": _config(max_batch_size=2)},
          judged=ask("model_config", model="spare")),
    _load("right_config_and_file",
          parameters={"config": _config(), "file:1/model.bin": b"\x00parity\xff"},
          judged=ask("model_ready", model="spare")),
    _load("missing_model", "NOT_FOUND", model="absent"),
    _load("missing_model_with_config", "NOT_FOUND", model="absent",
          parameters={"config": _config()}),
    _load("missing_backend", "INVALID_ARG", model="broken"),
    _load("config_no_json", "INVALID_ARG", parameters={"config": "{nope"}),
    _load("config_empty", "INVALID_ARG", parameters={"config": ""}),
    _load("config_unknown_field", "INVALID_ARG", parameters={"config": '{"nope": 1}'}),
    _load("config_unknown_backend", "INVALID_ARG",
          parameters={"config": _config(backend="absent")}),
    _load("config_breaks_a_rule", "INVALID_ARG",
          parameters={"config": _config(max_batch_size=-1)}),
    _load("config_of_another_name", "INVALID_ARG", parameters={"config": _config(name="other")}),
    _load("file_without_config", "INVALID_ARG", parameters={"file:1/model.bin": b"bytes"}),
    _load("file_outside", "INVALID_ARG",
          parameters={"config": _config(), "file:../../outside": b"bytes"}),
    _load("unknown_parameter", "INVALID_ARG", parameters={"nope": "text"}, why=OWN_LOADS,
          differs={
              "c": ("INVALID_ARG", "Unrecognized load parameter 'nope' with type 'STRING'")}),
    _load("config_of_another_type", "INVALID_ARG", parameters={"config": 7}, why=OWN_LOADS,
          differs={
              "http": json_type("config", "string"),
              "c": ("INVALID_ARG", "Unrecognized load parameter 'config' with type 'INT'")}),
    _load("file_of_another_type", "INVALID_ARG", why=OWN_LOADS,
          parameters={"config": _config(), "file:1/model.bin": True},
          differs={
              "http": json_type("file:1/model.bin", "string"),
              "c": ("INVALID_ARG",
                    "Unrecognized load parameter 'file:1/model.bin' with type 'BOOL'")}),
    Row("model_load/repository_name", ask("model_load", model="spare", repository="other"),
        "UNSUPPORTED", doors=PROTOCOLS),
    Row("model_load/control_mode_none", ask("model_load", model="plain"), "UNAVAILABLE",
        server="unready"),
    Row("model_load/control_mode_none_missing_model", ask("model_load", model="absent"),
        "UNAVAILABLE", server="unready"),
]

_LOADED = (ask("model_load", model="spare"),)
_PIPELINE = (ask("model_load", model="pipeline"),)
_BACK = (ask("model_load", model="member"), ask("model_load", model="pipeline"))

UNLOAD = [
    Row("model_unload/right", ask("model_unload", model="spare"), before=_LOADED),
    Row("model_unload/right_twice", ask("model_unload", model="spare"),
        before=(*_LOADED, ask("model_unload", model="spare"))),
    Row("model_unload/never_loaded", ask("model_unload", model="broken")),
    Row("model_unload/makes_unready", ask("model_ready", model="spare"),
        before=(*_LOADED, ask("model_unload", model="spare"))),
    Row("model_unload/right_with_dependents",
        ask("model_unload", model="pipeline", parameters={"unload_dependents": True}),
        before=_PIPELINE, after=_BACK),
    Row("model_unload/right_without_dependents",
        ask("model_unload", model="spare", parameters={"unload_dependents": False}),
        before=_LOADED),
    Row("model_unload/dependents_are_unready", ask("model_ready", model="member"),
        before=(*_PIPELINE, ask("model_unload", model="pipeline",
                                parameters={"unload_dependents": True})), after=_BACK),
    Row("model_unload/missing_model", ask("model_unload", model="absent")),
    Row("model_unload/dependents_of_another_type",
        ask("model_unload", model="absent", parameters={"unload_dependents": "yes"}),
        "INVALID_ARG", doors=PROTOCOLS,
        differs={"http": json_type("unload_dependents", "boolean")}, why=OWN_LOADS),
    Row("model_unload/unknown_parameter",
        ask("model_unload", model="absent", parameters={"nope": True}), doors=PROTOCOLS),
    Row("model_unload/repository_name", ask("model_unload", model="spare", repository="other"),
        "UNSUPPORTED", doors=PROTOCOLS),
    Row("model_unload/control_mode_none", ask("model_unload", model="plain"), "UNAVAILABLE",
        server="unready"),
]

ROWS = SERVER + MODELS + INDEX + LOAD + UNLOAD
