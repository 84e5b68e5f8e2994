// SPDX-License-Identifier: Apache-2.0
// Damaged nets, from a fixed seed: the whole plug-in, ONNX Runtime included, loads each or refuses
// it with a message that names the model and its file; what loads answers a request.
#include <gtest/gtest.h>

#include "caffe2/testing/mutate.h"
#include "caffe2/testing/net_fixture.h"

namespace nereid::caffe2 {
namespace {

using testing::NetCase;

constexpr int kMutants = 300;

class HostileTest : public testing::NetTest {
 protected:
  HostileTest() {
    for (const std::string& name : testing::GoldenNames()) {
      for (NetCase& net : testing::ReadCases(testing::GoldenPath(name))) {
        if (!net.expected.starts_with("error: ")) {
          nets_.push_back(std::move(net));
        }
      }
    }
    server_.backend().config = R"({"cmdline":{"default-max-batch-size":"0"}})";
  }

  const NetCase& AnyNet() { return nets_[random_() % nets_.size()]; }

  /// Loads what is written, as if `net` were there.
  void LoadMutant(const NetCase& net, const std::string& what) {
    const std::string failure = LoadFiles(InputsText(net.inputs));
    if (failure.empty()) {
      ++loaded_;
      RunWithOnes(net);
      return;
    }
    ++refused_;
    EXPECT_LT(failure.size(), 10000u) << what;
    EXPECT_NE(failure.find("net"), std::string::npos) << what << ": " << failure;
    EXPECT_NE(failure.find_first_not_of(" "), std::string::npos) << what;
  }

  std::vector<NetCase> nets_;
  std::mt19937 random_{20240811};
  int loaded_ = 0;
  int refused_ = 0;
};

TEST_F(HostileTest, NetsThatAreChanged) {
  for (int i = 0; i < kMutants; ++i) {
    const NetCase& net = AnyNet();
    NetPair nets = net.nets;
    for (unsigned changes = 1 + random_() % 3; changes > 0; --changes) {
      testing::MutateNet(&random_, &nets);
    }
    WriteFiles(nets.init.SerializeAsString(), nets.predict.SerializeAsString());
    LoadMutant(net, "mutant " + std::to_string(i) + " of '" + net.name + "'");
  }
  EXPECT_GT(loaded_, kMutants / 10);
  EXPECT_GT(refused_, kMutants / 4);
}

TEST_F(HostileTest, BytesThatAreChanged) {
  for (int i = 0; i < kMutants; ++i) {
    const NetCase& net = AnyNet();
    std::string init = net.nets.init.SerializeAsString();
    std::string predict = net.nets.predict.SerializeAsString();
    for (unsigned changes = 1 + random_() % 3; changes > 0; --changes) {
      testing::MutateBytes(&random_, init.empty() || random_() % 3 != 0 ? &predict : &init);
    }
    WriteFiles(init, predict);
    LoadMutant(net, "mutant " + std::to_string(i) + " of '" + net.name + "'");
  }
  EXPECT_GT(loaded_, 0);
  EXPECT_GT(refused_, kMutants / 4);
}

}  // namespace
}  // namespace nereid::caffe2
