// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "onnxruntime/model.h"

namespace nereid::caffe2 {

/// A version of a model of two NetDef files: an ONNX model made in memory, run as such.
class NetDefModel : public onnxruntime::OnnxModel {
 public:
  explicit NetDefModel(const onnxruntime::Environment* environment);
};

}  // namespace nereid::caffe2
