// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "onnxruntime/model.h"

namespace nereid::caffe2 {

/// A version of a model that consists of two NetDef files. It is translated to an ONNX model in
/// memory, which ONNX Runtime executes.
class NetDefModel : public onnxruntime::OnnxModel {
 public:
  explicit NetDefModel(const onnxruntime::Environment* environment);
};

}  // namespace nereid::caffe2
