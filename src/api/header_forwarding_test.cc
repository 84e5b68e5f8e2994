// SPDX-License-Identifier: Apache-2.0
#include "api/header_forwarding.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "api/field_filter.h"

namespace nereid::api {
namespace {

std::shared_ptr<const HeaderForwarding> Make(const std::string& pattern) {
  auto made = HeaderForwarding::Make(pattern);
  EXPECT_TRUE(made.ok()) << made.status().message();
  return made.ok() ? *made : nullptr;
}

TEST(HeaderForwarding, MatchesAPartOfTheNameInAnyCase) {
  const auto forwarding = Make("my-(id|key)$");
  EXPECT_TRUE(forwarding->Matches("my-id"));
  EXPECT_TRUE(forwarding->Matches("X-My-KEY"));
  EXPECT_FALSE(forwarding->Matches("my-id-2"));
  EXPECT_FALSE(forwarding->Matches(""));
  EXPECT_TRUE(Make("a|B")->Matches("xbx"));  // the case of neither alternative counts
  EXPECT_TRUE(Make(".*")->Matches(""));
}

TEST(HeaderForwarding, AWrongPatternIsExplained) {
  EXPECT_EQ(HeaderForwarding::Make("a(").status().message(),
            "'a(' is not a regular expression: missing ): (?i)a(");
  EXPECT_FALSE(HeaderForwarding::Make("(?=a)").ok());  // RE2 looks at each byte once
}

TEST(HeaderForwarding, FieldsBecomeParametersInTheirOrder) {
  request::RequestFields request;
  request.parameters.push_back({"first", true});
  const std::vector<HeaderField> fields = {
      {"X-A", "1", true}, {"kept", "no", false}, {"X-A", "", true}, {"x-b", "\xff", true}};
  ASSERT_TRUE(ForwardFields(fields, &request).ok());
  ASSERT_EQ(request.parameters.size(), 4u);
  EXPECT_EQ(request.parameters[1].name, "X-A");
  EXPECT_EQ(std::get<std::string>(request.parameters[1].value), "1");
  EXPECT_EQ(std::get<std::string>(request.parameters[2].value), "");
  EXPECT_EQ(request.parameters[3].name, "x-b");
  EXPECT_EQ(std::get<std::string>(request.parameters[3].value), "\xff");
}

TEST(HeaderForwarding, NamesOfTheServerAreRefused) {
  for (const char* name : {"sequence_id", "sequence_start", "sequence_end", "priority", "timeout",
                           "headers", "binary_data_output", "triton_", "triton_anything"}) {
    request::RequestFields request;
    const std::vector<HeaderField> fields = {{name, "1", true}};
    EXPECT_EQ(
        ForwardFields(fields, &request).message(),
        "Header '" + std::string(name) + "' is reserved for Triton usage and cannot be forwarded.");
    EXPECT_TRUE(ForwardFields(std::vector<HeaderField>{{name, "1", false}}, &request).ok());
  }
  request::RequestFields request;
  for (const char* name : {"Priority", "triton", "x-triton_", "timeout2", "binary_data"}) {
    EXPECT_TRUE(ForwardFields(std::vector<HeaderField>{{name, "1", true}}, &request).ok()) << name;
  }
}

TEST(FieldFilter, KeepsWhatIsNeeded) {
  EXPECT_EQ(MakeFieldFilter(nullptr, nullptr), nullptr);
  AccessRules rules;
  rules.restrictions = {{Category::kHealth, "x-key", "v"}};
  const auto gate = std::make_shared<const AccessGate>(rules);
  std::vector<HeaderField> kept;
  const FieldFilter gated(gate, nullptr);
  EXPECT_TRUE(gated.Take("X-Key", "v", &kept));
  EXPECT_TRUE(gated.Take("authorization", "Bearer", &kept));
  EXPECT_TRUE(gated.Take("x-other", "", &kept));
  ASSERT_EQ(kept.size(), 1u);
  EXPECT_EQ(kept[0].name, "X-Key");
  EXPECT_FALSE(kept[0].is_forwarded);
  const FieldFilter both(gate, Make("^x-"));
  EXPECT_TRUE(both.Take("X-Key", "v", &kept));
  EXPECT_TRUE(both.Take("x-other", "w", &kept));
  ASSERT_EQ(kept.size(), 3u);
  EXPECT_TRUE(kept[1].is_forwarded);  // as in Triton
  EXPECT_TRUE(kept[2].is_forwarded);
}

TEST(FieldFilter, KeepsTheFieldsOfTheFrontEnd) {
  const auto filter = MakeFieldFilter(nullptr, nullptr, {"X-Route"});
  ASSERT_NE(filter, nullptr);
  std::vector<HeaderField> kept;
  EXPECT_TRUE(filter->Take("x-route", "a", &kept));
  EXPECT_TRUE(filter->Take("X-ROUTE", "b", &kept));
  EXPECT_TRUE(filter->Take("x-routes", "c", &kept));
  ASSERT_EQ(kept.size(), 2u);
  EXPECT_FALSE(kept[0].is_forwarded);
  EXPECT_EQ(FindField(kept, "X-Route")->value, "a");
  EXPECT_EQ(FindField(kept, "other"), nullptr);
}

TEST(FieldFilter, NumberIsBounded) {
  const FieldFilter filter(nullptr, Make("x"));
  std::vector<HeaderField> kept;
  for (size_t i = 0; i < FieldFilter::kMaxKept; ++i) EXPECT_TRUE(filter.Take("x", "", &kept));
  EXPECT_FALSE(filter.Take("x", "", &kept));
  EXPECT_TRUE(filter.Take("y", "", &kept));
  EXPECT_EQ(kept.size(), FieldFilter::kMaxKept);
}

}  // namespace
}  // namespace nereid::api
