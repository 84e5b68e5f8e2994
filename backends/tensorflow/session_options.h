// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "nereid/backend/model_config.h"
#include "tensorflow/tf_api.h"

namespace nereid::tensorflow {

/// The options of a session: threads and graph optimisation, from the parameters
/// TF_NUM_INTRA_THREADS, TF_NUM_INTER_THREADS, TF_USE_PER_SESSION_THREADS and
/// cpu_threads_per_instance, and from optimization.graph.level.
Error MakeSessionOptions(const backend::ModelConfig& config, Owned<TF_SessionOptions>* options);

/// RunOptions that execute on the calling thread where operators allow it, instead of handing each
/// run to the pool and waiting for it: a small graph's run takes a few microseconds instead of
/// tens.
Owned<TF_Buffer> MakeRunOptions();

}  // namespace nereid::tensorflow
