// SPDX-License-Identifier: Apache-2.0
// golden/generate_requests.txt: bodies of generate requests, and what is read of them or why they
// are refused. golden/generate_responses.txt: responses as clients see them. With
// NEREID_UPDATE_GOLDEN set, the tests write the files anew.
#include "codec/json/generate.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>
#include <fstream>
#include <memory>
#include <sstream>

#include "base/testing/source_directory.h"
#include "codec/json/output_text.h"
#include "request/discarding_sink.h"
#include "request/response_factory.h"
#include "tensor/bytes.h"

namespace nereid::codec::json {
namespace {

using api::TensorMetadata;
using request::InferenceRequest;
using tensor::DataType;

void CompareWithGolden(const std::string& name, const std::string& text) {
  const std::string path = base::testing::SourceDirectory() + "/src/codec/json/golden/" + name;
  if (std::getenv("NEREID_UPDATE_GOLDEN") != nullptr) {
    std::ofstream(path) << text;
    return;
  }
  std::ostringstream golden;
  golden << std::ifstream(path).rdbuf();
  EXPECT_EQ(text, golden.str()) << path;
}

std::string ParameterText(const request::Parameter& parameter) {
  TextBuffer text;
  AppendParameterValue(parameter.value, &text);
  constexpr const char* kKinds[] = {"string", "int", "bool", "double"};
  return "  parameter " + parameter.name + ": " + kKinds[parameter.value.index()] + " " +
         std::string(text.view()) + "\n";
}

std::string InputText(const request::Input& input) {
  std::string bytes;
  for (const auto& piece : input.pieces) bytes.append(piece.data, piece.size);
  request::Output view;
  view.name = input.name;
  view.type = input.type;
  view.shape = input.shape;
  view.data = bytes.data();
  view.size = bytes.size();
  TextBuffer text;
  const base::Status status = AppendOutputElements(view, &text);
  return "  input " + input.name + " " + std::string(tensor::DataTypeName(input.type)) + " " +
         tensor::ShapeText(input.shape) + ": " +
         (status.ok() ? std::string(text.view()) : status.message()) + "\n";
}

/// Reads a body, from memory of exactly its size.
base::Status Read(const std::string& body, const std::vector<TensorMetadata>& inputs,
                  const DecodeLimits& limits, InferenceRequest* request) {
  const auto exact = std::make_unique<char[]>(body.size());
  if (!body.empty()) std::memcpy(exact.get(), body.data(), body.size());
  return DecodeGenerateRequest({exact.get(), body.size()}, inputs, limits, request);
}

std::string Describe(const std::string& model, const std::vector<TensorMetadata>& inputs,
                     const std::string& body) {
  InferenceRequest request;
  const base::Status status = Read(body, inputs, {}, &request);
  std::string text = model + " " + body + "\n";
  if (!status.ok()) {
    return text + "  " + std::string(base::StatusCodeText(status.code())) + ": " +
           status.message() + "\n";
  }
  if (!request.id.empty()) text += "  id " + request.id + "\n";
  for (const auto& input : request.inputs()) text += InputText(input);
  for (const auto& parameter : request.parameters) text += ParameterText(parameter);
  return text;
}

TEST(GenerateRequestTest, Golden) {
  const std::vector<std::pair<std::string, std::vector<TensorMetadata>>> models = {
      {"int", {{"IN", "INT32", {-1}}}},
      {"bool", {{"IN", "BOOL", {-1}}}},
      {"uint8", {{"IN", "UINT8", {-1}}}},
      {"fp32", {{"IN", "FP32", {-1}}}},
      {"fp16", {{"IN", "FP16", {-1}}}},
      {"text", {{"IN", "BYTES", {-1}}}},
      {"fixed", {{"IN", "INT32", {4}}}},
      {"batch", {{"IN", "INT32", {-1, 4}}}},
      {"rows", {{"IN", "INT32", {2, -1}}}},
      {"free", {{"IN", "INT32", {-1, -1}}}},
      {"two", {{"A", "INT32", {1}}, {"B", "BYTES", {-1}}}},
      {"named_parameters", {{"parameters", "INT32", {-1}}}},
      {"named_id", {{"id", "BYTES", {-1}}}},
  };
  const std::vector<std::pair<std::string, std::vector<std::string>>> cases = {
      {"int",
       {R"({"IN":5})",
        R"({"IN":[1,-2,3]})",
        R"({"IN":[]})",
        R"({"IN":[[1,2],[3,4]]})",
        R"({"IN":[[1],[2]]})",
        R"({"IN":1.5})",
        R"({"IN":"x"})",
        R"({"IN":null})",
        R"({"IN":{"a":1}})",
        R"({"IN":true})",
        R"({"IN":[1,"x"]})",
        R"({"IN":99999999999})",
        R"({"IN":5,"IN":6})",
        R"({"parameters":{"IN":5}})",
        R"({"IN":1,"parameters":{"IN":5}})",
        R"({"IN":1,"parameters":{"parameters":5,"id":"x"}})",
        R"({"IN":1,"parameters":{"parameters":{"x":1}}})",
        R"({"IN":1,"parameters":5})",
        R"({"IN":1,"parameters":null})",
        R"({"IN":1,"a":"s","b":2,"c":true,"d":1.5,"e":-3})",
        R"({"IN":1,"a":[1]})",
        R"({"IN":1,"a":{"x":1}})",
        R"({"IN":1,"a":null})",
        R"({"IN":1,"a":18446744073709551615})",
        R"({"IN":1,"id":null,"parameters":null})",
        R"({"IN":1,"id":"abc"})",
        R"({"IN":1,"id":7})",
        R"({"IN":1,"id":""})",
        R"({"sequence_id":5,"priority":"x","timeout":3,"triton_x":1})",
        R"({})",
        "",
        "[]",
        "5",
        R"({"IN":)",
        R"({"IN":1} x)",
        "{",
        R"({"IN" 1})",
        R"({"IN":[1,2)",
        R"({"I\u004e":7})"}},
      {"bool", {R"({"IN":true})", R"({"IN":[true,false]})", R"({"IN":1})"}},
      {"uint8", {R"({"IN":[300,0]})", R"({"IN":-1})"}},
      {"fp32", {R"({"IN":[1,1.1,-2.5e3]})", R"({"IN":NaN})", R"({"IN":1e400})"}},
      {"fp16", {R"({"IN":1.0})"}},
      {"text",
       {R"({"IN":"h\u00e9 \n"})", R"({"IN":["a","b"]})", R"({"IN":""})", R"({"IN":5})",
        R"({"IN":[5]})", R"({"IN":[]})", R"({"IN":null})"}},
      {"fixed", {R"({"IN":[1,2,3,4]})", R"({"IN":[1,2,3]})", R"({"IN":1})", R"({"IN":[]})"}},
      {"batch",
       {R"({"IN":[1,2,3,4]})", R"({"IN":[1,2,3,4,5,6,7,8]})", R"({"IN":[1,2,3]})", R"({"IN":[]})"}},
      {"rows", {R"({"IN":[1,2,3,4]})", R"({"IN":[1,2]})", R"({"IN":1})", R"({"IN":[1,2,3]})"}},
      {"free", {R"({"IN":[1,2,3]})", R"({"IN":4})"}},
      {"two", {R"({"B":["x","y"],"A":7,"id":"q"})", R"({"A":7,"A":8})"}},
      {"named_parameters", {R"({"parameters":5})", R"({"parameters":{"a":5}})", R"({"x":5})"}},
      {"named_id", {R"({"id":"abc"})", R"({"id":["abc","d"]})"}},
  };
  std::string text;
  for (const auto& [name, bodies] : cases) {
    for (const auto& [model, inputs] : models) {
      if (model != name) continue;
      for (const std::string& body : bodies) text += Describe(name, inputs, body);
    }
  }
  CompareWithGolden("generate_requests.txt", text);
}

TEST(GenerateRequestTest, Limits) {
  const std::vector<TensorMetadata> inputs = {{"IN", "INT64", {-1}}};
  DecodeLimits limits;
  limits.max_json_size = 20;
  InferenceRequest request;
  EXPECT_EQ(Read(R"({"IN":[1,2,3,4,5,6,7]})", inputs, limits, &request).message(),
            "request JSON size of 22 bytes exceeds the maximum allowed input size of 20 bytes. Use "
            "--http-max-input-size to increase the limit.");
  EXPECT_EQ(Read(R"({"IN":[1,2,3]})", inputs, limits, &request).message(),
            "request size of 14 bytes with input 'IN' of size 24 bytes exceeds the maximum allowed "
            "input size of 20. Use --http-max-input-size to increase the limit.");
  std::string deep = R"({"IN":)" + std::string(200, '[') + std::string(200, ']') + "}";
  EXPECT_EQ(Read(deep, inputs, {}, &request).message(),
            "JSON nesting depth exceeds maximum allowed limit (100)");
  const std::vector<TensorMetadata> huge = {{"IN", "INT32", {INT64_MAX, INT64_MAX, -1}}};
  EXPECT_EQ(Read(R"({"IN":[1,2,3]})", huge, {}, &request).message(),
            "The schema can not convert input 'IN' to tensor with proper shape");
}

class GenerateResponseTest : public ::testing::Test {
 protected:
  void Make(const std::string& id) {
    auto model = std::make_shared<request::ModelIdentity>();
    model->name = "mymodel";
    model->version = 3;
    model->version_text = "3";
    factory_ = std::make_shared<request::ResponseFactory>(
        std::make_shared<request::DiscardingSink>(), model, id,
        std::make_shared<request::Cancellation>());
    factory_->Disarm();
    response_ = std::move(*factory_->NewResponse());
  }

