// SPDX-License-Identifier: Apache-2.0
// The functions that the server calls.
#include "nereid/backend/plugin.h"

#include "onnxruntime/environment.h"
#include "onnxruntime/model.h"

NEREID_BACKEND_PLUGIN(nereid::onnxruntime::Environment, nereid::onnxruntime::OnnxModel,
                      nereid::onnxruntime::OnnxInstance);
