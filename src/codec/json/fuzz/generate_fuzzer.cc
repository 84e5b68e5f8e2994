// SPDX-License-Identifier: Apache-2.0
// libFuzzer target: the body of a generate request, for a model with inputs of every kind.
#include <cstdint>
#include <cstring>
#include <memory>
#include <vector>

#include "codec/json/generate.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const std::vector<nereid::api::TensorMetadata> inputs = {
      {"i", "INT32", {-1}}, {"u", "UINT8", {-1, 2}},       {"b", "BOOL", {2, -1}},
      {"f", "FP32", {-1}},  {"h", "FP16", {-1}},           {"t", "BYTES", {-1, -1}},
      {"n", "INT64", {1}},  {"x", "INT8", {INT64_MAX, -1}}};
  // A copy of exact size, so that a read beyond the end is detected.
  const auto json = std::make_unique<char[]>(size);
  if (size != 0) std::memcpy(json.get(), data, size);
  nereid::request::InferenceRequest request;
  nereid::codec::json::DecodeLimits limits;
  limits.max_json_size = 1 << 20;
  const auto status =
      nereid::codec::json::DecodeGenerateRequest({json.get(), size}, inputs, limits, &request);
  if (!status.ok()) return 0;
  // Every byte of an accepted input must be readable.
  volatile uint64_t sum = 0;
  for (const auto& input : request.inputs()) {
    for (const auto& piece : input.pieces) {
      for (size_t i = 0; i < piece.size; ++i) sum = sum + static_cast<uint8_t>(piece.data[i]);
    }
  }
  return 0;
}