  void Add(const std::string& name, DataType type, tensor::Shape shape, const std::string& bytes) {
    request::Output* output = *response_->AddOutput(name, type, std::move(shape));
    memory::MemoryType memory_type = memory::MemoryType::kCpu;
    int64_t id = 0;
    ASSERT_TRUE(response_->AllocateOutput(output, bytes.size(), &memory_type, &id).ok());
    if (!bytes.empty()) std::memcpy(output->data, bytes.data(), bytes.size());
  }
  void Set(const std::string& name, request::Parameter::Value value) {
    response_->parameters().push_back({name, std::move(value)});
  }

  std::string Encode() {
    TextBuffer json;
    const base::Status status = EncodeGenerateResponse(*response_, &json);
    return (status.ok() ? std::string(json.view()) : "error: " + status.message()) + "\n";
  }

  std::shared_ptr<request::ResponseFactory> factory_;
  std::unique_ptr<request::InferenceResponse> response_;
};

TEST_F(GenerateResponseTest, Golden) {
  const std::string ints("\1\0\0\0\2\0\0\0\3\0\0\0\4\0\0\0", 16);
  const std::string texts("\2\0\0\0h\n\1\0\0\0\"", 11);
  std::string text;
  Make("");
  text += Encode();
  Make("seven");
  Add("scalar", DataType::kInt32, {1}, ints.substr(0, 4));
  Add("a_matrix", DataType::kInt32, {2, 2}, ints);
  Add("row", DataType::kInt32, {1, 1, 1}, ints.substr(8, 4));
  Add("none", DataType::kInt32, {0}, "");
  Add("texts", DataType::kBytes, {2}, texts);
  Add("text", DataType::kBytes, {1}, texts.substr(0, 6));
  Add("flag", DataType::kBool, {1}, std::string(1, '\1'));
  Set("z", std::string("text"));
  Set("b", true);
  Set("i", int64_t{-5});
  Set("d", 0.5);
  text += Encode();
  // Equal names: the reserved one, then the parameter, the first of several.
  Make("");
  Add("model_name", DataType::kInt32, {1}, ints.substr(0, 4));
  Add("both", DataType::kInt32, {1}, ints.substr(0, 4));
  Set("both", int64_t{9});
  Set("both", int64_t{10});
  Set("id", std::string("of the backend"));
  text += Encode();
  Make("");
  Add("half", DataType::kFp16, {1}, "\1\2");
  text += Encode();
  Make("");
  Add("short", DataType::kInt32, {2}, ints.substr(0, 4));
  text += Encode();
  CompareWithGolden("generate_responses.txt", text);
}

/// A stream whose responses have one BYTES output with these elements.
class GenerateStreamTest : public GenerateResponseTest {
 protected:
  /// Returns the value of the output in the event of a response.
  std::string Event(const std::vector<std::string>& elements, bool final = false) {
    std::string bytes;
    for (const std::string& element : elements) tensor::AppendBytesElement(element, &bytes);
    Make("");
    Add("text", DataType::kBytes, {static_cast<int64_t>(elements.size())}, bytes);
    TextBuffer json;
    EXPECT_TRUE(stream_.Encode(*response_, final, &json).ok());
    const std::string head = R"({"model_name":"mymodel","model_version":"3","text":)";
    EXPECT_TRUE(json.view().starts_with(head)) << json.view();
    return std::string(json.view().substr(head.size(), json.size() - head.size() - 1));
  }
  std::string Rest() {
    TextBuffer json;
    stream_.EncodeRest(&json);
    return std::string(json.view());
  }

