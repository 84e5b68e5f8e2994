// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "nereid/backend/model_config.h"
#include "tensorflow/tf_api.h"

namespace nereid::tensorflow {

/// Creates the session options (run options) from the messages in session_config.h.
Error MakeSessionOptions(const backend::ModelConfig& config, int64_t sharers,
                         Owned<TF_SessionOptions>* options);
Owned<TF_Buffer> MakeRunOptions();

}  // namespace nereid::tensorflow
