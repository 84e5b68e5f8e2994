// SPDX-License-Identifier: Apache-2.0
#include "frontend/http/http_date.h"

#include <gtest/gtest.h>

namespace nereid::frontend::http {
namespace {

TEST(HttpDate, HasTheFormOfTheStandard) {
  EXPECT_EQ(HttpDate(784111777), "Sun, 06 Nov 1994 08:49:37 GMT");
  EXPECT_EQ(HttpDate(0), "Thu, 01 Jan 1970 00:00:00 GMT");
  EXPECT_EQ(HttpDate(4102444800), "Fri, 01 Jan 2100 00:00:00 GMT");
}

}  // namespace
}  // namespace nereid::frontend::http
