// SPDX-License-Identifier: Apache-2.0
// Decodes arbitrary bytes as a blob from a cache. The head is put in front of them, so that the
// fuzzer need not find the magic number and the digest.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "cache/response_blob.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using nereid::cache::DecodeResponse;
  const nereid::cache::Digest digest{};
  const std::string rest(reinterpret_cast<const char*>(data), size);
  DecodeResponse(rest, digest);
  const std::string blob = std::string("NRDRESP\x01", 8) + std::string(digest.size(), '\0') + rest;
  const auto stored = DecodeResponse(blob, digest);
  if (!stored) return 0;
  size_t bytes = 0;
  for (const auto& output : stored->outputs) {
    if (output.data.size() > blob.size()) std::abort();
    for (const char c : output.data) bytes += static_cast<unsigned char>(c);
  }
  return bytes == SIZE_MAX ? 1 : 0;
}
