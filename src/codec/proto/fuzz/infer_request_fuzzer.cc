// SPDX-License-Identifier: Apache-2.0
// libFuzzer target: compares the hand-written reader of ModelInferRequest with protobuf's.
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "codec/proto/fuzz/parse_comparison.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string difference = nereid::codec::proto::testing::CompareWithProtobuf(
      {reinterpret_cast<const char*>(data), size});
  if (!difference.empty()) {
    std::fprintf(stderr, "%s\n", difference.c_str());
    std::abort();
  }
  return 0;
}
