// SPDX-License-Identifier: Apache-2.0
#include "server/residency/model_accounts.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace nereid::server {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Pair;

class ModelAccountsTest : public ::testing::Test {
 protected:
  std::vector<std::string> changes_;  // "model: bytes, versions, expected"
  ModelAccounts accounts_{[this](const std::string& model, const ModelAccounts::Holding& holding) {
    changes_.push_back(model + ": " + std::to_string(holding.bytes) + ", " +
                       std::to_string(holding.versions) + ", " +
                       std::to_string(holding.expected_bytes));
  }};
};

TEST_F(ModelAccountsTest, AVersionCountsUntilItIsDestroyed) {
  auto charge = accounts_.Charge("m", 1, 300, 200);
  EXPECT_EQ(charge->bytes(), 300u);
  EXPECT_THAT(accounts_.List(), ElementsAre(Pair("m", 300u)));
  charge.reset();
  EXPECT_THAT(accounts_.List(), IsEmpty());
  EXPECT_THAT(changes_, ElementsAre("m: 300, 1, 300", "m: 0, 0, 0"));
}

TEST_F(ModelAccountsTest, AVersionHasAtLeastTheBytesOfItsFiles) {
  EXPECT_EQ(accounts_.Charge("m", 1, 0, 200)->bytes(), 200u);
}

TEST_F(ModelAccountsTest, OneWrongMeasurementIsForgotten) {
  EXPECT_EQ(accounts_.Charge("m", 1, 100, 0)->bytes(), 100u);
  EXPECT_EQ(accounts_.Charge("m", 1, 100, 0)->bytes(), 100u);
  EXPECT_EQ(accounts_.Charge("m", 1, 5000, 0)->bytes(), 100u);
}

TEST_F(ModelAccountsTest, AReloadHoldsBothVersionsAndExpectsOne) {
  auto old = accounts_.Charge("m", 1, 100, 0);
  auto young = accounts_.Charge("m", 1, 120, 0);
  old.reset();
  EXPECT_THAT(changes_, ElementsAre("m: 100, 1, 100", "m: 220, 2, 120", "m: 120, 1, 120"));
}

TEST_F(ModelAccountsTest, TheVersionsOfAModelAreExpectedTogether) {
  const auto first = accounts_.Charge("m", 1, 100, 0);
  const auto second = accounts_.Charge("m", 2, 50, 0);
  EXPECT_THAT(changes_, ElementsAre("m: 100, 1, 100", "m: 150, 2, 150"));
}

}  // namespace
}  // namespace nereid::server
