// SPDX-License-Identifier: Apache-2.0
// An extension of the backend API: the server decides for each execution how many threads of the
// CPU it uses, and how many executions of a model run at the same time. A plug-in that exports the
// first two functions takes part; the third is optional. A server without the extension, such as
// Triton, does not look for them.
#pragma once

#include <stdint.h>

#include "triton/core/tritonbackend.h"

#ifdef __cplusplus
extern "C" {
#else
#include <stdbool.h>
#endif

/// Prepares a model for executions with `threads` threads, including the thread that executes. The
/// server calls this with 1 after TRITONBACKEND_ModelInitialize, and later, on a thread of its own
/// and during executions, with each other number before it is used. May take as long as a load.
/// Returns UNSUPPORTED if the model's number of threads is fixed, for example by its configuration;
/// the server then leaves the model alone. After another error the server does not use the number.
TRITONBACKEND_ISPEC TRITONSERVER_Error* NEREIDBACKEND_ModelPrepareThreads(
    TRITONBACKEND_Model* model, uint32_t threads);

/// Sets the number of threads, for which the model has been prepared, of the following executions
/// of an instance, also of those on other threads. The thread that executes next calls it, and only
/// if the number is another one. Must be cheap and cannot fail.
TRITONBACKEND_ISPEC void NEREIDBACKEND_ModelInstanceSetThreads(
    TRITONBACKEND_ModelInstance* instance, uint32_t threads);

/// Returns whether the instances of a model on the CPU share it in memory, and its answers do not
/// depend on which of them executes: nothing is kept from one execution for the next. The server
/// may then create more instances than the default if the configuration gives no count. Called
/// after NEREIDBACKEND_ModelPrepareThreads has succeeded with 1; without the function the answer is
/// false.
TRITONBACKEND_ISPEC bool NEREIDBACKEND_ModelInstancesShare(TRITONBACKEND_Model* model);

#ifdef __cplusplus
}
#endif
