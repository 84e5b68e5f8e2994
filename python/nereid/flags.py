# SPDX-License-Identifier: Apache-2.0
"""The flags of `nereid serve` as Python arguments."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from typing import Any


def _text(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return os.fspath(value) if isinstance(value, os.PathLike) else str(value)


def _of_mapping(flag: str, mapping: Mapping[Any, Any]) -> Iterable[str]:
    """{"name": {"key": value}} is --flag=name,key=value; {"key": value} is --flag=key=value."""
    for key, value in mapping.items():
        if isinstance(value, Mapping):
            for setting, setting_value in value.items():
                yield f"{flag}={_text(key)},{setting}={_text(setting_value)}"
        else:
            yield f"{flag}={_text(key)}={_text(value)}"


def make_flags(settings: Mapping[str, Any]) -> list[str]:
    """Returns the flags of settings: `http_port=8000` is --http-port=8000. None leaves a flag out,
    a list repeats it, a mapping has the settings of names: `backend_config={"onnxruntime": {"a":
    1}}` is --backend-config=onnxruntime,a=1."""
    flags: list[str] = []
    for name, value in settings.items():
        flag = "--" + name.replace("_", "-")
        if value is None:
            continue
        if isinstance(value, Mapping):
            flags.extend(_of_mapping(flag, value))
        elif isinstance(value, (list, tuple, set, frozenset)):
            flags.extend(f"{flag}={_text(item)}" for item in value)
        else:
            flags.append(f"{flag}={_text(value)}")
    return flags
