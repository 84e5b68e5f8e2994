// SPDX-License-Identifier: Apache-2.0
// Defines the entry points of the backend.
#include "nereid/backend/plugin.h"

#include "tensorflow/model.h"

NEREID_BACKEND_PLUGIN(nereid::framework::BackendSettings, nereid::tensorflow::TensorFlowModel,
                      nereid::tensorflow::TensorFlowInstance);
