// SPDX-License-Identifier: Apache-2.0
#include "tracing/settings_request.h"

#include <gtest/gtest.h>

#include "api/testing/fake_inference_service.h"

namespace nereid::tracing {
namespace {

class SettingsRequestTest : public ::testing::Test {
 protected:
  base::Result<api::TraceSettings> Ask(const std::string& model,
                                       std::optional<api::TraceChanges> changes = {}) {
    return AnswerSettingsRequest(&tracer_, service_, model, [&] {
      ++reads_;
      return base::Result<std::optional<api::TraceChanges>>(changes);
    });
  }

  api::testing::FakeInferenceService service_;
  RequestTracer tracer_{api::TraceSettings{}};
  int reads_ = 0;
};

TEST_F(SettingsRequestTest, ReadsAndChanges) {
  EXPECT_EQ(Ask("")->rate, 1000U);
  api::TraceChanges changes;
  changes.rate = std::optional<uint32_t>(7);
  EXPECT_EQ(Ask("", changes)->rate, 7U);
  EXPECT_EQ(Ask("")->rate, 7U);
}

TEST_F(SettingsRequestTest, ChecksTheModelBeforeTheChanges) {
  const auto answer = Ask("none");
  EXPECT_EQ(answer.status().code(), base::StatusCode::kInvalidArgument);
  EXPECT_EQ(answer.status().message(), "Request for unknown model : none");
  EXPECT_EQ(reads_, 0);
}

TEST_F(SettingsRequestTest, WithoutATracer) {
  const auto answer = AnswerSettingsRequest(nullptr, service_, "",
                                            [] { return std::optional<api::TraceChanges>(); });
  EXPECT_EQ(answer.status().code(), base::StatusCode::kUnsupported);
}

TEST_F(SettingsRequestTest, ChangesThatCannotBeReadChangeNothing) {
  const auto answer = AnswerSettingsRequest(&tracer_, service_, "",
                                            []() -> base::Result<std::optional<api::TraceChanges>> {
                                              return base::Status::InvalidArgument("no number");
                                            });
  EXPECT_EQ(answer.status().message(), "no number");
  EXPECT_EQ(Ask("")->rate, 1000U);
}

}  // namespace
}  // namespace nereid::tracing
