// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "nereid/backend/model_config.h"

namespace nereid::tensorflow {

using backend::Error;

/// The serialized tensorflow.ConfigProto of a session: threads and graph optimisation, from the
/// parameters TF_NUM_INTRA_THREADS, TF_NUM_INTER_THREADS, TF_USE_PER_SESSION_THREADS and
/// cpu_threads_per_instance, and from optimization.graph.level. Refuses execution accelerators that
/// the backend does not know.
Error MakeConfigProto(const backend::ModelConfig& config, std::string* proto);

/// The serialized tensorflow.RunOptions that execute on the calling thread where operators allow
/// it, instead of handing each run to the pool and waiting for it: a small graph's run takes a few
/// microseconds instead of tens.
std::string RunOptionsProto();

}  // namespace nereid::tensorflow
