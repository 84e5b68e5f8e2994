// SPDX-License-Identifier: Apache-2.0
#include "server/readiness.h"

#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <utility>

namespace nereid::server {
namespace {

using base::Status;
using Phase = ServerPhase::Value;
using repository::ModelTable;
using repository::VersionRecord;

class TestModel final : public repository::LoadedModel {
 public:
  explicit TestModel(Status status) : status_(std::move(status)) {}
  const config::ModelConfig& config() const override { return *config_; }
  Status CheckReady() override { return status_; }

 private:
  const Status status_;
  const config::ModelConfigPtr config_;
};

VersionRecord Serving(Status status = Status::Ok()) {
  VersionRecord record;
  record.Serve(std::make_shared<TestModel>(std::move(status)), 1);
  return record;
}

VersionRecord Failed(const char* reason) {
  VersionRecord record;
  record.Fail(reason, 1);
  return record;
}

/// Returns the answer with its reasons as text: "yes", or "no: cause model:version state (text);
/// …".
std::string Text(const api::Readiness& readiness) {
  if (readiness.ready) return readiness.reasons.empty() ? "yes" : "yes, with reasons";
  std::string text = "no:";
  for (const api::UnreadyReason& reason : readiness.reasons) {
    if (text.back() != ':') text += ";";
    text += " " + reason.cause;
    if (!reason.model.empty()) text += " " + reason.model + ":" + reason.version;
    if (!reason.state.empty()) text += " " + reason.state;
    text += " (" + reason.text.substr(0, 24) + ")";
  }
  return text;
}

class ReadinessTest : public ::testing::Test {
 protected:
  ModelTable Table(bool namespacing = false) const {
    return ModelTable(namespacing, ModelTable::Models(models_));
  }
  std::string Server(const PhaseView& view = {}) const {
    const ModelTable table = Table();
    const api::Readiness readiness = ExplainServerReadiness(view, &table, {});
    if (view.phase == Phase::kServing && !view.draining) {
      EXPECT_EQ(readiness.ready, table.AllReady());
    }
    return Text(readiness);
  }
  std::string Model(const std::string& name, int64_t version = -1,
                    const PhaseView& view = {}) const {
    return Text(ExplainModelReadiness(view, Table(), name, version));
  }

