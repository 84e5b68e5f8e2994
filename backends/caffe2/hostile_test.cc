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
    // Either a file is at fault, or what it holds does not fit the configuration.
    EXPECT_TRUE(failure.find(folder() + "/1/") != std::string::npos ||
                failure.starts_with("model 'net': the "))
        << what << ": " << failure;
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

TEST_F(HostileTest, TheSmallestNumberByMinusOne) {
  const NetCase net = testing::ParseCase("input a INT32 [3]\ninput b INT32 [3]\nDiv a b -> y");
  ASSERT_EQ(Load(net), "");
  TRITONBACKEND_Request request;
  request.AddInput<int32_t>("a", TRITONSERVER_TYPE_INT32, {3}, {INT32_MIN, 7, -7});
  request.AddInput<int32_t>("b", TRITONSERVER_TYPE_INT32, {3}, {-1, -1, 2});
  request.outputs = {"y"};
  ASSERT_EQ(server_.Execute({&request}), "");
  EXPECT_EQ(request.Answer().outputs.at("y").As<int32_t>(),
            (std::vector<int32_t>{INT32_MIN, -7, -3}));
}

TEST_F(HostileTest, ADivisionByZeroIsAnErrorOfItsRequest) {
  const NetCase net = testing::ParseCase("input a INT64 [1]\ninput b INT64 [1]\nDiv a b -> y");
  ASSERT_EQ(Load(net), "");
  TRITONBACKEND_Request request;
  request.AddInput<int64_t>("a", TRITONSERVER_TYPE_INT64, {1}, {1});
  request.AddInput<int64_t>("b", TRITONSERVER_TYPE_INT64, {1}, {0});
  request.outputs = {"y"};
  ASSERT_EQ(server_.Execute({&request}), "");
  EXPECT_NE(request.Answer().message.find("operator Div of output 'y'"), std::string::npos);
}

}  // namespace
}  // namespace nereid::caffe2
