// SPDX-License-Identifier: Apache-2.0
// The functions that the server calls.
#include "nereid/backend/plugin.h"

#include "caffe2/model.h"

NEREID_BACKEND_PLUGIN(nereid::onnxruntime::Environment, nereid::caffe2::NetDefModel,
                      nereid::onnxruntime::OnnxInstance);
