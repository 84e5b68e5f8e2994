# SPDX-License-Identifier: Apache-2.0
"""The argument trace_config of bind()."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from typing import Optional

from nereid.binding.tracing import MODE, get_tracer, make_tracer, set_tracer

logger = logging.getLogger(__name__)


def use_trace_config(
    settings: Optional[Sequence[str]], of_server: Optional[Sequence[str]] = None
) -> bool:
    """Returns whether the functions of a model are traced. The first settings of a process make the
    tracer, unless the program has set one.

    settings: of the model. of_server: those that a model without settings has; other modes than
        opentelemetry are for the server alone, as is this one without OpenTelemetry's packages.

    Raises ValueError for models with another mode, and ImportError without the packages."""
    if not settings and (not of_server or MODE not in of_server):
        return False
    if get_tracer() is None:
        try:
            set_tracer(make_tracer(settings or of_server or ()))
        except ImportError as error:
            if settings:
                raise
            logger.warning("Functions are not traced: %s", error)
            return False
    return True
