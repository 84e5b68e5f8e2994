// SPDX-License-Identifier: Apache-2.0
#include "repository/version_maker.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <future>
#include <new>
#include <thread>

#include "config/parse/parse.h"
#include "repository/testing/fake_loader.h"

namespace nereid::repository {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

const ModelId kModel{"m"};

class VersionMakerTest : public ::testing::Test {
 protected:
  void SetUp() override {
    polled_.versions = {1};
    polled_.basis.config = config::ParseModelConfigText("backend: \"b\"", "test").value();
    polled_.written = polled_.basis.config;
  }
  VersionMaker::Made Make(uint32_t retries = 0) {
    VersionMaker maker(loader_, served_, living_, gate_, retries);
    return maker.Make(kModel, polled_, {}, 1, run_);
  }
  /// Each version fails.
  void Break() {
    polled_.basis.config =
        config::ParseModelConfigText("backend: \"b\" parameters { key: \"bad\" }", "test").value();
  }

  FakeLoader loader_;
  VersionSwitch served_{false};
  LivingVersions living_;
  LoadGate gate_;
  PolledModel polled_;
  base::FakeClock clock_;
  LoadRun run_{clock_, 0};
};

TEST_F(VersionMakerTest, AVersionLivesUntilItIsLetGo) {
  polled_.versions = {1, 2};
  VersionMaker::Made made = Make();
  EXPECT_EQ(living_.Count(), 2u);
  made.versions.erase(1);
  EXPECT_THAT(living_.WaitUntilGone([] { return true; }), ElementsAre("m:2"));
  made.versions.clear();
  EXPECT_EQ(living_.Count(), 0u);
}

TEST_F(VersionMakerTest, AFailureIsTriedAgain) {
  Break();
  const VersionMaker::Made made = Make(2);
  EXPECT_EQ(loader_.loads, 3);
  EXPECT_EQ(made.versions.at(1).status().message(), "it is bad");
  EXPECT_THAT(living_.List(), IsEmpty());
}

TEST_F(VersionMakerTest, AClosedGateEndsTheRetries) {
  Break();
  loader_.on_load = [this](const VersionSource&) { gate_.Close(); };
  Make(2);
  EXPECT_EQ(loader_.loads, 1);
}

TEST_F(VersionMakerTest, NothingLivesOfALoadForWhichMemoryRunsOut) {
  loader_.on_load = [](const VersionSource&) { throw std::bad_alloc(); };
  EXPECT_THROW(Make(), std::bad_alloc);
  EXPECT_THAT(living_.List(), IsEmpty()) << "who waits for it would wait forever";
}

TEST_F(VersionMakerTest, ALoadThatCannotEndEarlyNeedsNoOtherThread) {
  std::thread::id loaded_on;
  loader_.on_load = [&](const VersionSource&) { loaded_on = std::this_thread::get_id(); };
  Make();
  EXPECT_NE(loaded_on, std::this_thread::get_id());
  VersionMaker maker(loader_, served_, living_, gate_, 0);
  LoadRun alone(clock_, 0, /*can_be_cancelled=*/false);
  EXPECT_TRUE(maker.Make(kModel, polled_, {}, 1, alone).versions.at(1).ok());
  EXPECT_EQ(loaded_on, std::this_thread::get_id());
  LoadRun limited(clock_, 3'000'000'000, /*can_be_cancelled=*/false);
  maker.Make(kModel, polled_, {}, 1, limited);
  EXPECT_NE(loaded_on, std::this_thread::get_id());
}

TEST_F(VersionMakerTest, ALoadThatWasGivenUpEndsByItself) {
  std::promise<void> begun;
  std::promise<void> may_end;
  loader_.on_load = [&](const VersionSource&) {
    begun.set_value();
    may_end.get_future().wait();
  };
  VersionMaker maker(loader_, served_, living_, gate_, 2);
  std::thread cancels([&] {
    begun.get_future().wait();
    run_.Cancel();
  });
  const auto text = [&](const VersionMaker::Made& made) {
    return made.versions.at(1).status().ToString();
  };
  EXPECT_EQ(text(maker.Make(kModel, polled_, {}, 1, run_)), "Cancelled: the load was cancelled");
  cancels.join();
  EXPECT_EQ(loader_.loads, 1) << "no retry";
  EXPECT_EQ(living_.Count(), 1u) << "a stop waits for it";
  LoadRun next(clock_, 0);
  EXPECT_EQ(text(maker.Make(kModel, polled_, {}, 2, next)),
            "Unavailable: an earlier load, which was given up, has not ended yet");
  loader_.on_load = nullptr;
  may_end.set_value();
  living_.WaitUntilGone([] { return false; });
  EXPECT_TRUE(maker.Make(kModel, polled_, {}, 3, next).versions.at(1).ok());
}

TEST_F(VersionMakerTest, ALoadThatTakesTooLongIsGivenUp) {
  LoadRun run(clock_, 3'000'000'000);
  loader_.on_load = [&](const VersionSource&) {
    clock_.Advance(3'000'000'000);
    while (gate_.Loading().empty()) std::this_thread::yield();  // the test enters the gate
  };
  VersionMaker maker(loader_, served_, living_, gate_, 0);
  EXPECT_EQ(maker.Make(kModel, polled_, {}, 1, run).versions.at(1).status().ToString(),
            "Unavailable: the load has not ended within 3 s (--model-load-timeout-secs, or "
            "load_timeout_secs of the model)");
  const LoadGate::Pass ends = gate_.Enter("m");
  living_.WaitUntilGone([] { return false; });
}

}  // namespace
}  // namespace nereid::repository
