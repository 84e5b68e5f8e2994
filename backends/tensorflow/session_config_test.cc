// SPDX-License-Identifier: Apache-2.0
#include "tensorflow/session_config.h"

#include <gtest/gtest.h>

#include "tensorflow/graph_writer.h"

namespace nereid::tensorflow {
namespace {

using testing::Number;
using testing::Text;

backend::ModelConfig Model(backend::Parameters::Map parameters) {
  backend::ModelConfig config;
  config.name = "m";
  config.parameters = backend::Parameters("model 'm'", std::move(parameters));
  return config;
}

std::string WholeProto(const backend::ModelConfig& config) {
  std::string proto;
  const Error error = MakeConfigProto(config, config.instance_count, &proto);
  return error.ok() ? proto : error.message();
}

// Experimental (16), a message of two bytes: disable_thread_spinning (9) is 1.
const std::string kNoSpinning = "\x82\x01\x02\x48\x01";

/// Returns the proto without the field that every default proto ends with, or the error.
std::string Proto(const backend::ModelConfig& config) {
  std::string proto = WholeProto(config);
  if (proto.ends_with(kNoSpinning)) {
    proto.resize(proto.size() - kNoSpinning.size());
  }
  return proto;
}

const std::string kOwnThreads = Number(9, 1);

TEST(SessionConfigTest, NothingAsked) { EXPECT_EQ(Proto(Model({})), ""); }

TEST(SessionConfigTest, ThreadsSpinOnlyIfAsked) {
  EXPECT_EQ(WholeProto(Model({})), kNoSpinning);
  EXPECT_EQ(WholeProto(Model({{"TF_ALLOW_THREAD_SPINNING", "0"}})), kNoSpinning);
  EXPECT_EQ(WholeProto(Model({{"TF_ALLOW_THREAD_SPINNING", "1"}})), "");
}

TEST(SessionConfigTest, Threads) {
  EXPECT_EQ(Proto(Model({{"TF_NUM_INTRA_THREADS", "2"}, {"TF_NUM_INTER_THREADS", "3"}})),
            Number(2, 2) + Number(5, 3) + kOwnThreads);
  EXPECT_EQ(Proto(Model({{"TF_NUM_INTRA_THREADS", "0"}})), "");
  for (const char* yes : {"1", "true", "True", "On", "ON", "yes"}) {
    EXPECT_EQ(Proto(Model({{"TF_USE_PER_SESSION_THREADS", yes}})), kOwnThreads) << yes;
  }
  for (const char* no : {"0", "false", "False", "off", "No"}) {
    EXPECT_EQ(Proto(Model({{"TF_USE_PER_SESSION_THREADS", no}})), "") << no;
  }
}

TEST(SessionConfigTest, TheServersShareIsForEachInstance) {
  backend::ModelConfig config = Model({{"cpu_threads_per_instance", "2"}});
  config.instance_count = 3;
  EXPECT_EQ(Proto(config), Number(2, 6) + kOwnThreads);
  config = Model({{"cpu_threads_per_instance", "2"}, {"TF_NUM_INTRA_THREADS", "5"}});
  EXPECT_EQ(Proto(config), Number(2, 5) + kOwnThreads);  // the author's word is the last
}

TEST(SessionConfigTest, ASharedPoolHasTheServersNumberOfThreads) {
  backend::ModelConfig config =
      Model({{"cpu_threads_per_instance", "8"}, {"cpu_threads_shared", "true"}});
  config.instance_count = 3;
  EXPECT_EQ(Proto(config), Number(2, 8));
  config = Model({{"cpu_threads_per_instance", "8"},
                  {"cpu_threads_shared", "true"},
                  {"TF_NUM_INTRA_THREADS", "5"}});
  EXPECT_EQ(Proto(config), Number(2, 5) + kOwnThreads);
}

TEST(SessionConfigTest, InstancesOfAGraphWithStateShareOnlyIfAsked) {
  const auto sharers = [](backend::ModelConfig config, bool changes_state) {
    config.instance_count = 3;
    int64_t count = 0;
    const Error error = ReadSharers(config, changes_state, &count);
    return error.ok() ? std::to_string(count) : error.message();
  };
  EXPECT_EQ(sharers(Model({}), false), "3");
  EXPECT_EQ(sharers(Model({}), true), "1");
  EXPECT_EQ(sharers(Model({{"MAX_SESSION_SHARE_COUNT", "2"}}), true), "2");
  EXPECT_EQ(sharers(Model({{"MAX_SESSION_SHARE_COUNT", "9"}}), true), "3");
  EXPECT_EQ(sharers(Model({{"MAX_SESSION_SHARE_COUNT", "0"}}), false),
            "model 'm': parameter 'MAX_SESSION_SHARE_COUNT' is '0', but must be an integer from 1 "
            "to 2147483647");
  std::string proto;
  backend::ModelConfig config = Model({{"cpu_threads_per_instance", "2"}});
  config.instance_count = 3;
  ASSERT_TRUE(MakeConfigProto(config, 1, &proto).ok());
  EXPECT_EQ(proto, Number(2, 2) + kOwnThreads + kNoSpinning);
}

TEST(SessionConfigTest, WrongValues) {
  EXPECT_EQ(
      Proto(Model({{"TF_NUM_INTRA_THREADS", "two"}})),
      "model 'm': parameter 'TF_NUM_INTRA_THREADS' is 'two', but must be an integer from 0 to "
      "1024");
  EXPECT_NE(Proto(Model({{"TF_NUM_INTER_THREADS", "-1"}})).find("'-1'"), std::string::npos);
  EXPECT_NE(Proto(Model({{"TF_USE_PER_SESSION_THREADS", "2"}})).find("'2'"), std::string::npos);
}

TEST(SessionConfigTest, GraphLevel) {
  backend::ModelConfig config = Model({});
  config.graph_level = 0;
  EXPECT_EQ(Proto(config), Text(10, Text(3, "")));
  config.graph_level = 1;
  EXPECT_EQ(Proto(config), Text(10, Text(3, Number(5, 1))));
  config.graph_level = 2;
  EXPECT_EQ(Proto(config), Text(10, Text(3, Number(5, 2))));
  config.graph_level = -1;
  EXPECT_EQ(Proto(config), Text(10, Text(3, Number(3, -1))));
}

TEST(SessionConfigTest, Accelerators) {
  backend::ModelConfig config = Model({});
  config.gpu_accelerators = {{"tensorrt", {}}, {"gpu_io", {}}, {"auto_mixed_precision", {}}};
  EXPECT_EQ(Proto(config), "");
  config.gpu_accelerators = {{"abacus", {}}};
  EXPECT_NE(Proto(config).find("unknown Execution Accelerator 'abacus'"), std::string::npos);
  config = Model({});
  config.cpu_accelerators = {{"openvino", {}}};
  EXPECT_NE(Proto(config).find("'openvino'"), std::string::npos);
}

TEST(SessionConfigTest, RunOptions) { EXPECT_EQ(RunOptionsProto(), Number(3, -1)); }

}  // namespace
}  // namespace nereid::tensorflow
