// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "backend/backend_library.h"

namespace nereid::backend {

/// A backend that copies each input to the output of the same position ("OUT0" for the first, …),
/// written against the C API as plug-ins are. Request parameters steer it:
///   "fail" = text      answers with an error of that text
///   "good" = true      reports a success, whatever the answer is
///   "silent" = true    releases the request without any response
///   "twice" = true     sends two responses with the final flag
///   "late" = true      answers and releases it on another thread, after ReleaseHeld() is called;
///                      Execute does not wait for that
///   "throw" = true     throws out of Execute; what stands before it in the batch is done with
///   "answer_throw" = true  throws when the request is answered but not released
///   "hold" = true      does not return from Execute until ReleaseHeld() is called
/// The model parameter "fail_load" makes ModelInitialize fail, "throw_load" and "throw_number" make
/// it throw, "fail_execute" makes Execute fail as a whole. "hold_load" makes each
/// ModelInstanceInitialize wait for ReleaseHeld(), and "fail_instances" makes each one fail. With
/// `parallel`, the instances of a model may be initialized at the same time.
std::unique_ptr<BackendLibrary> MakeCopyBackend(bool parallel = false);

/// Lets executions that hold go on. Blocks until `count` of them are holding, and until all that
/// were holding have gone on.
void ReleaseHeld(int count = 1);

}  // namespace nereid::backend
