// SPDX-License-Identifier: Apache-2.0
#include "tracing/trace_context.h"

#include <gtest/gtest.h>

#include "base/hex_text.h"

namespace nereid::tracing {
namespace {

constexpr char kTrace[] = "0af7651916cd43dd8448eb211c80319c";
constexpr char kSpan[] = "b7ad6b7169203331";
const std::string kGood = std::string("00-") + kTrace + "-" + kSpan + "-01";

std::optional<SpanContext> Parse(const std::string& parent, const std::string& state = "") {
  return ParseTraceContext({parent, state});
}

TEST(TraceContext, ReadsAParent) {
  const auto context = Parse(kGood);
  ASSERT_TRUE(context);
  EXPECT_EQ(base::HexText(context->trace_id), kTrace);
  EXPECT_EQ(base::HexText(context->span_id), kSpan);
  EXPECT_EQ(context->flags, 1);
  EXPECT_EQ(Parse(std::string("00-") + kTrace + "-" + kSpan + "-fe")->flags, 0xfe);
  EXPECT_TRUE(Parse(" " + kGood + "\t"));
}

TEST(TraceContext, ReadsLaterVersionsByTheirFirstFields) {
  for (const char* end : {"", "-", "-more", "-more-and-more"}) {
    EXPECT_TRUE(Parse("01" + kGood.substr(2) + end)) << end;
    EXPECT_TRUE(Parse("cc" + kGood.substr(2) + end)) << end;
  }
  EXPECT_FALSE(Parse("01" + kGood.substr(2) + "more"));
}

TEST(TraceContext, RefusesWhatIsNoParent) {
  EXPECT_FALSE(Parse(""));
  EXPECT_FALSE(Parse("ff" + kGood.substr(2)));
  EXPECT_FALSE(Parse(kGood + "-"));
  EXPECT_FALSE(Parse(kGood + "0"));
  EXPECT_FALSE(Parse(kGood + "," + kGood));
  EXPECT_FALSE(Parse(std::string("00-") + std::string(32, '0') + "-" + kSpan + "-01"));
  EXPECT_FALSE(Parse(std::string("00-") + kTrace + "-" + std::string(16, '0') + "-01"));
  for (size_t size = 0; size < kGood.size(); ++size) EXPECT_FALSE(Parse(kGood.substr(0, size)));
  for (size_t place = 0; place < kGood.size(); ++place) {
    for (const char wrong : {'g', 'A', ' ', '_', '\0', '\x80'}) {
      std::string text = kGood;
      text[place] = wrong;
      EXPECT_FALSE(Parse(text)) << place << wrong;
    }
  }
}

TEST(TraceContext, KeepsAValidState) {
  const std::string long_key(256, 'k');
  std::string most = "k0=v";
  for (int i = 1; i < 32; ++i) most += ",k" + std::to_string(i) + "=v";
  for (const std::string& state :
       {std::string("a=1"), std::string("a=1,b@c/d*e_f-g=!~ x"), std::string("a=1, ,b=2"),
        long_key + "=v", "k=" + std::string(256, 'v'), most}) {
    EXPECT_EQ(Parse(kGood, state)->state, state);
  }
  EXPECT_EQ(Parse(kGood, " a=1\t")->state, "a=1");
}

TEST(TraceContext, DropsAStateThatIsInvalidOrTooLong) {
  std::string too_many = "k0=v";
  for (int i = 1; i < 33; ++i) too_many += ",k" + std::to_string(i) + "=v";
  for (const std::string& state :
       {std::string("a"), std::string("=1"), std::string("a="), std::string("A=1"),
        std::string("a=1=2"), std::string("a=\x80"), std::string("a=\n"), std::string("a\"=1"),
        "k" + std::string(256, 'k') + "=v", "k=" + std::string(257, 'v'), too_many,
        "a=" + std::string(250, 'v') + ",b=" + std::string(250, 'v') + ",c=123456789"}) {
    const auto context = Parse(kGood, state);
    ASSERT_TRUE(context) << state;
    EXPECT_EQ(context->state, "") << state;
  }
}

TEST(TraceContext, TakesItsHeadersInAnyCaseAndJoinsRepetitions) {
  TraceHeaders headers;
  headers.Add("TraceParent", kGood);
  headers.Add("TRACESTATE", "a=1");
  headers.Add("tracestate", "b=2");
  headers.Add("traceparents", "x");
  headers.Add("tracestat", "x");
  EXPECT_EQ(headers.parent, kGood);
  EXPECT_EQ(headers.state, "a=1,b=2");
  headers.Add("traceparent", kGood);
  EXPECT_FALSE(ParseTraceContext(headers)) << "two parents are none";
  headers.Clear();
  EXPECT_TRUE(headers.empty());
}

TEST(TraceContext, IsShownToBackendsAsJson) {
  EXPECT_EQ(TraceContextJson(*Parse(kGood)), R"({"traceparent":")" + kGood + R"("})");
  EXPECT_EQ(TraceContextJson(*Parse(kGood, "a=\"")),
            R"({"traceparent":")" + kGood + R"(","tracestate":"a=\""})");
}

}  // namespace
}  // namespace nereid::tracing
