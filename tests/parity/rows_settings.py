# SPDX-License-Identifier: Apache-2.0
"""Rows about the log and traces. The C API does not have these operations."""

from asks import ask
from rows import OWN_TYPES, PROTOCOLS, Row, json_type


def _log(kind, settings, code="OK", restored=None, **more):
    """`restored` are the settings that are set back afterwards."""
    after = (ask("log_settings", settings=restored),) if restored else ()
    return Row(f"log_settings/{kind}", ask("log_settings", settings=settings), code,
               doors=PROTOCOLS, after=after, **more)


def _log_type(kind, settings, expected):
    """Returns the row for a setting of a type other than `expected`, with the names of JSON's
    types."""
    (key,) = settings
    return _log(kind, settings, "INVALID_ARG", differs={"http": json_type(key, expected)},
                why=OWN_TYPES)


LOG = [
    Row("log_settings/right_get", ask("log_settings"), doors=PROTOCOLS),
    _log("right_info", {"log_info": False}, restored={"log_info": True}),
    _log("right_warning", {"log_warning": False}, restored={"log_warning": True}),
    _log("right_error", {"log_error": False}, restored={"log_error": True}),
    _log("right_verbose_level", {"log_verbose_level": 1}, restored={"log_verbose_level": 0}),
    _log("right_format", {"log_format": "ISO8601"}, restored={"log_format": "default"}),
    _log("right_json_format", {"log_format": "json"}, restored={"log_format": "default"}),
    _log("right_several", {"log_info": False, "log_verbose_level": 2},
         restored={"log_info": True, "log_verbose_level": 0}),
    _log("right_nothing", {}),
    _log("file", {"log_file": "/tmp/parity.log"}, "UNSUPPORTED"),
    _log("unknown_setting", {"log_nope": True}),
    _log("unknown_format", {"log_format": "nope"}, "INVALID_ARG", why="Triton's words",
         differs={"http": ("INVALID_ARG", "invalid argument for --log_format, got: nope")}),
    _log_type("switch_of_text", {"log_info": "yes"}, "boolean"),
    _log_type("warning_of_number", {"log_warning": 1}, "boolean"),
    _log_type("error_of_text", {"log_error": "no"}, "boolean"),
    _log_type("level_of_text", {"log_verbose_level": "one"}, "unsigned-integer"),
    _log_type("level_of_switch", {"log_verbose_level": True}, "unsigned-integer"),
    _log_type("format_of_switch", {"log_format": True}, "string"),
    Row("log_settings/a_bad_one_changes_nothing", ask("log_settings"), doors=PROTOCOLS,
        before=(ask("log_settings", settings={"log_verbose_level": 3, "log_format": "nope"}),)),
]

_ALL_RESET = {"trace_level": None, "trace_rate": None, "trace_count": None, "log_frequency": None}


def _trace(kind, settings, code="OK", model="", **more):
    reset = [ask("trace_settings", settings=_ALL_RESET)]
    if model == "plain":
        reset.insert(0, ask("trace_settings", settings=_ALL_RESET, model=model))
    name = f"trace_settings/{kind}" + ("_of_a_model" if model else "")
    return Row(name, ask("trace_settings", settings=settings, model=model), code,
               doors=PROTOCOLS, after=tuple(reset), **more)


def _traces_of(model):
    return [
        _trace("right_get", None, model=model),
        _trace("right_level", {"trace_level": ["TIMESTAMPS"]}, model=model),
        _trace("right_levels", {"trace_level": ["TIMESTAMPS", "TENSORS"]}, model=model),
        _trace("right_off", {"trace_level": ["OFF"]}, model=model),
        _trace("right_rate", {"trace_rate": "10"}, model=model),
        _trace("right_count", {"trace_count": "7"}, model=model),
        _trace("right_count_endless", {"trace_count": "-1"}, model=model),
        _trace("right_frequency", {"log_frequency": "5"}, model=model),
        _trace("right_reset", _ALL_RESET, model=model, before=(
            ask("trace_settings", settings={"trace_rate": "3"}, model=model),)),
        _trace("unknown_setting", {"trace_nope": "1"}, model=model),
        _trace("unknown_level", {"trace_level": ["NOPE"]}, model=model),
        _trace("off_beside_others", {"trace_level": ["OFF", "TIMESTAMPS"]}, "INVALID_ARG",
               model=model),
        _trace("file", {"trace_file": "/tmp/parity.json"}, "UNSUPPORTED", model=model),
        _trace("rate_of_letters", {"trace_rate": "often"}, "INVALID_ARG", model=model),
        _trace("rate_negative", {"trace_rate": "-1"}, "INVALID_ARG", model=model),
        _trace("rate_out_of_range", {"trace_rate": "99999999999"}, "INVALID_ARG", model=model),
        _trace("count_below_endless", {"trace_count": "-2"}, "INVALID_ARG", model=model),
        _trace("count_out_of_range", {"trace_count": "99999999999"}, "INVALID_ARG", model=model),
        _trace("frequency_of_letters", {"log_frequency": "often"}, "INVALID_ARG", model=model),
        _trace("frequency_empty", {"log_frequency": ""}, "INVALID_ARG", model=model),
        _trace("rate_of_two_values", {"trace_rate": ["1", "2"]}, "INVALID_ARG", model=model,
               differs={"http": json_type("trace_rate", "string")}, why=OWN_TYPES),
    ]


TRACE = _traces_of("") + _traces_of("plain") + [
    Row("trace_settings/get_of_unknown_model", ask("trace_settings", model="absent"),
        "INVALID_ARG", doors=PROTOCOLS),
    Row("trace_settings/change_of_unknown_model",
        ask("trace_settings", settings={"trace_rate": "1"}, model="absent"), "INVALID_ARG",
        doors=PROTOCOLS),
    Row("trace_settings/get_of_model_not_loaded", ask("trace_settings", model="spare"),
        "INVALID_ARG", doors=PROTOCOLS),
    Row("trace_settings/a_bad_one_changes_nothing", ask("trace_settings"), doors=PROTOCOLS,
        before=(ask("trace_settings", settings={"trace_rate": "9", "trace_count": "no"}),)),
]

ROWS = LOG + TRACE
