// SPDX-License-Identifier: Apache-2.0
#include "frontend/cloud/out_of_memory.h"

#include <gtest/gtest.h>

namespace nereid::frontend::cloud {
namespace {

using base::Status;

TEST(OutOfMemory, IsKnownByTheText) {
  for (const char* text :
       {"CUDA out of memory. Tried to allocate 2.00 GiB", "x: Out Of Memory",
        "onnx runtime: OutOfMemory", "std::bad_alloc", "not enough memory for the response as JSON",
        "write: No space left on device", "CUBLAS_STATUS_ALLOC_FAILED when"}) {
    EXPECT_TRUE(IsOutOfMemory(Status::Internal(text))) << text;
    EXPECT_TRUE(IsOutOfMemory(Status::Unavailable(text))) << text;
  }
  for (const char* text : {"", "unexpected shape", "memory", "out of range"}) {
    EXPECT_FALSE(IsOutOfMemory(Status::Internal(text))) << text;
  }
  EXPECT_FALSE(IsOutOfMemory(Status::Ok()));
}

}  // namespace
}  // namespace nereid::frontend::cloud
