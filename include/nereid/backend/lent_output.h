// SPDX-License-Identifier: Apache-2.0
// An extension of the backend API: an output refers to memory of the backend instead of a buffer of
// the server.
#pragma once

#include <stdint.h>

#include "triton/core/tritonbackend.h"

#ifdef __cplusplus
extern "C" {
#endif

/// Makes `byte_size` bytes at `base`, in host memory, the content of an output, instead of
/// TRITONBACKEND_OutputBuffer. The server calls `release(userp)` once, on any thread, when it does
/// not need them any more: perhaps before this function returns, also after an error, and at the
/// latest when the response is deleted. `release` must not wait, and must not call the server. The
/// server copies the bytes where it must, for example because the client reads them in shared
/// memory.
///
/// Another process may write to the bytes. The server does not trust that they stay the same: it
/// copies them unless it passes them on as they are. BYTES are refused, because their content
/// describes itself.
TRITONBACKEND_DECLSPEC TRITONSERVER_Error* NEREID_OutputLend(TRITONBACKEND_Output* output,
                                                             const void* base, uint64_t byte_size,
                                                             void (*release)(void* userp),
                                                             void* userp);
// Null in a server without the extension, such as Triton.
#pragma weak NEREID_OutputLend

#ifdef __cplusplus
}
#endif
