// SPDX-License-Identifier: Apache-2.0
// Each operator becomes the ONNX nodes that its family's file in golden/ shows, or is refused with
// the message that stands there; and ONNX Runtime opens and runs what is made. With
// NEREID_UPDATE_GOLDEN set, the test writes the files anew.
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <set>

#include "caffe2/operator.h"
#include "caffe2/testing/net_fixture.h"
#include "caffe2/testing/net_text.h"

namespace nereid::caffe2 {
namespace {

using testing::NetCase;

class GoldenTest : public testing::NetTest, public ::testing::WithParamInterface<std::string> {};

TEST_P(GoldenTest, BecomesTheseNodes) {
  std::vector<NetCase> cases = testing::ReadCases(testing::GoldenPath(GetParam()));
  ASSERT_FALSE(cases.empty());
  const bool update = std::getenv("NEREID_UPDATE_GOLDEN") != nullptr;
  for (NetCase& net : cases) {
    const std::string got = testing::TranslateToText(net);
    if (update) {
      net.expected = got;
    } else {
      EXPECT_EQ(got, net.expected) << net.name;
    }
  }
  if (update) {
    std::ofstream(testing::GoldenPath(GetParam())) << testing::WriteCases(cases);
  }
}

TEST_P(GoldenTest, OnnxRuntimeRunsThem) {
  for (const NetCase& net : testing::ReadCases(testing::GoldenPath(GetParam()))) {
    const bool refused = net.expected.starts_with("error: ");
    const std::string failure = Load(net);
    EXPECT_EQ(failure.empty(), !refused) << net.name << ": " << failure;
    if (!refused && failure.empty()) {
      EXPECT_EQ(RunWithOnes(net), "") << net.name;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Families, GoldenTest, ::testing::ValuesIn(testing::GoldenNames()),
                         [](const auto& info) { return info.param; });

TEST(OperatorTableTest, EveryOperatorHasACase) {
  std::set<std::string> shown;
  for (const std::string& file : testing::GoldenNames()) {
    for (const NetCase& net : testing::ReadCases(testing::GoldenPath(file))) {
      if (net.expected.starts_with("error: ")) {
        continue;
      }
      for (const auto* part : {&net.nets.init, &net.nets.predict}) {
        for (const auto& op : part->op()) {
          shown.insert(op.type());
        }
      }
    }
  }
  for (const Rows* rows : AllRows()) {
    for (const OperatorRow& row : *rows) {
      EXPECT_TRUE(shown.count(row.type)) << row.type << " is in no file of golden/";
    }
  }
}

}  // namespace
}  // namespace nereid::caffe2
