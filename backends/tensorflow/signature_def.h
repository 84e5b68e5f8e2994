// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "nereid/backend/error.h"

namespace nereid::tensorflow {

using backend::Error;

/// What a signature says of an input or output.
struct TensorInfo {
  /// The tensor of the graph ("serving_default_x:0").
  std::string tensor;
  /// -1 is variable; nothing where the rank is open. The graph may know more.
  std::optional<std::vector<int64_t>> dims;
};

/// A function of a SavedModel, by the names that clients know.
struct SignatureDef {
  std::map<std::string, TensorInfo> inputs;
  std::map<std::string, TensorInfo> outputs;
};

/// The signatures of a serialized tensorflow.MetaGraphDef
/// (tensorflow/core/protobuf/meta_graph.proto: signature_def = 5), by name.
std::map<std::string, SignatureDef> ReadSignatures(std::string_view meta_graph);

/// The one to serve: `wanted`, or, where that is empty, "serving_default", else the first with
/// inputs and outputs. NOT_FOUND listing what there is.
Error ChooseSignature(const std::map<std::string, SignatureDef>& signatures,
                      const std::string& wanted, const std::string& model, SignatureDef* signature);

}  // namespace nereid::tensorflow