  GenerateStream stream_;
};

TEST_F(GenerateStreamTest, ACharacterInSeveralResponsesStaysWhole) {
  EXPECT_EQ(Event({"a\xf0"}), R"("a")");
  EXPECT_EQ(Event({"\x9f\x98"}), R"("")");
  EXPECT_EQ(Event({"\x80z\xc3"}), "\"\U0001F600z\"");
  EXPECT_EQ(Event({"\xa4"}), "\"\u00E4\"");
  EXPECT_EQ(Rest(), "");
}

TEST_F(GenerateStreamTest, ElementsAreJoinedWithThemselvesOnly) {
  EXPECT_EQ(Event({"\xc3", "\xe2\x82"}), R"(["",""])");
  EXPECT_EQ(Event({"\xa4", "\xac"}), "[\"\u00E4\",\"\u20AC\"]");
}

TEST_F(GenerateStreamTest, OtherBytesAreReplaced) {
  EXPECT_EQ(Event({"\xffz\xc3"}), "\"\uFFFDz\"");
  EXPECT_EQ(Event({"z\xc3"}), "\"\uFFFDz\"");
  EXPECT_EQ(Event({"\xe2"}, /*final=*/true), "\"\uFFFD\uFFFD\"") << "nothing follows";
  EXPECT_EQ(Rest(), "");
}

TEST_F(GenerateStreamTest, TheRestOfAStreamWithoutAFurtherResponse) {
  EXPECT_EQ(Event({"a\xe2\x82"}), R"("a")");
  EXPECT_EQ(Rest(),
            "{\"model_name\":\"mymodel\",\"model_version\":\"3\",\"text\":\"\uFFFD\uFFFD\"}");
}

}  // namespace
}  // namespace nereid::codec::json