  std::map<repository::ModelId, repository::VersionRecords> models_;
};

TEST_F(ReadinessTest, Models) {
  EXPECT_EQ(Server(), "yes");
  models_[{"a"}][1] = Serving();
  EXPECT_EQ(Server(), "yes");
  models_[{"b"}];
  EXPECT_EQ(Server(), "no: model b: (it has no version)");
  models_[{"b"}][1] = Failed("no file");
  models_[{"b"}][3] = VersionRecord();
  EXPECT_EQ(Server(), "no: model b:1 UNAVAILABLE (no file); model b:3 LOADING ()");
  models_[{"b"}].erase(3);
  models_[{"b"}][1] = Serving(Status::Unavailable("device lost"));
  EXPECT_EQ(Server(), "no: backend b:1 READY (device lost)");
  models_[{"b"}][1] = Failed(repository::kUnloadedReason);
  EXPECT_EQ(Server(), "yes");
}

TEST_F(ReadinessTest, ModelsNeedNotCount) {
  models_[{"b"}][1] = Failed("no file");
  EXPECT_EQ(Text(ExplainServerReadiness({}, nullptr, {})), "yes");
  EXPECT_EQ(Text(ExplainServerReadiness({.draining = true}, nullptr, {})),
            "no: draining (the server drains: it be)");
}

TEST_F(ReadinessTest, Phases) {
  EXPECT_EQ(Server({.phase = Phase::kFailed, .failure = "disk"}), "no: failed (disk)");
  EXPECT_EQ(Server({.phase = Phase::kEnding, .draining = true}),
            "no: ending (the server stops: it ref); draining (the server drains: it be)");
  EXPECT_EQ(Server({.phase = Phase::kStopping}), "no: exiting (the server stops: it unl)");
  EXPECT_EQ(ExplainServerReadiness({.phase = Phase::kEnding}, nullptr, {}).status.message(),
            "Server exiting");
  EXPECT_TRUE(ExplainServerReadiness({.phase = Phase::kFailed}, nullptr, {}).status.ok());
}

TEST_F(ReadinessTest, OneModel) {
  models_[{"m"}][1] = Failed("no file");
  models_[{"m"}][2] = Serving();
  EXPECT_EQ(Model("m"), "yes");
  EXPECT_EQ(Model("m", 2), "yes");
  EXPECT_EQ(Model("m", 1), "no: model m:1 UNAVAILABLE (no file)");
  EXPECT_EQ(Model("m", 3), "no: model m: (Request for unknown mode)");
  EXPECT_EQ(Model("x"), "no: model x: (Request for unknown mode)");
  models_[{"m"}][2] = Serving(Status::Unavailable("device lost"));
  EXPECT_EQ(Model("m"), "no: backend m: READY (device lost)");
  models_[{"m"}][2] = Failed(repository::kUnloadedReason);
  EXPECT_EQ(Model("m"), "no: model m:1 UNAVAILABLE (no file); model m:2 UNAVAILABLE (unloaded)");
}

TEST_F(ReadinessTest, ADrainIsNoReasonOfAModel) {
  models_[{"m"}][1] = Serving();
  EXPECT_EQ(Model("m", 1, {.draining = true}), "yes");
  EXPECT_EQ(Model("m", 1, {.phase = Phase::kFailed, .failure = "disk"}), "no: failed (disk)");
  EXPECT_EQ(ExplainModelReadiness({.phase = Phase::kEnding}, Table(), "m", 1).status.message(),
            "Server not ready");
}

TEST_F(ReadinessTest, NamesOfSeveralRepositories) {
  models_[{"m", "/one"}][1] = Failed("no file");
  models_[{"m", "/two"}][1] = Serving();
  EXPECT_EQ(Server(), "no: model /one::m:1 UNAVAILABLE (no file)");
  EXPECT_EQ(Text(ExplainModelReadiness({}, Table(/*namespacing=*/true), "m", -1)),
            "no: model m: (There are 2 identifiers )");
}

TEST(ExplainLiveness, WhatTheWatchdogHasFound) {
  using watchdog::Finding;
  const Finding stuck{.facts = {base::StageKind::kEventLoop, "http-0"},
                      .age_ns = 61'500'000'000,
                      .detail = "it takes no task"};
  Finding executing = stuck, may_wait = stuck;
  executing.kind = Finding::Kind::kExecuting;
  may_wait.facts.must_move = false;
  EXPECT_TRUE(ExplainLiveness({}, {}, true).live);
  // Without the flag a finding is only named.
  const api::Liveness named = ExplainLiveness({}, {stuck}, false);
  EXPECT_TRUE(named.live);
  ASSERT_EQ(named.findings.size(), 1u);
  EXPECT_EQ(named.findings[0].cause, "stuck");
  EXPECT_EQ(named.findings[0].stage, "event-loop");
  EXPECT_EQ(named.findings[0].seconds, 61u);
  EXPECT_EQ(named.findings[0].text, "event-loop 'http-0' has not moved for 61 s: it takes no task");
  EXPECT_FALSE(ExplainLiveness({}, {executing, stuck}, true).live);
  const api::Liveness slow = ExplainLiveness({}, {executing, may_wait}, true);
  EXPECT_TRUE(slow.live);
  EXPECT_EQ(slow.findings[0].cause, "executing");
  const api::Liveness many = ExplainLiveness({}, std::vector<Finding>(250, stuck), true);
  EXPECT_EQ(many.findings.size(), api::kMaxHealthReasons);
  EXPECT_EQ(many.omitted, 250 - api::kMaxHealthReasons);
}

TEST(ExplainLiveness, Phases) {
  EXPECT_TRUE(ExplainLiveness({.phase = Phase::kEnding, .draining = true}, {}, true).live);
  const api::Liveness failed =
      ExplainLiveness({.phase = Phase::kFailed, .failure = "disk"}, {}, false);
  EXPECT_FALSE(failed.live);
  EXPECT_EQ(failed.findings[0].text, "disk");
  EXPECT_FALSE(ExplainLiveness({.phase = Phase::kStopping}, {}, false).live);
}

TEST_F(ReadinessTest, ManyModelsAreCounted) {
  for (int i = 0; i < 250; ++i) models_[{"m" + std::to_string(i)}][1] = Failed("no file");
  const ModelTable table = Table();
  const api::Readiness readiness = ExplainServerReadiness({}, &table, {});
  EXPECT_EQ(readiness.reasons.size(), api::kMaxHealthReasons);
  EXPECT_EQ(readiness.omitted, 250 - api::kMaxHealthReasons);
}

}  // namespace
}  // namespace nereid::server
