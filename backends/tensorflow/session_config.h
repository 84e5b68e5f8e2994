// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "nereid/backend/model_config.h"

namespace nereid::tensorflow {

using backend::Error;

/// Creates the serialized tensorflow.ConfigProto of a session: threads and graph optimization, from
/// the parameters TF_NUM_INTRA_THREADS, TF_NUM_INTER_THREADS, TF_USE_PER_SESSION_THREADS,
/// TF_ALLOW_THREAD_SPINNING, cpu_threads_per_instance and cpu_threads_shared, and from
/// optimization.graph.level. `sharers` is the number of instances that use the session. INVALID_ARG
/// for unknown execution accelerators.
Error MakeConfigProto(const backend::ModelConfig& config, int64_t sharers, std::string* proto);

/// Reads how many instances share a session: all of them or, if runs change its state, as many as
/// MAX_SESSION_SHARE_COUNT says (1). INVALID_ARG for a value below 1.
Error ReadSharers(const backend::ModelConfig& config, bool changes_state, int64_t* sharers);

/// Returns the serialized tensorflow.RunOptions that make a run execute on the calling thread where
/// operators allow it. Passing each run to the thread pool and waiting for it would take tens of
/// microseconds for a small graph instead of a few.
std::string RunOptionsProto();

}  // namespace nereid::tensorflow
