// SPDX-License-Identifier: Apache-2.0
// nereid infer against a fake server over HTTP, and what it makes of hostile answers.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <string>
#include <vector>

#include "app/tools/infer/event_stream.h"
#include "app/tools/infer/grpc_message.h"
#include "app/tools/infer/http_inference.h"
#include "app/tools/infer/save_output.h"
#include "app/tools/testing/remote_tools_fixture.h"
#include "base/temporary_directory.h"
#include "grpc_service.pb.h"

namespace nereid::app::tools {
namespace {

using ::testing::HasSubstr;
using testing::RemoteToolsTest;
using testing::Reply;

class InferTest : public RemoteToolsTest {
 protected:
  InferTest() {
    clock_.step_ns = 1'000'000;
    replies_["GET /v2"] = Reply(R"({"name":"x","extensions":["binary_tensor_data"]})");
    replies_["GET /v2/models/add"] =
        Reply(R"({"name":"add","versions":["1"],"platform":"p","inputs":[)"
              R"({"name":"a","datatype":"INT32","shape":[-1,2]},)"
              R"({"name":"b","datatype":"BYTES","shape":[-1,1]}],"outputs":[)"
              R"({"name":"sum","datatype":"INT32","shape":[-1,2]}]})");
    curl::testing::FakeReply answer = Reply(
        R"({"model_name":"add","model_version":"1","outputs":[{"name":"sum","datatype":"INT32",)"
        R"("shape":[1,2],"parameters":{"binary_data_size":8}}]})" +
        std::string("\1\0\0\0\2\0\0\0", 8));
    answer.response.fields = {{"Inference-Header-Content-Length", "128"}};
    answer.response.fields[0].second = std::to_string(answer.response.body.size() - 8);
    replies_["POST /v2/models/add/infer"] = answer;
  }
  void SetDecoupled() {
    replies_["GET /v2/models/add/config"] =
        Reply(R"({"model_transaction_policy":{"decoupled":true},"input":[)"
              R"({"name":"a","optional":false},{"name":"b","optional":true}]})");
    replies_["POST /v2/models/add/generate_stream"] = Reply(
        "data: {\"model_name\":\"add\",\"model_version\":\"1\",\"sum\":[1,2]}\n\n"
        ": comment\r\ndata:{\"model_name\":\"add\",\"model_version\":\"1\",\"sum\":3}\r\n\r\n");
  }
  const std::vector<std::string> words_ = {"add", "--input", "a=1,2", "-i", "b=hi"};
};

TEST_F(InferTest, BinaryTensorsGoBehindTheJson) {
  const ToolResult result = Run("infer", words_);
  EXPECT_EQ(result.exit_code, 0) << result.errors;
  ExpectGolden(Golden("infer/answer.txt"), result.out);
  const auto& request = requests_.back();
  const std::string json =
      R"({"parameters":{"binary_data_output":true},"inputs":[)"
      R"({"name":"a","datatype":"INT32","shape":[1,2],"parameters":{"binary_data_size":8}},)"
      R"({"name":"b","datatype":"BYTES","shape":[1,1],"parameters":{"binary_data_size":6}}]})";
  EXPECT_EQ(request.body, json + std::string("\1\0\0\0\2\0\0\0\2\0\0\0hi", 14));
  EXPECT_EQ(curl::FieldOf(request.fields, "Inference-Header-Content-Length"),
            std::to_string(json.size()));
  EXPECT_EQ(curl::FieldOf(request.fields, "Content-Type"), "application/octet-stream");
}

TEST_F(InferTest, JsonIfTheServerHasNoBinaryTensors) {
  replies_["GET /v2"] = Reply(R"({"name":"x","extensions":[]})");
  auto words = words_;
  words.insert(words.end(), {"--id=7", "--parameter=n=3", "--parameter=t=\"3\"", "--output=sum",
                             "--classes=2", "--parameter=f=0.5", "--parameter=y=true"});
  EXPECT_EQ(Run("infer", words).exit_code, 0);
  EXPECT_EQ(requests_.back().body,
            R"({"id":"7","parameters":{"binary_data_output":false,"n":3,"t":"3","f":0.5,"y":true},)"
            R"("inputs":[{"name":"a","datatype":"INT32","shape":[1,2],"data":[1,2]},)"
            R"({"name":"b","datatype":"BYTES","shape":[1,1],"data":["hi"]}],"outputs":[)"
            R"({"name":"sum","parameters":{"binary_data":false,"classification":2}}]})");
}

TEST_F(InferTest, AsJson) {
  auto words = words_;
  words.push_back("--format=json");
  ExpectGolden(Golden("infer/answer.json"), Run("infer", words).out);
  words.push_back("--repeat=10");
  const ToolResult many = Run("infer", words);
  EXPECT_EQ(many.exit_code, 0);
  EXPECT_THAT(many.out, HasSubstr(R"({"answered":10,"failed":0,"concurrency":1,"seconds":)"));
}

TEST_F(InferTest, ManyRequests) {
  auto words = words_;
  words.insert(words.end(), {"--repeat=3000", "--concurrency=1"});
  const ToolResult many = Run("infer", words);
  EXPECT_EQ(many.exit_code, 0) << many.errors;
  EXPECT_THAT(many.out, HasSubstr("3000 answered, 0 failed, 1 at once: "));
  EXPECT_THAT(progress_, ::testing::Contains(HasSubstr(" of 3000 requests")));
  replies_["POST /v2/models/add/infer"] = Reply(R"({"error":"no\u001b"})", 500);
  const ToolResult failed = Run("infer", words);
  EXPECT_EQ(failed.exit_code, 1);
  EXPECT_EQ(failed.errors, "nereid infer: the server answered 500: no\\x1b\n");
  EXPECT_THAT(failed.out, HasSubstr("0 answered, 101 failed"));
}

TEST_F(InferTest, ADecoupledModelIsShownWhileItAnswers) {
  SetDecoupled();
  std::vector<std::string> pieces;
  context_.print = [&](std::string_view text) {
    pieces.emplace_back(text);
    return true;
  };
  const ToolResult result = Run("infer", {"add", "--input=a=1,2"});
  EXPECT_EQ(result.exit_code, 0) << result.errors;
  EXPECT_EQ(requests_.back().body, R"({"a":[1,2]})");
  ASSERT_EQ(pieces.size(), 3u);
  EXPECT_THAT(pieces[0], HasSubstr("sum  INT32  [1,2]\n  [[1, 2]]\n"));
  EXPECT_THAT(pieces[1], HasSubstr("sum  INT32  [1]\n  [3]\n"));
  EXPECT_THAT(pieces[2], HasSubstr("2 responses in "));
  // Nobody reads any more.
  context_.print = [&](std::string_view) { return false; };
  EXPECT_EQ(Run("infer", {"add", "--input=a=1,2"}).exit_code, 0);
  replies_["POST /v2/models/add/generate_stream"] = Reply("data: {\"error\":\"late\"}\n\n");
  EXPECT_EQ(Run("infer", {"add", "--input=a=1,2"}).errors,
            "nereid infer: the server answered: late\n");
}

TEST_F(InferTest, OutputsAreSaved) {
  const auto directory = base::TemporaryDirectory::Create();
  ASSERT_TRUE(directory.ok());
  const std::string path = (*directory)->path() + "/sum.json";
  auto words = words_;
  words.push_back("--output=sum=" + path);
  const ToolResult result = Run("infer", words);
  EXPECT_EQ(result.exit_code, 0) << result.errors;
  EXPECT_THAT(result.out, HasSubstr("sum  saved in " + path));
  EXPECT_EQ(*base::ReadFile(path), "[1,2]\n");
  words.back() = "--output=sum=/nowhere/x.npy";
  EXPECT_THAT(Run("infer", words).errors, HasSubstr("'/nowhere/x.npy' cannot be written"));
  EXPECT_EQ(NumberedPath("a.b/out.npy", 1), "a.b/out-2.npy");
  EXPECT_EQ(NumberedPath("a.b/out", 2), "a.b/out-3");
}

TEST_F(InferTest, NothingIsSentForWrongFlags) {
  const auto why = [&](std::vector<std::string> words) {
    requests_.clear();
    const ToolResult result = Run("infer", std::move(words));
    EXPECT_EQ(result.exit_code, kCannotRun);
    for (const auto& request : requests_) EXPECT_EQ(request.method, "GET");
    return result.errors;
  };
  EXPECT_THAT(why({}), HasSubstr("expected the name of one model"));
  EXPECT_THAT(why({"a/b"}), HasSubstr("cannot be the name of a model"));
  EXPECT_THAT(why({"add"}), HasSubstr("the input 'a' has no value; it is INT32 [-1,2]"));
  EXPECT_THAT(why({"add", "-i", "a"}), HasSubstr("--input must be <name>=<value>. Got a"));
  EXPECT_THAT(why({"add", "-i", "a=1", "-i", "a=2"}), HasSubstr("one input twice"));
  EXPECT_THAT(why({"add", "-i", "c=1"}), HasSubstr("no input 'c', its inputs are a, b"));
  EXPECT_THAT(why({"add", "--output=x", "-i", "a=1,2", "-i", "b=x"}), HasSubstr("no output 'x'"));
  EXPECT_THAT(why({"add", "--repeat=0"}), HasSubstr("--repeat must be a whole number from 1"));
  EXPECT_THAT(why({"add", "--image-scale=x"}), HasSubstr("--image-scale must be"));
  EXPECT_THAT(why({"add", "--shape=a=x"}), HasSubstr("'x' is no shape"));
  EXPECT_THAT(why({"add", "--url=grpc://"}), HasSubstr("address of a gRPC server"));
  EXPECT_THAT(why({"missing"}), HasSubstr("the server answered 404: Not Found"));
  SetDecoupled();
  EXPECT_THAT(why({"add", "-i", "a=1,2", "--repeat=2", "--concurrency=2"}), HasSubstr("decoupled"));
}

TEST(DecodeInferReply, BrokenOnes) {
  const auto why = [](const std::string& json, const std::string& binary = "") {
    const auto reply = DecodeInferReply(json + binary, json.size());
    return reply.ok() ? "read" : reply.status().message();
  };
  const auto output = [](const std::string& rest) {
    return R"({"outputs":[{"name":"o","datatype":"INT32",)" + rest + "}]}";
  };
  EXPECT_EQ(why(output(R"("shape":[1],"data":[7])")), "read");
  EXPECT_EQ(why(R"({"outputs":[{"data":[7],"shape":[1],"name":"o","datatype":"INT32"}]})"), "read");
  EXPECT_THAT(why("<html>"), HasSubstr("cannot be read"));
  EXPECT_THAT(why(output(R"("shape":[2],"data":[7])")), HasSubstr("do not fit the shape [2]"));
  EXPECT_THAT(why(output(R"("shape":[1],"parameters":{"binary_data_size":8})"), "abcd"),
              HasSubstr("lacks bytes of the output 'o'"));
  EXPECT_THAT(why(output(R"("shape":[4611686018427387904,8],"data":[])")), HasSubstr("its shape"));
  std::string dims = "1";
  for (int i = 0; i < 100; ++i) dims += ",1";
  EXPECT_THAT(why(output("\"shape\":[" + dims + "],\"data\":[7]")), HasSubstr("shape"));
  EXPECT_THAT(why(R"({"outputs":[{"name":"o","datatype":"X","shape":[]}]})"),
              HasSubstr("unknown data type"));
  EXPECT_THAT(why(output("\"shape\":" + std::string(10'000, '['))), HasSubstr("cannot be read"));
  EXPECT_FALSE(DecodeInferReply("{}", 3).ok());
}

TEST(EventStream, PiecesOfAnySizeAreTheSame) {
  const std::string text = "event: x\ndata: a\ndata:  b\n\n\r\ndata:c\r\n\r\ndata: cut";
  for (size_t piece = 1; piece < text.size(); ++piece) {
    EventStream events;
    std::vector<std::string> got;
    for (size_t at = 0; at < text.size(); at += piece) {
      ASSERT_TRUE(events
                      .Take(text.substr(at, piece),
                            [&](std::string_view data) {
                              got.emplace_back(data);
                              return base::Status();
                            })
                      .ok());
    }
    EXPECT_EQ(got, (std::vector<std::string>{"a\n b", "c"})) << piece;
  }
}

TEST(MessageFrames, PiecesOfAnySizeAreTheSame) {
  const std::string text = FramedMessage("one") + FramedMessage("") + FramedMessage("three");
  for (size_t piece = 1; piece < text.size(); ++piece) {
    MessageFrames frames;
    std::vector<std::string> got;
    for (size_t at = 0; at < text.size(); at += piece) {
      ASSERT_TRUE(frames
                      .Take(text.substr(at, piece),
                            [&](std::string_view message) {
                              got.emplace_back(message);
                              return base::Status();
                            })
                      .ok());
    }
    EXPECT_EQ(got, (std::vector<std::string>{"one", "", "three"})) << piece;
  }
  const auto ignore = [](std::string_view) { return base::Status(); };
  EXPECT_FALSE(MessageFrames().Take(std::string("\1\0\0\0\0", 5), ignore).ok());
  EXPECT_FALSE(MessageFrames().Take(std::string("\0\x7f\0\0\0", 5), ignore).ok());
}

TEST(CallOutcome, ComesFromTheTrailersOrTheHead) {
  const auto why = [](curl::HttpFields head, curl::HttpFields trailers, int status = 200) {
    const base::Status outcome =
        CallOutcome({.status = status, .fields = std::move(head), .trailers = std::move(trailers)});
    return outcome.ok() ? "ok" : outcome.message();
  };
  EXPECT_EQ(why({}, {{"grpc-status", "0"}}), "ok");
  EXPECT_EQ(why({{"grpc-status", "5"}, {"grpc-message", "no%20model%1b %zz%"}}, {}),
            "the server answered NOT_FOUND: no model\\x1b %zz%");
  EXPECT_EQ(why({}, {{"grpc-status", "99"}}), "the server answered code 99");
  EXPECT_EQ(why({}, {}), "the server's answer lacks a gRPC status");
  EXPECT_EQ(why({}, {}, 404), "the server answered 404: is this a gRPC server?");
}

/// The answers of a gRPC server by the name of the method.
TEST_F(InferTest, OverGrpc) {
  base_ = "http://gpu:8001";
  inference::ModelMetadataResponse metadata;
  auto* const input = metadata.add_inputs();
  input->set_name("a");
  input->set_datatype("INT32");
  input->add_shape(-1);
  auto* const output = metadata.add_outputs();
  *output = *input;
  output->set_name("sum");
  inference::ModelInferResponse response;
  response.set_model_name("add");
  response.set_model_version("1");
  auto* const tensor = response.add_outputs();
  tensor->set_name("sum");
  tensor->set_datatype("INT32");
  tensor->add_shape(1);
  response.add_raw_output_contents(std::string("\7\0\0\0", 4));
  const auto set = [&](const std::string& method, const std::string& message) {
    auto& reply = replies_["POST /inference.GRPCInferenceService/" + method];
    reply = Reply(FramedMessage(message));
    reply.response.trailers = {{"grpc-status", "0"}};
  };
  set("ModelMetadata", metadata.SerializeAsString());
  set("ModelInfer", response.SerializeAsString());
  const std::vector<std::string> words = {"add", "-i", "a=3", "--url=grpc://gpu"};
  const ToolResult result = Run("infer", words);
  EXPECT_EQ(result.exit_code, 0) << result.errors;
  EXPECT_THAT(result.out, HasSubstr("sum  INT32  [1]\n  [7]\n"));
  EXPECT_TRUE(requests_.back().http2);
  inference::ModelInferRequest sent;
  ASSERT_TRUE(sent.ParseFromString(requests_.back().body.substr(5)));
  EXPECT_EQ(sent.inputs(0).name(), "a");
  EXPECT_EQ(sent.raw_input_contents(0), std::string("\3\0\0\0", 4));
  // A decoupled model is called with a stream.
  inference::ModelConfigResponse config;
  config.mutable_config()->mutable_model_transaction_policy()->set_decoupled(true);
  set("ModelConfig", config.SerializeAsString());
  inference::ModelStreamInferResponse one;
  *one.mutable_infer_response() = response;
  set("ModelStreamInfer", one.SerializeAsString());
  EXPECT_THAT(Run("infer", words).out, HasSubstr("1 responses in "));
  one.set_error_message("late");
  set("ModelStreamInfer", one.SerializeAsString());
  EXPECT_EQ(Run("infer", words).errors, "nereid infer: the server answered: late\n");
  // Broken messages and tensors.
  set("ModelConfig", "");
  response.mutable_outputs(0)->set_shape(0, 2);
  set("ModelInfer", response.SerializeAsString());
  EXPECT_THAT(Run("infer", words).errors, HasSubstr("'sum' is broken"));
  set("ModelInfer", "\xff\xff");
  EXPECT_EQ(Run("infer", words).exit_code, 1);
  replies_["POST /inference.GRPCInferenceService/ModelMetadata"] = Reply("");
  EXPECT_EQ(Run("infer", words).exit_code, kCannotRun);
}

}  // namespace
}  // namespace nereid::app::tools
