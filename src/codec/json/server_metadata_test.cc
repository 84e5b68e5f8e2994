// SPDX-License-Identifier: Apache-2.0
#include "codec/json/server_metadata.h"

#include <gtest/gtest.h>

namespace nereid::codec::json {
namespace {

TEST(ServerMetadataTest, Encodes) {
  EXPECT_EQ(EncodeServerMetadata({"triton", "2.51.0", {"sequence", "statistics"}}),
            R"({"name":"triton","version":"2.51.0","extensions":["sequence","statistics"]})");
}

}  // namespace
}  // namespace nereid::codec::json
