// SPDX-License-Identifier: Apache-2.0
#include "repository/version_maker.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <new>

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
  }
  VersionMaker::Made Make(uint32_t retries = 0) {
    return VersionMaker(loader_, served_, living_, gate_, retries).Make(kModel, polled_, {}, 1);
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

}  // namespace
}  // namespace nereid::repository
