// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstring>
#include <string>
#include <vector>

#include "nereid/custom.h"

namespace nereid::test_plugins {

/// Common functions of the custom libraries of this folder: whole inputs and outputs of a payload.
/// `batching` is true if shapes begin with the batch size.

/// Returns the shape of an input with its batch size; empty if the payload does not have the input.
inline std::vector<int64_t> ShapeOf(const CustomPayload& payload, const std::string& name,
                                    bool batching) {
  for (uint32_t i = 0; i < payload.input_cnt; ++i) {
    if (payload.input_names[i] == name) {
      std::vector<int64_t> shape(payload.input_shape_dims[i],
                                 payload.input_shape_dims[i] + payload.input_shape_dim_cnts[i]);
      if (batching) {
        shape.insert(shape.begin(), payload.batch_size);
      }
      return shape;
    }
  }
  return {};
}

inline bool ReadInput(const CustomPayload& payload, CustomGetNextInputFn_t next,
                      const std::string& name, std::string* bytes) {
  const void* piece = nullptr;
  uint64_t size = 0;
  while (next(payload.input_context, name.c_str(), &piece, &size)) {
    if (piece == nullptr) {
      return true;
    }
    bytes->append(static_cast<const char*>(piece), size);
  }
  return false;
}

inline bool WriteOutput(const CustomPayload& payload, CustomGetOutputFn_t output,
                        const std::string& name, std::vector<int64_t> shape,
                        const std::string& bytes) {
  void* buffer = nullptr;
  if (!output(payload.output_context, name.c_str(), shape.size(), shape.data(), bytes.size(),
              &buffer)) {
    return false;
  }
  if (buffer != nullptr) {
    std::memcpy(buffer, bytes.data(), bytes.size());
  }
  return true;
}

/// Returns whether the serialized configuration contains the text.
inline bool ConfigHolds(const CustomInitializeData& data, const std::string& text) {
  return std::string(data.serialized_model_config, data.serialized_model_config_size).find(text) !=
         std::string::npos;
}

}  // namespace nereid::test_plugins
