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

/// An input or output in a signature.
struct TensorInfo {
  /// The tensor of the graph ("serving_default_x:0").
  std::string tensor;
  /// -1 is variable; absent if the rank is open. The graph may have a more precise shape.
  std::optional<std::vector<int64_t>> dims;
};

/// A function of a SavedModel, with the tensor names for clients.
struct SignatureDef {
  std::map<std::string, TensorInfo> inputs;
  std::map<std::string, TensorInfo> outputs;
};

/// Reads the signatures of a serialized tensorflow.MetaGraphDef
/// (tensorflow/core/protobuf/meta_graph.proto: signature_def = 5), by name.
std::map<std::string, SignatureDef> ReadSignatures(std::string_view meta_graph);

/// Selects the signature to serve: `wanted` or, if that is empty, "serving_default", else the first
/// one with inputs and outputs. NOT_FOUND with a list of the signatures otherwise.
Error ChooseSignature(const std::map<std::string, SignatureDef>& signatures,
                      const std::string& wanted, const std::string& model, SignatureDef* signature);

}  // namespace nereid::tensorflow
