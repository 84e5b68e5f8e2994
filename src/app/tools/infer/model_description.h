// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "app/tools/tensors/tensor.h"
#include "base/result.h"

namespace nereid::app::tools {

/// What a server says about a model.
struct ModelDescription {
  std::string name;
  std::vector<std::string> versions;
  std::vector<TensorSpec> inputs, outputs;
  std::vector<std::string> optional_inputs;
  bool decoupled = false;       // whether a request may have any number of responses
  bool has_binary_data = true;  // whether the server takes tensors behind the JSON
};

/// The largest number of dimensions of a tensor that the tools take from a server.
inline constexpr size_t kMaxDims = 32;

/// Reads the metadata of a model, GET v2/models/M, into `model`. INTERNAL for another document, and
/// for tensors without a known type or with more dimensions than kMaxDims.
base::Status DecodeModelMetadata(std::string_view json, ModelDescription* model);

/// Reads what the metadata lacks from a model's configuration, GET v2/models/M/config.
base::Status DecodeModelConfig(std::string_view json, ModelDescription* model);

/// Returns the spec of an output or input with this name, or null.
const TensorSpec* FindSpec(const std::vector<TensorSpec>& specs, std::string_view name);

}  // namespace nereid::app::tools
