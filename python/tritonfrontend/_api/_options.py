# SPDX-License-Identifier: Apache-2.0
"""Dataclasses whose fields are checked. Pydantic checks them where it is installed, as in Triton's
package; without it they are checked here, with the same rules and an error of the same name."""

from __future__ import annotations

import dataclasses
import enum
import functools
from collections.abc import Mapping
from typing import Any, Callable, Optional, TypeVar

_Class = TypeVar("_Class")

try:
    from pydantic import ValidationError
except ImportError:

    class ValidationError(ValueError):  # type: ignore[no-redef]
        """A field has a wrong type or is out of its range."""


def _check(name: str, value: Any, kind: Any, least: Optional[int], most: Optional[int]) -> Any:
    problem = None
    if issubclass(kind, enum.Enum):
        try:
            return kind(value)
        except ValueError:
            problem = f"must be a {kind.__name__}"
    elif not isinstance(value, kind) or (kind is int and isinstance(value, bool)):
        problem = f"must be of type {kind.__name__}"
    elif least is not None and value < least:
        problem = f"must be greater than or equal to {least}"
    elif most is not None and value > most:
        problem = f"must be less than or equal to {most}"
    if problem is not None:
        raise _error(f"{name}: {value!r} {problem}")
    return value


def _error(message: str) -> Exception:
    from_exception_data = getattr(ValidationError, "from_exception_data", None)
    if from_exception_data is None:
        return ValidationError(message)
    context = {"error": ValueError(message)}
    details = [{"type": "value_error", "loc": (), "input": None, "ctx": context}]
    error: Exception = from_exception_data("Options", details)
    return error


def checked(
    ranges: Mapping[str, tuple[int, Optional[int]]],
) -> Callable[[type[_Class]], type[_Class]]:
    """Makes a dataclass, whose fields all have defaults, raise ValidationError for a value whose
    type is not that of the default, or that is out of its range: the least and the largest
    value."""

    def decorate(cls: type[_Class]) -> type[_Class]:
        entries = dataclasses.fields(cls)  # type: ignore[arg-type]
        made_by_dataclass = cls.__init__

        def __init__(self: Any, *arguments: Any, **options: Any) -> None:
            made_by_dataclass(self, *arguments, **options)
            for entry in entries:
                least, most = ranges.get(entry.name, (None, None))
                value = getattr(self, entry.name)
                kind = type(entry.default)
                setattr(self, entry.name, _check(entry.name, value, kind, least, most))

        cls.__init__ = functools.wraps(made_by_dataclass)(__init__)  # type: ignore[method-assign]
        cls.__name__ = cls.__qualname__ = "Options"
        return cls

    return decorate
