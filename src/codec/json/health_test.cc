// SPDX-License-Identifier: Apache-2.0
#include "codec/json/health.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace nereid::codec::json {
namespace {

using ::testing::HasSubstr;

TEST(EncodeReadiness, YesAndNo) {
  EXPECT_EQ(EncodeReadiness({}), R"({"ready":true,"reasons":[],"omitted":0})");
  api::Readiness readiness;
  AddReason({.cause = "draining", .text = "why"}, &readiness);
  AddReason({.cause = "model",
             .model = "a\"b",
             .version = "1",
             .state = "UNAVAILABLE",
             .text = "x\xff\ny"},
            &readiness);
  readiness.omitted = 3;
  EXPECT_EQ(EncodeReadiness(readiness),
            R"({"ready":false,"reasons":[{"cause":"draining","text":"why"},)"
            R"({"cause":"model","model":"a\"b","version":"1","state":"UNAVAILABLE",)"
            "\"text\":\"x\xef\xbf\xbd\\ny\"}],\"omitted\":3}");
}

TEST(EncodeLiveness, WithAndWithoutFindings) {
  EXPECT_EQ(EncodeLiveness({}), R"({"live":true,"reasons":[],"omitted":0})");
  EXPECT_EQ(EncodeLiveness({.live = false,
                            .findings = {{"failed", "", "", 0, "no repository"},
                                         {"stuck", "event-loop", "http-0", 61, "t\xff"}},
                            .omitted = 2}),
            R"({"live":false,"reasons":[{"cause":"failed","text":"no repository"},)"
            R"({"cause":"stuck","stage":"event-loop","name":"http-0","seconds":61,)"
            "\"text\":\"t\xef\xbf\xbd\"}],\"omitted\":2}");
}

TEST(EncodeDrain, OnAndOff) {
  EXPECT_EQ(EncodeDrain({}), R"({"draining":false,"in_flight":0,"busy":[],"omitted":0})");
  EXPECT_EQ(
      EncodeDrain(
          {.draining = true, .left_ns = 1'000'000'001, .in_flight = 4, .busy = {{"m", "1", 4}}}),
      R"({"draining":true,"seconds_left":2,"in_flight":4,)"
      R"("busy":[{"model":"m","version":"1","in_flight":4}],"omitted":0})");
}

TEST(DecodeDrainChange, Reads) {
  for (const char* text : {"", "{}", R"({"drain":true})"}) {
    const auto change = DecodeDrainChange(text);
    ASSERT_TRUE(change.ok()) << text;
    EXPECT_TRUE(change->drain);
    EXPECT_EQ(change->seconds, std::nullopt);
  }
  EXPECT_FALSE(DecodeDrainChange(R"({"drain":false})")->drain);
  EXPECT_EQ(DecodeDrainChange(R"({"seconds":30})")->seconds, 30u);
}

TEST(DecodeDrainChange, RefusesWhatItDoesNotKnow) {
  EXPECT_EQ(DecodeDrainChange(R"({"second":30})").status().message(),
            "unknown member 'second' of a drain, expected 'drain' or 'seconds'");
  EXPECT_THAT(DecodeDrainChange(R"({"seconds":0})").status().message(),
              HasSubstr("must be 1 to 4294967295. Got 0"));
  for (const char* text :
       {"[]", "5", "{", R"({"seconds":-1})", R"({"seconds":1.5})", R"({"seconds":4294967296})",
        R"({"seconds":"1"})", R"({"drain":1})", R"({"drain":null})", R"({"drain":true}x)"}) {
    EXPECT_FALSE(DecodeDrainChange(text).ok()) << text;
  }
}

}  // namespace
}  // namespace nereid::codec::json
