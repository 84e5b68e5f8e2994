// SPDX-License-Identifier: Apache-2.0
// Operations that meet: which of them wait, which are given up, and what ensembles bring along.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <future>
#include <thread>

#include "repository/testing/repository_fixture.h"

namespace nereid::repository {
namespace {

constexpr const char* kPlain =
    "backend: \"b\" "
    "input { name: \"I\" data_type: TYPE_FP32 dims: 1 } "
    "output { name: \"O\" data_type: TYPE_FP32 dims: 1 }";

std::string Step(const std::string& model, const std::string& from, const std::string& to) {
  return "step { model_name: \"" + model + "\" model_version: -1 input_map { key: \"I\" value: \"" +
         from + "\" } output_map { key: \"O\" value: \"" + to + "\" } } ";
}

class TurnsTest : public RepositoryTest {
 protected:
  void SetUp() override {
    RepositoryTest::SetUp();
    Write("part", kPlain, {"1"});
    Write("slow", kPlain, {"1"});
    Write("ens",
          "platform: \"ensemble\" "
          "input { name: \"I\" data_type: TYPE_FP32 dims: 1 } "
          "output { name: \"O\" data_type: TYPE_FP32 dims: 1 } "
          "ensemble_scheduling { " +
              Step("part", "I", "between") + Step("slow", "between", "O") + "}",
          {"1"});
    lifecycle_.emplace(options_, loader_);
  }
  void TearDown() override { lifecycle_.reset(); }

  void Load(const std::string& name) {
    const base::Status status = lifecycle_->Load(name);
    EXPECT_TRUE(status.ok()) << status.message();
  }
  bool Serves(const std::string& name) { return lifecycle_->Table()->Find(name, -1).ok(); }
  /// Each load of the model waits for may_go_, having set begun_.
  void HoldLoadsOf(const std::string& name) {
    loader_.on_load = [this, name](const VersionSource& source) {
      if (source.id.name != name || held_.exchange(true)) return;
      begun_.set_value();
      may_go_.get_future().wait();
    };
  }

  std::optional<ModelLifecycle> lifecycle_;
  std::atomic<bool> held_{false};
  std::promise<void> begun_;
  std::promise<void> may_go_;
};

TEST_F(TurnsTest, AnUnloadOfAMemberWaitsForTheLoadOfItsEnsemble) {
  std::promise<void> unloads;
  loader_.on_load = [&](const VersionSource& source) {
    if (source.id.name != "slow") return;
    if (!Serves("part")) return;
    unloads.set_value();
    // The member is there, the ensemble is not: time for an unload that does not wait.
    for (int i = 0; i < 100 && Serves("part"); ++i) std::this_thread::yield();
  };
  options_.load_threads = 1;  // "part" before "slow"
  lifecycle_.emplace(options_, loader_);
  std::thread unload([&] {
    unloads.get_future().wait();
    EXPECT_TRUE(lifecycle_->Unload("part").ok());
  });
  const base::Status loaded = lifecycle_->Load("ens");
  unload.join();
  EXPECT_TRUE(loaded.ok()) << loaded.message();
  EXPECT_FALSE(Serves("part"));
  EXPECT_FALSE(Serves("ens")) << "it goes with its member";
  EXPECT_TRUE(Serves("slow"));
  EXPECT_TRUE(lifecycle_->Load("part").ok());
  EXPECT_TRUE(Serves("ens")) << "and comes back with it";
}

TEST_F(TurnsTest, ALoadThatWaitsIsGivenUpWhenItsClientIsGone) {
  HoldLoadsOf("part");
  std::thread first([&] { Load("part"); });
  begun_.get_future().wait();
  const auto gone = [] { return true; };
  EXPECT_EQ(lifecycle_->Load("part", {}, gone).code(), base::StatusCode::kCancelled);
  EXPECT_EQ(lifecycle_->Load("ens", {}, gone).code(), base::StatusCode::kCancelled);
  // Nothing is in its way: it begins at once, and what has begun is finished.
  EXPECT_TRUE(lifecycle_->Load("slow", {}, gone).ok());
  may_go_.set_value();
  first.join();
  EXPECT_EQ(loader_.loads, 2);
  EXPECT_TRUE(Serves("part") && Serves("slow"));
  EXPECT_FALSE(Serves("ens"));
}

TEST_F(TurnsTest, LoadsOfOneModelAndItsUnloadsTakeTurns) {
  std::vector<std::thread> threads;
  for (int i = 0; i < 8; ++i) {
    threads.emplace_back([&, i] {
      for (int n = 0; n < 25; ++n) {
        const std::string name = (i + n) % 2 == 0 ? "ens" : "part";
        Load(name);
        EXPECT_TRUE(lifecycle_->Unload(name, n % 3 == 0).ok());
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  Load("ens");
  EXPECT_TRUE(Serves("ens") && Serves("part") && Serves("slow"));
}

TEST_F(TurnsTest, ALoadThatDoesNothingMakesNoMemberWanted) {
  Load("ens");
  Load("part");
  ASSERT_TRUE(lifecycle_->Unload("ens").ok());
  Load("ens");
  ASSERT_TRUE(lifecycle_->Unload("ens", true).ok());
  EXPECT_FALSE(Serves("part")) << "the ensemble had brought it in, and the load changed nothing";
  EXPECT_FALSE(Serves("slow"));
}

TEST_F(TurnsTest, AMemberThatWasLoadedForItselfStays) {
  Load("part");
  Load("ens");
  ASSERT_TRUE(lifecycle_->Unload("ens", true).ok());
  EXPECT_TRUE(Serves("part"));
  EXPECT_FALSE(Serves("slow"));
}

TEST_F(TurnsTest, AMemberThatIsLoadedAnewByNameStays) {
  Load("ens");
  WriteFile("part/note", "");
  Load("part");
  ASSERT_TRUE(lifecycle_->Unload("ens", true).ok());
  EXPECT_TRUE(Serves("part"));
}

TEST_F(TurnsTest, ASharedMemberStaysForTheOtherEnsemble) {
  Write("other",
        "platform: \"ensemble\" "
        "input { name: \"I\" data_type: TYPE_FP32 dims: 1 } "
        "output { name: \"O\" data_type: TYPE_FP32 dims: 1 } "
        "ensemble_scheduling { " +
            Step("part", "I", "O") + "}",
        {"1"});
  Load("ens");
  Load("other");
  ASSERT_TRUE(lifecycle_->Unload("ens", true).ok());
  EXPECT_TRUE(Serves("other") && Serves("part"));
  EXPECT_FALSE(Serves("slow"));
}

}  // namespace
}  // namespace nereid::repository
