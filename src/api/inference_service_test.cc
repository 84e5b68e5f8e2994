// SPDX-License-Identifier: Apache-2.0
#include "api/inference_service.h"

#include <gtest/gtest.h>

#include "api/testing/fake_inference_service.h"

namespace nereid::api {
namespace {

class FakeTraceControl final : public TraceControl {
 public:
  TraceSettings Settings(const std::string&) const override { return settings_; }
  base::Result<TraceSettings> Change(const std::string&, const TraceChanges& changes) override {
    if (changes.rate) settings_.rate = changes.rate->value_or(1000);
    return settings_;
  }

 private:
  TraceSettings settings_;
};

class TraceOperationTest : public ::testing::Test {
 protected:
  TraceOperationTest() { service_.ReplaceTraceControl(nullptr, &control_); }

  base::Result<TraceSettings> Ask(const std::string& model,
                                  std::optional<TraceChanges> changes = {}) {
    return service_.UpdateTraceSettings(model, [&] {
      ++reads_;
      return base::Result<std::optional<TraceChanges>>(changes);
    });
  }

  FakeTraceControl control_;
  testing::FakeInferenceService service_;
  int reads_ = 0;
};

TEST_F(TraceOperationTest, ReadsAndChanges) {
  EXPECT_EQ(Ask("")->rate, 1000U);
  TraceChanges changes;
  changes.rate = std::optional<uint32_t>(7);
  EXPECT_EQ(Ask("echo", changes)->rate, 7U);
  EXPECT_EQ(Ask("")->rate, 7U);
}

TEST_F(TraceOperationTest, ChecksTheModelBeforeTheChanges) {
  const auto answer = Ask("none");
  EXPECT_EQ(answer.status().code(), base::StatusCode::kInvalidArgument);
  EXPECT_EQ(answer.status().message(), "Request for unknown model : none");
  EXPECT_EQ(reads_, 0);
}

TEST_F(TraceOperationTest, IsUnsupportedWithoutATraceControl) {
  service_.ReplaceTraceControl(&control_, nullptr);
  EXPECT_EQ(Ask("").status().code(), base::StatusCode::kUnsupported);
  EXPECT_EQ(reads_, 0);
}

TEST_F(TraceOperationTest, TheFirstControlStaysUntilItIsRemoved) {
  FakeTraceControl second;
  TraceChanges changes;
  changes.rate = std::optional<uint32_t>(7);
  service_.ReplaceTraceControl(nullptr, &second);
  EXPECT_EQ(Ask("", changes)->rate, 7U);
  service_.ReplaceTraceControl(&second, nullptr);  // it has no effect, like the offer
  EXPECT_EQ(Ask("")->rate, 7U);
  service_.ReplaceTraceControl(&control_, nullptr);
  service_.ReplaceTraceControl(nullptr, &second);
  EXPECT_EQ(Ask("")->rate, 1000U);
}

TEST_F(TraceOperationTest, ChangesThatCannotBeReadChangeNothing) {
  const auto answer =
      service_.UpdateTraceSettings("", []() -> base::Result<std::optional<TraceChanges>> {
        return base::Status::InvalidArgument("no number");
      });
  EXPECT_EQ(answer.status().message(), "no number");
  EXPECT_EQ(Ask("")->rate, 1000U);
}

TEST(LogOperationTest, ChangesTheProcessLog) {
  testing::FakeInferenceService service;
  const LogSettings before = service.UpdateLogSettings({});
  LogChanges changes;
  changes.verbose_level = before.verbose_level + 3;
  EXPECT_EQ(service.UpdateLogSettings(changes).verbose_level, before.verbose_level + 3);
  changes.verbose_level = before.verbose_level;
  EXPECT_EQ(service.UpdateLogSettings(changes).verbose_level, before.verbose_level);
}

}  // namespace
}  // namespace nereid::api
