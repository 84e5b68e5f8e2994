// SPDX-License-Identifier: Apache-2.0
#include "repository/storage/url_encode.h"

#include <gtest/gtest.h>

namespace nereid::repository::storage {
namespace {

TEST(EncodeParameters, SortsByTheEncodedNames) {
  EXPECT_EQ(EncodeParameters({{"b", "2"}, {"a", "x&y=z"}, {"a-b", ""}, {"A", "1"}}),
            "A=1&a=x%26y%3Dz&a-b=&b=2");
  EXPECT_EQ(EncodeParameters({}), "");
}

}  // namespace
}  // namespace nereid::repository::storage
