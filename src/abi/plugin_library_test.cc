// SPDX-License-Identifier: Apache-2.0
#include "abi/plugin_library.h"

#include <gtest/gtest.h>

namespace nereid::abi {
namespace {

TEST(PluginLibraryTest, RecognizesTheEngineRenamedInAWheel) {
  EXPECT_TRUE(IsRenamedEngine("libtritonserver-717102f0.so"));
  EXPECT_TRUE(IsRenamedEngine("libtritonserver-00ffab12.so"));
}

TEST(PluginLibraryTest, IgnoresOtherNames) {
  for (const char* name :
       {"libtritonserver.so", "libtritonserver-.so", "libtritonserver-717102f.so",
        "libtritonserver-717102f00.so", "libtritonserver-717102F0.so", "libtritonserver-7171../.so",
        "libtritonserver-717102f0.so.1", "libcudart-09529672.so"}) {
    EXPECT_FALSE(IsRenamedEngine(name)) << name;
  }
}

TEST(PluginLibraryTest, MissingPluginsAreNotFound) {
  const auto library = OpenPlugin("/nonexistent/libtriton_none.so");
  ASSERT_FALSE(library.ok());
  EXPECT_EQ(library.status().code(), base::StatusCode::kNotFound);
}

}  // namespace
}  // namespace nereid::abi
