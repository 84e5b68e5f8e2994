// SPDX-License-Identifier: Apache-2.0
#include "onnxruntime/onnx_fixture.h"

#include <cstdlib>

namespace nereid::onnxruntime {
namespace {

std::string BuildDirectory() {
  const char* directory = std::getenv("NEREID_BUILD_DIR");
  return directory == nullptr ? "." : directory;
}

}  // namespace

OnnxTest::OnnxTest() {
  server_.backend().name = "onnxruntime";
  server_.backend().directory = BuildDirectory() + "/backends/onnxruntime";
}

void OnnxTest::TearDown() {
  EXPECT_EQ(backend::testing::LiveErrors(), 0);
  EXPECT_EQ(backend::testing::LiveMessages(), 0);
  EXPECT_EQ(backend::testing::LiveResponses(), 0);
  backend::testing::Faults() = {};
}

std::string OnnxTest::Load(const std::string& model, const std::string& config, bool complete) {
  server_.model().name = model;
  server_.model().directory = BuildDirectory() + "/tests/models/" + model;
  server_.model().config = R"({"name":")" + model + R"(","backend":"onnxruntime")" +
                           (config.empty() ? "" : "," + config) + "}";
  server_.model().auto_complete = complete;
  return server_.Load();
}

std::string OnnxTest::OperatorLibrary() {
  return BuildDirectory() + "/tests/plugins/libtriple_operator.so";
}

std::string OnnxTest::Tensor(const std::string& name, const std::string& type,
                             const std::string& dims, const std::string& more) {
  return R"({"name":")" + name + R"(","data_type":"TYPE_)" + type + R"(","dims":)" + dims + more +
         "}";
}

std::string OnnxTest::Io(int max_batch_size, const std::string& inputs, const std::string& outputs,
                         const std::string& more) {
  return R"("max_batch_size":)" + std::to_string(max_batch_size) + R"(,"input":[)" + inputs +
         R"(],"output":[)" + outputs + "]" + (more.empty() ? "" : "," + more);
}

}  // namespace nereid::onnxruntime
