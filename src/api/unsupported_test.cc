// SPDX-License-Identifier: Apache-2.0
#include "api/unsupported.h"

#include <gtest/gtest.h>

namespace nereid::api {
namespace {

TEST(Unsupported, SaysWhatIsNotThere) {
  EXPECT_TRUE(CheckRepositoryName("").ok());
  EXPECT_EQ(CheckRepositoryName("r").code(), base::StatusCode::kUnsupported);
  EXPECT_EQ(CheckRepositoryName("r").message(), "'repository_name' specification is not supported");
  EXPECT_EQ(ExtensionUnsupported("trace").message(), "the trace extension is not supported yet");
}

}  // namespace
}  // namespace nereid::api
