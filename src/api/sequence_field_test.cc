// SPDX-License-Identifier: Apache-2.0
#include "api/sequence_field.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace nereid::api {
namespace {

using request::CorrelationId;
using Fields = std::vector<HeaderField>;

CorrelationId IdOf(const std::string& value, CorrelationId own = uint64_t{0}) {
  request::RequestFields request;
  request.correlation_id = std::move(own);
  const Fields fields = {{"Other", "1", true}, {"X-Sequence", value, false}};
  EXPECT_TRUE(TakeSequenceId(fields, "x-sequence", &request).ok());
  return request.correlation_id;
}

TEST(TakeSequenceId, NumbersAndTexts) {
  EXPECT_EQ(IdOf("7"), CorrelationId(uint64_t{7}));
  EXPECT_EQ(IdOf("18446744073709551615"), CorrelationId(UINT64_MAX));
  for (const char* text : {"18446744073709551616", "07", "-7", "+7", "7 ", "0x7", "user-7", "00"}) {
    EXPECT_EQ(IdOf(text), CorrelationId(std::string(text))) << text;
  }
}

TEST(TakeSequenceId, NoneIsNone) {
  EXPECT_TRUE(request::IsNone(IdOf("0")));
  EXPECT_TRUE(request::IsNone(IdOf("")));
}

TEST(TakeSequenceId, TheRequestsOwnIdCounts) {
  EXPECT_EQ(IdOf("7", uint64_t{9}), CorrelationId(uint64_t{9}));
  EXPECT_EQ(IdOf("7", std::string("own")), CorrelationId(std::string("own")));
}

TEST(TakeSequenceId, NothingWithoutTheFlagOrTheField) {
  request::RequestFields request;
  EXPECT_TRUE(TakeSequenceId(Fields{{"x-sequence", "7", false}}, "", &request).ok());
  EXPECT_TRUE(TakeSequenceId(Fields{{"x-sequences", "7", false}}, "x-sequence", &request).ok());
  EXPECT_TRUE(request.correlation_id == CorrelationId(uint64_t{0}));
}

TEST(TakeSequenceId, RefusesWhatIsAmbiguousOrTooLong) {
  request::RequestFields request;
  const Fields twice = {{"x-s", "7", false}, {"X-S", "8", false}};
  EXPECT_EQ(TakeSequenceId(twice, "x-s", &request).message(),
            "the request has several headers 'x-s', which names its sequence: send one");
  EXPECT_FALSE(TakeSequenceId(Fields{{"x-s", std::string(129, 'a'), false}}, "x-s", &request).ok());
  EXPECT_TRUE(TakeSequenceId(Fields{{"x-s", std::string(128, 'a'), false}}, "x-s", &request).ok());
}

}  // namespace
}  // namespace nereid::api
