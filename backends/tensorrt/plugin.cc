// SPDX-License-Identifier: Apache-2.0
// Defines the entry points of the backend.
#include "nereid/backend/plugin.h"

#include "tensorrt/model.h"

NEREID_BACKEND_PLUGIN(nereid::tensorrt::TensorRtBackend, nereid::tensorrt::TensorRtModel,
                      nereid::tensorrt::TensorRtInstance);
NEREID_BACKEND_READINESS;
