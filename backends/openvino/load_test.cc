// SPDX-License-Identifier: Apache-2.0
// The plug-in on the stand-in for the server, with models of tests/data/openvino.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "openvino/model_file.h"
#include "testing/fake_server.h"

namespace nereid::openvino {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

class OpenVinoTest : public ::testing::Test {
 protected:
  OpenVinoTest() : root_(::testing::TempDir() + "openvino_test") {
    fs::remove_all(root_);
    server_.backend().name = "openvino";
  }
  ~OpenVinoTest() override { fs::remove_all(root_); }

  static fs::path Data() {
    const char* source = std::getenv("NEREID_SOURCE_DIR");
    return fs::path(source == nullptr ? "." : source) / "tests" / "data" / "openvino";
  }

  /// Copies the model into version 1; `config` is the configuration without its name.
  std::string Load(const std::string& model, const std::string& config, bool complete = false) {
    fs::create_directories(root_ / "1");
    fs::copy(Data() / model, root_ / "1", fs::copy_options::recursive);
    server_.model().name = "m";
    server_.model().directory = root_.string();
    server_.model().config =
        R"({"name":"m","backend":"openvino")" + (config.empty() ? "" : "," + config) + "}";
    server_.model().auto_complete = complete;
    return server_.Load();
  }

  const fs::path root_;
  backend::testing::FakeServer server_;
};

constexpr const char* kFixed =
    R"("input":[{"name":"x","data_type":"TYPE_FP32","dims":[2,3]}],
       "output":[{"name":"y","data_type":"TYPE_FP32","dims":[2,3]}])";
constexpr const char* kRemembers =
    R"("max_batch_size":4,"input":[{"name":"x","data_type":"TYPE_FP32","dims":[2]}],
       "output":[{"name":"total","data_type":"TYPE_FP32","dims":[2]}])";

TEST_F(OpenVinoTest, ARun) {
  ASSERT_EQ(Load("fixed", kFixed), "");
  TRITONBACKEND_Request request;
  request.AddInput<float>("x", TRITONSERVER_TYPE_FP32, {2, 3}, {1, 2, 3, 4, 5, 6});
  request.outputs = {"y"};
  ASSERT_EQ(server_.Execute({&request}), "");
  EXPECT_THAT(request.Answer().outputs.at("y").As<float>(), ElementsAre(2, 4, 6, 8, 10, 12));
}

TEST_F(OpenVinoTest, AnInputAtAnyPlaceInMemory) {
  ASSERT_EQ(Load("fixed", kFixed), "");
  TRITONBACKEND_Request request;
  TRITONBACKEND_Input& input =
      request.AddInput<float>("x", TRITONSERVER_TYPE_FP32, {2, 3}, {1, 2, 3, 4, 5, 6});
  input.pieces[0].insert(input.pieces[0].begin(), '\0');
  input.offset = 1;
  request.outputs = {"y"};
  ASSERT_EQ(server_.Execute({&request}), "");
  EXPECT_THAT(request.Answer().outputs.at("y").As<float>(), ElementsAre(2, 4, 6, 8, 10, 12));
}

TEST_F(OpenVinoTest, CompletionWritesWhatTheModelHas) {
  ASSERT_EQ(Load("remembers", "", true), "");
  EXPECT_THAT(server_.model().config, HasSubstr(R"("max_batch_size":4)"));
  EXPECT_THAT(server_.model().config, HasSubstr(R"("name":"total")"));
  // A variable is none of the clients' business.
  EXPECT_THAT(server_.model().config, ::testing::Not(HasSubstr("memory")));
}

TEST_F(OpenVinoTest, AVariableIsAStateWhereTheConfigurationSaysSo) {
  ASSERT_EQ(Load("remembers", std::string(kRemembers) + R"(,"sequence_batching":{"state":[
      {"input_name":"memory","output_name":"memory","data_type":"TYPE_FP32","dims":[2]}]})"),
            "");
  TRITONBACKEND_Request request;
  request.has_states = true;
  request.AddInput<float>("x", TRITONSERVER_TYPE_FP32, {1, 2}, {1, 2});
  request.AddInput<float>("memory", TRITONSERVER_TYPE_FP32, {1, 2}, {10, 20});
  request.outputs = {"total"};
  ASSERT_EQ(server_.Execute({&request}), "");
  EXPECT_THAT(request.Answer().outputs.at("total").As<float>(), ElementsAre(11, 22));
  EXPECT_THAT(request.State("memory").As<float>(), ElementsAre(11, 22));
}

TEST_F(OpenVinoTest, AVariableThatNobodyKeepsBeginsAnew) {
  ASSERT_EQ(Load("remembers", kRemembers), "");
  for (int i = 0; i < 2; ++i) {
    TRITONBACKEND_Request request;
    request.AddInput<float>("x", TRITONSERVER_TYPE_FP32, {1, 2}, {1, 2});
    request.outputs = {"total"};
    ASSERT_EQ(server_.Execute({&request}), "");
    EXPECT_THAT(request.Answer().outputs.at("total").As<float>(), ElementsAre(1, 2));
  }
}

TEST_F(OpenVinoTest, AnEmptyTensorOfAnImpossibleShape) {
  ASSERT_EQ(Load("places", R"("input":[{"name":"x","data_type":"TYPE_FP32","dims":[-1,-1]}],
      "output":[{"name":"sums","data_type":"TYPE_FP32","dims":[-1]}])"),
            "");
  TRITONBACKEND_Request request;
  request.AddInput<float>("x", TRITONSERVER_TYPE_FP32, {0, int64_t{1} << 40}, {});
  request.outputs = {"sums"};
  ASSERT_EQ(server_.Execute({&request}), "");
  EXPECT_THAT(request.Answer().message, HasSubstr("input 'x' is empty, but its shape"));
}

TEST_F(OpenVinoTest, GpuInstances) {
  server_.instance().kind = TRITONSERVER_INSTANCEGROUPKIND_GPU;
  EXPECT_THAT(Load("fixed", kFixed), HasSubstr("KIND_CPU"));
}

TEST_F(OpenVinoTest, TheModelsFile) {
  backend::ModelConfig config;
  config.name = "m";
  config.version = 1;
  config.directory = root_.string();
  std::string path;
  const auto touch = [&](const fs::path& file) {
    fs::create_directories((root_ / "1" / file).parent_path());
    std::ofstream(root_ / "1" / file) << "x";
  };
  const auto find = [&](const std::string& name) {
    config.default_model_filename = name;
    const Error error = FindModelFile(config, &path);
    return error.ok() ? fs::relative(path, root_ / "1").string() : error.message();
  };
  EXPECT_THAT(find(""), HasSubstr("unable to find '"));
  touch("model.onnx");
  EXPECT_EQ(find(""), "model.onnx");
  EXPECT_EQ(find("model.xml"), "model.onnx");
  touch("model.xml");
  EXPECT_EQ(find(""), "model.xml");
  EXPECT_THAT(find("other.xml"), HasSubstr("unable to find '"));
  touch("big/model.onnx");
  EXPECT_EQ(find("big"), "big/model.onnx");
  touch("same.onnx/same.onnx");
  EXPECT_EQ(find("same.onnx"), "same.onnx/same.onnx");
  touch("saved/saved_model.pb");
  EXPECT_EQ(find("saved"), "saved");
  EXPECT_THAT(find("../1/model.xml"), HasSubstr("leads out of the version's folder"));
  EXPECT_THAT(find("/model.xml"), HasSubstr("leads out of the version's folder"));
}

}  // namespace
}  // namespace nereid::openvino
