// SPDX-License-Identifier: Apache-2.0
// An extension of the backend API: a backend provides the memory into which the server receives
// large inputs of a model, so that it can pass them to another process without a copy. A plug-in
// that exports all three functions takes part; a server without the extension, such as Triton, does
// not look for them.
//
// The backend recognizes its memory by the address that TRITONBACKEND_InputBuffer returns. A
// request may have such inputs for a model only, or for none: their number, their order and their
// places in the memory are the client's. The server treats the memory as it treats the shared
// memory of clients: it reads the bytes without trusting that they stay the same, and copies BYTES
// inputs out of it. So another process may write to the memory of a request that it has got.
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "triton/core/tritonbackend.h"

#ifdef __cplusplus
extern "C" {
#endif

/// Provides memory for `size` bytes of inputs of one request, aligned to 64 bytes. Sets `*base`,
/// and
/// `*memory` to a handle for the functions below. Returns false if the server is to take memory of
/// its own. Event loops call it, several at the same time: it must be cheap and not wait.
TRITONBACKEND_ISPEC bool NEREIDBACKEND_ModelTakeInputMemory(TRITONBACKEND_Model* model, size_t size,
                                                            void** base, void** memory);

/// Makes the bytes from `begin` on writable, up to `end` at most, and returns how many of them are;
/// 0 if there is no memory. The server announces what it is about to write, in order: the peer may
/// never send the rest. So a backend should not reserve much more than that.
TRITONBACKEND_ISPEC size_t NEREIDBACKEND_InputMemoryPrepare(void* memory, size_t begin, size_t end);

/// Gives the memory back. Called once, on any thread, perhaps after the model was finalized, but
/// not after the backend was.
TRITONBACKEND_ISPEC void NEREIDBACKEND_InputMemoryFree(void* memory);

#ifdef __cplusplus
}
#endif
