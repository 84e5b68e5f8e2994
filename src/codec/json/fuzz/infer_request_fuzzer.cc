// SPDX-License-Identifier: Apache-2.0
// libFuzzer target: the body of an inference request. The first two bytes say how much of the rest
// is JSON.
#include <cstdint>
#include <cstring>
#include <memory>
#include <string_view>

#include "codec/json/infer_request.h"
#include "request/inference_request.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size < 2) return 0;
  const std::string_view body(reinterpret_cast<const char*>(data) + 2, size - 2);
  const size_t json_size = (data[0] | data[1] << 8) % (body.size() + 1);
  // A copy of exact size, so that a read beyond the end is detected.
  const auto json = std::make_unique<char[]>(json_size);
  std::memcpy(json.get(), body.data(), json_size);
  nereid::request::InferenceRequest request;
  request.model_name = "m";
  nereid::codec::json::OutputOptions outputs;
  nereid::codec::json::DecodeLimits limits;
  limits.max_json_size = 1 << 20;
  const auto status = nereid::codec::json::DecodeInferRequest(
      {json.get(), json_size}, body.substr(json_size), limits, &request, &outputs);
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
