// SPDX-License-Identifier: Apache-2.0
#include "repository/storage/ranged_read.h"

#include <gtest/gtest.h>

namespace nereid::repository::storage {
namespace {

using base::Status;
using base::StatusCode;

/// Returns the code for the head of a response to a request for 5 of 100 bytes from byte 10.
StatusCode HeadOf(int status, curl::HttpFields fields) {
  const RangedRead::Sink sink = [](std::string_view) { return Status(); };
  RangedRead read({10, 5}, 100, sink);
  return read.TakeHead({status, std::move(fields), ""}).code();
}

TEST(RangedRead, AcceptsOnlyTheRange) {
  EXPECT_EQ(HeadOf(206, {{"content-range", "bytes 10-14/100"}}), StatusCode::kOk);
  EXPECT_EQ(HeadOf(206, {{"content-range", "bytes 10-14/*"}}), StatusCode::kOk);
  EXPECT_EQ(HeadOf(206, {{"content-range", "bytes 10-14/101"}}), StatusCode::kAlreadyExists);
  for (const char* range : {"bytes 0-4/100", "bytes 10-15/100", "bytes 10-13/100", "bytes */100",
                            "bytes 10-14", "lines 10-14/100", "bytes -14/100", "bytes 10-/100",
                            "bytes 10-14/", "bytes 1/0-14", "bytes +10-14/100", ""}) {
    EXPECT_EQ(HeadOf(206, {{"content-range", range}}), StatusCode::kInternal) << range;
  }
  EXPECT_EQ(HeadOf(206, {}), StatusCode::kInternal);
  EXPECT_EQ(HeadOf(200, {{"content-length", "100"}}), StatusCode::kInternal);
  EXPECT_EQ(HeadOf(204, {}), StatusCode::kInternal);
}

TEST(RangedRead, AWholeObjectNeedsNoRange) {
  const RangedRead::Sink sink = [](std::string_view) { return Status(); };
  RangedRead read({0, 100}, 100, sink);
  EXPECT_TRUE(read.TakeHead({200, {{"content-length", "100"}}, ""}).ok());
  EXPECT_TRUE(read.TakeHead({200, {}, ""}).ok());
  EXPECT_EQ(read.TakeHead({200, {{"content-length", "99"}}, ""}).code(),
            StatusCode::kAlreadyExists);
}

TEST(RangedRead, CountsTheBody) {
  std::string got;
  const RangedRead::Sink sink = [&](std::string_view piece) {
    got += piece;
    return Status();
  };
  RangedRead read({10, 5}, 100, sink);
  EXPECT_TRUE(read.TakeBody("abc").ok());
  EXPECT_EQ(read.Finish().code(), StatusCode::kUnavailable);
  EXPECT_EQ(read.TakeBody("def").code(), StatusCode::kInternal);
  EXPECT_EQ(got, "abc") << "nothing of what is too much";
  EXPECT_TRUE(read.TakeBody("de").ok());
  EXPECT_TRUE(read.Finish().ok());
  EXPECT_EQ(read.TakeBody("f").code(), StatusCode::kInternal);
}

}  // namespace
}  // namespace nereid::repository::storage
