// SPDX-License-Identifier: Apache-2.0
#pragma once

// An optional entry point of backends, beside those of triton/core/tritonbackend.h. Triton does not
// call it.

#include "triton/core/tritonbackend.h"

#ifdef __cplusplus
extern "C" {
#else
#include <stdbool.h>
#endif

/// Returns whether the next TRITONBACKEND_ModelInstanceExecute of the instance would return without
/// waiting for batches that the backend has taken before. A backend defines the function if its
/// Execute may return before the requests are answered, and waits while too many of them are not.
///
/// Nereid may call Execute on an event loop if the executions of a model are short, and does so
/// only after this function has returned true. The durations of executions before which it has
/// returned false do not count: they may have waited. Nereid calls the function before Execute,
/// while no Execute of the instance is running, and perhaps with a lock held: the function must not
/// wait.
TRITONBACKEND_ISPEC bool NEREIDBACKEND_ModelInstanceHasRoom(TRITONBACKEND_ModelInstance* instance);

#ifdef __cplusplus
}
#endif
