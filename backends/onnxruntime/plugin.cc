// SPDX-License-Identifier: Apache-2.0
// Defines the entry points of the backend.
#include "nereid/backend/plugin.h"

#include "onnxruntime/environment.h"
#include "onnxruntime/model.h"

NEREID_BACKEND_PLUGIN(nereid::onnxruntime::Environment, nereid::onnxruntime::OnnxModel,
                      nereid::onnxruntime::OnnxInstance);
NEREID_BACKEND_READINESS;
NEREID_BACKEND_CPU_THREADS;
