// SPDX-License-Identifier: Apache-2.0
#include "codec/json/infer_request.h"

#include <gtest/gtest.h>

#include <cfloat>
#include <cmath>
#include <cstring>
#include <memory>
#include <string>

namespace nereid::codec::json {
namespace {

using base::Status;
using base::StatusCode;
using request::InferenceRequest;

/// A decoded request and what is needed to look at it.
struct Decoded {
  std::unique_ptr<InferenceRequest> request = std::make_unique<InferenceRequest>();
  OutputOptions outputs;
  Status status;

  std::string Bytes(const std::string& input) const {
    std::string bytes;
    for (const auto& piece : request->inputs().Find(input)->pieces)
      bytes.append(piece.data, piece.size);
    return bytes;
  }
  template <typename T>
  std::vector<T> Values(const std::string& input) const {
    const std::string bytes = Bytes(input);
    std::vector<T> values(bytes.size() / sizeof(T));
    std::memcpy(values.data(), bytes.data(), values.size() * sizeof(T));
    return values;
  }
};

Decoded Decode(const std::string& json, const std::string& binary = "", DecodeLimits limits = {}) {
  Decoded decoded;
  decoded.request->model_name = "m";
  // Copies of exact size: AddressSanitizer sees every step beyond.
  static std::vector<std::unique_ptr<char[]>> kept;
  const auto exact = [](const std::string& text) {
    kept.push_back(std::make_unique<char[]>(text.size()));
    std::memcpy(kept.back().get(), text.data(), text.size());
    return std::string_view(kept.back().get(), text.size());
  };
  decoded.status = DecodeInferRequest(exact(json), exact(binary), limits, decoded.request.get(),
                                      &decoded.outputs);
  return decoded;
}

Decoded DecodeData(const std::string& type, const std::string& shape, const std::string& data) {
  return Decode(R"({"inputs":[{"name":"IN","shape":)" + shape + R"(,"datatype":")" + type +
                R"(","data":)" + data + "}]}");
}

void ExpectFailure(const Decoded& decoded, StatusCode code, const std::string& message) {
  EXPECT_EQ(decoded.status.code(), code) << decoded.status.message();
  EXPECT_EQ(decoded.status.message(), message);
}

// The example of the binary tensor data extension, as its document prints it.
TEST(DecodeInferRequest, BinaryExtensionExample) {
  const std::string json = R"({
"model_name" : "mymodel",
"inputs" : [
{
"name" : "input0",
"shape" : [ 2, 2 ],
"datatype" : "UINT32",
"parameters" : {
"binary_data_size" : 16
}
},
{
"name" : "input1",
"shape" : [ 3 ],
"datatype" : "BOOL",
"parameters" : {
"binary_data_size" : 3
}
}
],
"outputs" : [
{
"name" : "output0",
"parameters" : {
"binary_data" : true
}
}
]
})";
  const std::string binary("\1\0\0\0\2\0\0\0\3\0\0\0\4\0\0\0\1\0\1", 19);
  const Decoded decoded = Decode(json, binary);
  ASSERT_TRUE(decoded.status.ok()) << decoded.status.message();
  EXPECT_EQ(decoded.Values<uint32_t>("input0"), (std::vector<uint32_t>{1, 2, 3, 4}));
  EXPECT_EQ(decoded.Bytes("input1"), std::string("\1\0\1", 3));
  EXPECT_EQ(decoded.request->inputs().Find("input0")->shape, (tensor::Shape{2, 2}));
  EXPECT_EQ(decoded.request->inputs().Find("input1")->type, tensor::DataType::kBool);
  EXPECT_EQ(decoded.request->requested_outputs, std::vector<std::string>{"output0"});
  EXPECT_TRUE(decoded.outputs.IsBinary("output0"));
  EXPECT_FALSE(decoded.outputs.IsBinary("output1"));
}

TEST(DecodeInferRequest, BinaryDataOutputHoldsUnlessTheOutputSaysOtherwise) {
  const Decoded decoded =
      Decode(R"({"parameters":{"binary_data_output":true},"inputs":[],"outputs":[
      {"name":"a"},{"name":"b","parameters":{"binary_data":false}}]})");
  ASSERT_TRUE(decoded.status.ok()) << decoded.status.message();
  EXPECT_TRUE(decoded.outputs.IsBinary("a"));
  EXPECT_FALSE(decoded.outputs.IsBinary("b"));
  EXPECT_TRUE(decoded.outputs.IsBinary("c"));
}

TEST(DecodeInferRequest, JsonDataOfEveryType) {
  EXPECT_EQ(DecodeData("FP32", "[2,2]", "[[1.5, -2],[3e2,0]]").Values<float>("IN"),
            (std::vector<float>{1.5f, -2, 300, 0}));
  EXPECT_EQ(DecodeData("FP64", "[3]", "[0.1,1,-1e-3]").Values<double>("IN"),
            (std::vector<double>{0.1, 1, -1e-3}));
  EXPECT_EQ(DecodeData("INT8", "[3]", "[-1,127,-128]").Values<int8_t>("IN"),
            (std::vector<int8_t>{-1, 127, -128}));
  EXPECT_EQ(DecodeData("INT64", "[2]", "[-9223372036854775808,9223372036854775807]")
                .Values<int64_t>("IN"),
            (std::vector<int64_t>{INT64_MIN, INT64_MAX}));
  EXPECT_EQ(DecodeData("UINT8", "[2]", "[255,-0]").Values<uint8_t>("IN"),
            (std::vector<uint8_t>{255, 0}));
  EXPECT_EQ(DecodeData("UINT64", "[1]", "[18446744073709551615]").Values<uint64_t>("IN"),
            (std::vector<uint64_t>{UINT64_MAX}));
  EXPECT_EQ(DecodeData("BOOL", "[2]", "[true,false]").Bytes("IN"), std::string("\1\0", 2));
  EXPECT_EQ(DecodeData("BYTES", "[3]", R"(["ab","","\u00e9\ud83d\ude00\n"])").Bytes("IN"),
            std::string("\2\0\0\0ab\0\0\0\0\7\0\0\0\xc3\xa9\xf0\x9f\x98\x80\n", 21));
}

TEST(DecodeInferRequest, NumbersThatTheTypeCannotHoldAreRefused) {
  const std::pair<const char*, std::vector<const char*>> cases[] = {
      {"INT8", {"128", "-129", "300", "9223372036854775808", "100000000000000000000"}},
      {"INT16", {"32768", "-32769"}},
      {"INT32", {"2147483648", "-2147483649"}},
      {"INT64", {"9223372036854775808", "-9223372036854775809", "18446744073709551616"}},
      {"UINT8", {"256"}},
      {"UINT16", {"65536"}},
      {"UINT32", {"4294967296"}},
      {"UINT64", {"18446744073709551616"}},
      {"FP32", {"3.5e38", "-1e39", "1e300", "400000000000000000000000000000000000000"}},
  };
  for (const auto& [type, values] : cases) {
    for (const std::string value : values) {
      const std::string message =
          "input 'IN' has the value " + value + ", which " + type + " cannot hold";
      // The last element, and one in the fast path of numbers that a comma follows.
      ExpectFailure(DecodeData(type, "[2]", "[1," + value + "]"), StatusCode::kInvalidArgument,
                    message);
      ExpectFailure(DecodeData(type, "[2]", "[" + value + ",1]"), StatusCode::kInvalidArgument,
                    message);
    }
  }
  EXPECT_EQ(DecodeData("FP32", "[3]", "[3.4028235e38,-3.4028235e38,1e-60]").Values<float>("IN"),
            (std::vector<float>{FLT_MAX, -FLT_MAX, 0}));
  EXPECT_EQ(DecodeData("FP64", "[2]", "[1e300,18446744073709551616]").Values<double>("IN"),
            (std::vector<double>{1e300, 18446744073709551616.0}));
  ExpectFailure(
      DecodeData("FP32", "[9223372036854775808]", "[1]"), StatusCode::kInvalidArgument,
      "a dimension of 'shape' has the value 9223372036854775808, which INT64 cannot hold");
}

TEST(DecodeInferRequest, NullCountsAsAbsent) {
  const Decoded decoded = Decode(
      R"({"id":null,"parameters":null,"outputs":null,"inputs":[{"name":"IN","datatype":"INT8",
      "shape":[1],"data":[1],"parameters":null},{"name":"B","datatype":"INT8","shape":[1],
      "data":null,"parameters":{"binary_data_size":1,"shared_memory_region":null}}]})",
      "x");
  ASSERT_TRUE(decoded.status.ok()) << decoded.status.message();
  EXPECT_EQ(decoded.request->id, "");
  EXPECT_EQ(decoded.Bytes("B"), "x");
  const Decoded inner = Decode(
      R"({"inputs":[],"parameters":{"sequence_id":null,"sequence_start":null,"sequence_end":null,
      "priority":null,"timeout":null,"binary_data_output":null},"outputs":[{"name":"a",
      "parameters":null},{"name":"b","parameters":{"classification":null,"binary_data":null}}]})");
  ASSERT_TRUE(inner.status.ok()) << inner.status.message();
  EXPECT_EQ(inner.request->timeout_us, 0u);
  EXPECT_TRUE(inner.outputs.classifications().empty());
  EXPECT_FALSE(Decode(R"({"inputs":[],"id":nul})").status.ok());
}

TEST(DecodeInferRequest, DataMayHaveAnyNestingAndSpaces) {
  EXPECT_EQ(DecodeData("INT32", "[2,2]", " [ 1 ,2\n,\t3 , 4 ] ").Values<int32_t>("IN"),
            (std::vector<int32_t>{1, 2, 3, 4}));
  EXPECT_EQ(DecodeData("INT32", "[4]", "[[[1],[2]],[[3],[4]]]").Values<int32_t>("IN"),
            (std::vector<int32_t>{1, 2, 3, 4}));
  EXPECT_TRUE(DecodeData("INT32", "[0]", "[]").status.ok());
  EXPECT_TRUE(DecodeData("INT32", "[2,0]", "[[],[]]").status.ok());
}

TEST(DecodeInferRequest, DataBeforeItsDescription) {
  const Decoded decoded =
      Decode(R"({"inputs":[{"data":[1,2],"datatype":"INT32","name":"IN","shape":[2]}],"id":"x"})");
  ASSERT_TRUE(decoded.status.ok()) << decoded.status.message();
  EXPECT_EQ(decoded.Values<int32_t>("IN"), (std::vector<int32_t>{1, 2}));
  EXPECT_EQ(decoded.request->id, "x");
}

TEST(DecodeInferRequest, AcceptsNanAndInfinity) {
  const auto values = DecodeData("FP32", "[4]", "[NaN,Infinity,-Infinity,Inf]").Values<float>("IN");
  ASSERT_EQ(values.size(), 4u);
  EXPECT_TRUE(std::isnan(values[0]));
  EXPECT_EQ(values[1], INFINITY);
  EXPECT_EQ(values[2], -INFINITY);
  EXPECT_EQ(values[3], INFINITY);
}

TEST(DecodeInferRequest, Parameters) {
  const Decoded decoded = Decode(
      R"({"parameters":{"sequence_id":7,"sequence_start":true,"sequence_end":true,"priority":3,
         "timeout":1000,"s":"t","i":-5,"b":false,"d":1.5},"inputs":[]})");
  ASSERT_TRUE(decoded.status.ok()) << decoded.status.message();
  const InferenceRequest& request = *decoded.request;
  EXPECT_EQ(std::get<uint64_t>(request.correlation_id), 7u);
  EXPECT_EQ(request.flags, request::kFlagSequenceStart | request::kFlagSequenceEnd);
  EXPECT_EQ(request.priority, 3u);
  EXPECT_EQ(request.timeout_us, 1000u);
  ASSERT_EQ(request.parameters.size(), 4u);
  EXPECT_EQ(std::get<std::string>(request.parameters[0].value), "t");
  EXPECT_EQ(std::get<int64_t>(request.parameters[1].value), -5);
  EXPECT_EQ(std::get<bool>(request.parameters[2].value), false);
  EXPECT_EQ(std::get<double>(request.parameters[3].value), 1.5);
}

TEST(DecodeInferRequest, WholeNumbersBeyondInt64AreDoubles) {
  const Decoded decoded = Decode(
      R"({"parameters":{"a":9223372036854775807,"b":9223372036854775808,
      "c":18446744073709551615,"d":-9223372036854775809},"inputs":[]})");
  ASSERT_TRUE(decoded.status.ok()) << decoded.status.message();
  const auto& parameters = decoded.request->parameters;
  EXPECT_EQ(std::get<int64_t>(parameters[0].value), INT64_MAX);
  EXPECT_EQ(std::get<double>(parameters[1].value), 9223372036854775808.0);
  EXPECT_EQ(std::get<double>(parameters[2].value), 18446744073709551615.0);
  EXPECT_EQ(std::get<double>(parameters[3].value), -9223372036854775809.0);
}

TEST(DecodeInferRequest, ParameterFailures) {
  const auto with = [](const std::string& parameters) {
    return Decode(R"({"parameters":)" + parameters + R"(,"inputs":[]})");
  };
  ExpectFailure(with(R"({"x":[1]})"), StatusCode::kInvalidArgument,
                "parameter 'x' has invalid type. It should be either 'int', 'double', 'bool', or "
                "'string'.");
  ExpectFailure(Decode(R"({"inputs":[{"name":"IN","parameters":5}]})"),
                StatusCode::kInvalidArgument,
                "Unable to parse 'parameters': attempt to access JSON non-object as object");
  ExpectFailure(Decode(R"({"inputs":[],"outputs":[{"name":"o","parameters":[]}]})"),
                StatusCode::kInvalidArgument,
                "Unable to parse 'parameters': attempt to access JSON non-object as object");
  ExpectFailure(with(R"({"triton_x":1})"), StatusCode::kInvalidArgument,
                "parameter keys starting with 'triton_' are reserved for Triton usage and should "
                "not be specified.");
  ExpectFailure(with(R"({"priority":"a"})"), StatusCode::kInvalidArgument,
                "Unable to parse 'priority': attempt to access JSON non-unsigned-integer as "
                "unsigned-integer");
  ExpectFailure(with(R"({"sequence_start":1})"), StatusCode::kInvalidArgument,
                "Unable to parse 'sequence_start': attempt to access JSON non-boolean as boolean");
  ExpectFailure(with(R"({"sequence_id":")" + std::string(129, 'a') + "\"}"),
                StatusCode::kUnsupported,
                "string correlation ID cannot be longer than 128 characters");
}

TEST(DecodeInferRequest, StructureFailures) {
  ExpectFailure(Decode("{}"), StatusCode::kInvalidArgument,
                "Unable to parse 'inputs': attempt to access non-existing object member 'inputs'");
  ExpectFailure(Decode(R"({"inputs":3})"), StatusCode::kInvalidArgument,
                "Unable to parse 'inputs': attempt to access JSON non-array as array");
  ExpectFailure(Decode(R"({"inputs":[{"datatype":"FP32","shape":[1],"data":[1]}]})"),
                StatusCode::kInvalidArgument,
                "Unable to parse 'name': attempt to access non-existing object member 'name'");
  ExpectFailure(Decode(R"({"id":1,"inputs":[]})"), StatusCode::kInvalidArgument,
                "Unable to parse 'id': attempt to access JSON non-string as string");
  ExpectFailure(DecodeData("FP32", "[-1]", "[1]"), StatusCode::kInvalidArgument,
                "Unable to parse 'shape': attempt to access JSON non-unsigned-integer as "
                "unsigned-integer");
  ExpectFailure(Decode(R"({"inputs":[{"name":"IN","datatype":"FP32","shape":[1]}]})"),
                StatusCode::kInvalidArgument,
                "Input must set only one of the following fields: 'data', 'binary_data_size' in "
                "'parameters', 'shared_memory_region' in 'parameters'. But no field is set");
  ExpectFailure(Decode(R"({"inputs":[{"name":"IN","datatype":"FP32","shape":[1],"data":[1],
                       "parameters":{"shared_memory_region":"r"}}]})"),
                StatusCode::kInvalidArgument,
                "Input must set only one of the following fields: 'data', 'binary_data_size' in "
                "'parameters', 'shared_memory_region' in 'parameters'. But set 'data' "
                "'shared_memory_region'");
}

TEST(DecodeInferRequest, TensorsInSharedMemory) {
  const auto decoded = Decode(R"({"inputs":[
      {"name":"A","datatype":"FP32","shape":[1],"data":[1]},
      {"name":"B","datatype":"FP32","shape":[16],"parameters":{"shared_memory_byte_size":64,
       "shared_memory_offset":128,"shared_memory_region":"r"}},
      {"name":"C","datatype":"FP32","shape":[0],"parameters":{"shared_memory_region":""}}],
      "outputs":[{"name":"X","parameters":{"shared_memory_region":"s",
                  "shared_memory_byte_size":18446744073709551615}},
                 {"name":"Y","parameters":{"shared_memory_offset":3,"binary_data":true}},
                 {"name":"Z","parameters":{"shared_memory_region":"t","classification":0,
                  "binary_data":false}}]})");
  ASSERT_TRUE(decoded.status.ok()) << decoded.status.message();
  ASSERT_NE(decoded.request->shared_tensors, nullptr);
  const request::SharedTensors& shared = *decoded.request->shared_tensors;
  ASSERT_EQ(shared.inputs.size(), 2u);
  EXPECT_EQ(shared.inputs[0].index, 1u);
  EXPECT_EQ(shared.inputs[0].part.region, "r");
  EXPECT_EQ(shared.inputs[0].part.offset, 128u);
  EXPECT_EQ(shared.inputs[0].part.byte_size, 64u);
  EXPECT_TRUE(decoded.request->inputs()[1].pieces.empty());
  EXPECT_EQ(shared.inputs[1].index, 2u);
  EXPECT_EQ(shared.inputs[1].part.region, "");
  EXPECT_EQ(shared.inputs[1].part.byte_size, 0u);
  ASSERT_EQ(shared.outputs.size(), 2u);
  EXPECT_EQ(shared.outputs[0].name, "X");
  EXPECT_EQ(shared.outputs[0].part.region, "s");
  EXPECT_EQ(shared.outputs[0].part.byte_size, UINT64_MAX);
  EXPECT_EQ(shared.outputs[1].name, "Z");
  EXPECT_EQ(decoded.request->requested_outputs, (std::vector<std::string>{"X", "Y", "Z"}));
  EXPECT_EQ(Decode(R"({"inputs":[]})").request->shared_tensors, nullptr);
}

TEST(DecodeInferRequest, SharedMemoryFailures) {
  const auto input = [](const std::string& parameters) {
    return Decode(R"({"inputs":[{"name":"IN","datatype":"FP32","shape":[1],"parameters":{)" +
                  parameters + "}}]}");
  };
  const std::string as_unsigned = "attempt to access JSON non-unsigned-integer as unsigned-integer";
  ExpectFailure(input(R"("shared_memory_region":1)"), StatusCode::kInvalidArgument,
                "Unable to parse 'shared_memory_region': attempt to access JSON non-string as "
                "string");
  ExpectFailure(input(R"("shared_memory_region":"r","shared_memory_offset":-1)"),
                StatusCode::kInvalidArgument,
                "Unable to parse 'shared_memory_offset': " + as_unsigned);
  ExpectFailure(input(R"("shared_memory_region":"r","shared_memory_byte_size":"4")"),
                StatusCode::kInvalidArgument,
                "Unable to parse 'shared_memory_byte_size': " + as_unsigned);
  ExpectFailure(input(R"("shared_memory_region":"r","binary_data_size":4)"),
                StatusCode::kInvalidArgument,
                "Input must set only one of the following fields: 'data', 'binary_data_size' in "
                "'parameters', 'shared_memory_region' in 'parameters'. But set 'binary_data_size' "
                "'shared_memory_region'");
  ExpectFailure(Decode(R"({"inputs":[],"outputs":[{"name":"o","parameters":{
                          "shared_memory_region":"r","binary_data":true}}]})"),
                StatusCode::kInvalidArgument,
                "Output can't set both 'shared_memory_region' and 'binary_data'");
}

TEST(DecodeInferRequest, DataFailures) {
  const char* const mismatch =
      "Unable to parse 'data': Shape does not match true shape of 'data' field";
  ExpectFailure(DecodeData("FP32", "[2]", "[1]"), StatusCode::kInvalidArgument, mismatch);
  ExpectFailure(DecodeData("FP32", "[1]", "[1,2]"), StatusCode::kInvalidArgument, mismatch);
  ExpectFailure(DecodeData("FP32", "[4000000000]", "[1]"), StatusCode::kInvalidArgument,
                "JSON input 'IN' has a byte_size (16000000000 bytes) that exceeds the maximum "
                "allowed value of 67108864 bytes. Use --http-max-input-size to increase the "
                "limit.");
  ExpectFailure(DecodeData("FP32", "[9223372036854775807,2]", "[1]"), StatusCode::kInvalidArgument,
                "invalid shape for input 'IN': shape [9223372036854775807,2] causes total element "
                "count to exceed maximum size of 9223372036854775807");
  ExpectFailure(DecodeData("FP64", "[9223372036854775807]", "[1]"), StatusCode::kInvalidArgument,
                "byte size overflow for input 'IN': element count (9223372036854775807) * data "
                "type size (8) exceeds maximum allowed size (9223372036854775807)");
  ExpectFailure(DecodeData("FP32", "[1]", "3"), StatusCode::kInvalidArgument,
                "Unable to parse 'data': attempt to access JSON non-array as array");
  ExpectFailure(DecodeData("FP32", "[1]", "[\"a\"]"), StatusCode::kInvalidArgument,
                "Unable to parse 'data': attempt to access JSON non-number as double");
  ExpectFailure(DecodeData("INT32", "[1]", "[1.5]"), StatusCode::kInvalidArgument,
                "Unable to parse 'data': attempt to access JSON non-signed-integer as "
                "signed-integer");
  ExpectFailure(DecodeData("UINT32", "[1]", "[-1]"), StatusCode::kInvalidArgument,
                "Unable to parse 'data': attempt to access JSON non-unsigned-integer as "
                "unsigned-integer");
  ExpectFailure(DecodeData("BOOL", "[1]", "[1]"), StatusCode::kInvalidArgument,
                "Unable to parse 'data': attempt to access JSON non-boolean as boolean");
  ExpectFailure(DecodeData("BYTES", "[1]", "[1]"), StatusCode::kInvalidArgument,
                "Unable to parse JSON bytes array: attempt to access JSON non-string as string");
  ExpectFailure(DecodeData("FP16", "[1]", "[1]"), StatusCode::kInvalidArgument,
                "receiving FP16 data via JSON is not supported. Please use the binary data format "
                "for input IN");
  ExpectFailure(DecodeData("FLOAT", "[1]", "[1]"), StatusCode::kInvalidArgument,
                "invalid datatype for input IN (JSON data)");
}

TEST(DecodeInferRequest, BinarySizeFailures) {
  const std::string json = R"({"inputs":[{"name":"IN","datatype":"FP32","shape":[4],
                              "parameters":{"binary_data_size":16}}]})";
  ExpectFailure(Decode(json, std::string(10, 'x')), StatusCode::kInvalidArgument,
                "unexpected size for input 'IN', expecting 6 additional bytes for model 'm'");
  ExpectFailure(Decode(json, std::string(17, 'x')), StatusCode::kInvalidArgument,
                "unexpected additional input data for model 'm'");
  EXPECT_TRUE(Decode(json, std::string(16, 'x')).status.ok());
}

TEST(DecodeInferRequest, SyntaxFailuresSayWhere) {
  ExpectFailure(Decode(""), StatusCode::kInvalidArgument,
                "failed to parse the request JSON buffer: The document is empty. at 0");
  ExpectFailure(Decode(R"({"inputs":[],})"), StatusCode::kInvalidArgument,
                "failed to parse the request JSON buffer: Missing a name for object member. at 13");
  ExpectFailure(DecodeData("FP32", "[1]", "[1e400]"), StatusCode::kInvalidArgument,
                "failed to parse the request JSON buffer: Number too big to be stored in double. "
                "at 62");
  for (const char* text : {"{", "[", "nul", "{\"a\"", "{\"a\":", "{\"a\":1", "{\"inputs\":[",
                           "{\"inputs\":[{", "{\"inputs\":[]} x", "{\"inputs\":[]}{", "{'a':1}",
                           "{\"a\":\"\\x\"}", "{\"a\":\"\\ud800\"}", "{\"a\":\"\x01\"}",
                           "{\"a\":[1,]}", "{\"a\":[,1]}", "{\"a\":tru}", "{\"a\":01}"}) {
    const Decoded decoded = Decode(text);
    EXPECT_EQ(decoded.status.code(), StatusCode::kInvalidArgument) << text;
    EXPECT_EQ(decoded.status.message().rfind("failed to parse the request JSON buffer: ", 0), 0u)
        << text << ": " << decoded.status.message();
  }
}

// Every prefix of a request that has a bit of everything: none may crash or be accepted.
TEST(DecodeInferRequest, TruncatedAnywhere) {
  const std::string whole =
      R"({"id":"\u00e9","parameters":{"a":1.5e3,"b":null},"inputs":[{"name":"IN","shape":[2],)"
      R"("datatype":"FP32","data":[[1.25],[NaN]]},{"name":"S","shape":[1],"datatype":"BYTES",)"
      R"("data":["x\ud83d\ude00"]}],"outputs":[{"name":"o","parameters":{"binary_data":true}}]})";
  for (size_t size = 0; size < whole.size(); ++size) {
    EXPECT_FALSE(Decode(whole.substr(0, size)).status.ok()) << size;
  }
}

TEST(DecodeInferRequest, DepthIsLimited) {
  const std::string deep(200, '[');
  ExpectFailure(DecodeData("FP32", "[1]", deep + "1" + std::string(200, ']')),
                StatusCode::kInvalidArgument,
                "JSON nesting depth exceeds maximum allowed limit (100)");
  ExpectFailure(Decode(R"({"x":)" + deep), StatusCode::kInvalidArgument,
                "JSON nesting depth exceeds maximum allowed limit (100)");
}

TEST(DecodeInferRequest, SizeIsLimited) {
  DecodeLimits limits;
  limits.max_json_size = 10;
  ExpectFailure(Decode(R"({"inputs":[]})", "", limits), StatusCode::kInvalidArgument,
                "request JSON size of 13 bytes exceeds the maximum allowed input size of 10 bytes. "
                "Use --http-max-input-size to increase the limit.");
}

TEST(DecodeInferRequest, Classification) {
  const Decoded decoded = Decode(
      R"({"inputs":[],"outputs":[{"name":"a","parameters":{"classification":3,"binary_data":true}},
          {"name":"b","parameters":{"classification":0}},
          {"name":"c","parameters":{"classification":18446744073709551615}},
          {"name":"d","parameters":{"classification":2}},
          {"name":"d","parameters":{"classification":0}}]})");
  ASSERT_TRUE(decoded.status.ok()) << decoded.status.message();
  ASSERT_EQ(decoded.outputs.classifications().size(), 3u);
  EXPECT_EQ(decoded.outputs.classifications()[2].output, "d");
  EXPECT_EQ(decoded.outputs.classifications()[2].count, 0u);  // the tensor after all
  EXPECT_EQ(decoded.outputs.classifications()[0].output, "a");
  EXPECT_EQ(decoded.outputs.classifications()[0].count, 3u);
  EXPECT_TRUE(decoded.outputs.IsBinary("a"));
  EXPECT_EQ(decoded.outputs.classifications()[1].output, "c");
  EXPECT_EQ(decoded.outputs.classifications()[1].count, UINT64_MAX);
  for (const char* wrong : {"-1", "1.0", "\"2\"", "true", "18446744073709551616"}) {
    ExpectFailure(Decode(R"({"inputs":[],"outputs":[{"name":"o","parameters":{"classification":)" +
                         std::string(wrong) + "}}]}"),
                  StatusCode::kInvalidArgument,
                  "Unable to set 'classification': attempt to access JSON non-unsigned-integer as "
                  "unsigned-integer");
  }
  ExpectFailure(Decode(R"({"inputs":[],"outputs":[{"name":"o","parameters":{
                          "shared_memory_region":"r","classification":1}}]})"),
                StatusCode::kInvalidArgument,
                "Output can't set both 'shared_memory_region' and 'classification'");
}

TEST(DecodeInferRequest, InputTwice) {
  EXPECT_EQ(Decode(R"({"inputs":[{"name":"IN","datatype":"FP32","shape":[1],"data":[1]},
                   {"name":"IN","datatype":"FP32","shape":[1],"data":[1]}]})")
                .status.code(),
            StatusCode::kInvalidArgument);
}

TEST(DecodeInferRequest, OfRepeatedMembersTheFirstCounts) {
  const Decoded decoded = Decode(
      R"({"id":"1","inputs":[{"name":"IN","name":"X","datatype":"INT8","datatype":"FP32","shape":[1],
      "shape":[2],"data":[1],"data":[2],"parameters":{},"parameters":{"binary_data_size":4}}],
      "outputs":[{"name":"a","name":"b","parameters":{"binary_data":true},
      "parameters":{"classification":3}}],"parameters":{"p":1},"id":"2","inputs":[{"name":"IN"}],
      "inputs":7,"outputs":[{"name":"c"}],"outputs":"x","parameters":{"q":2}})");
  ASSERT_TRUE(decoded.status.ok()) << decoded.status.message();
  EXPECT_EQ(decoded.request->id, "1");
  ASSERT_EQ(decoded.request->inputs().size(), 1u);
  EXPECT_EQ(decoded.Values<int8_t>("IN"), std::vector<int8_t>{1});
  EXPECT_EQ(decoded.request->requested_outputs, std::vector<std::string>{"a"});
  EXPECT_TRUE(decoded.outputs.IsBinary("a"));
  EXPECT_TRUE(decoded.outputs.classifications().empty());
  ASSERT_EQ(decoded.request->parameters.size(), 1u);
  EXPECT_EQ(decoded.request->parameters[0].name, "p");
}

TEST(DecodeInferRequest, RepeatedKeysDoNotPassTheLimit) {
  std::string json = R"({"inputs":[])";
  for (int i = 0; i < 5000; ++i) {
    json += R"(,"outputs":[{"name":")" + std::to_string(i) + R"("}])";
  }
  const Decoded decoded = Decode(json + "}");
  ASSERT_TRUE(decoded.status.ok()) << decoded.status.message();
  EXPECT_EQ(decoded.request->requested_outputs, std::vector<std::string>{"0"});
}

TEST(DecodeInferRequest, ManyInputsAndOutputsKeepTheirOrder) {
  constexpr int kCount = 200;
  std::string inputs, outputs;
  for (int round = 0; round < 2; ++round) {
    for (int i = 0; i < kCount; ++i) {
      const std::string name = std::to_string(i);
      outputs += R"({"name":")" + name + R"(","parameters":{"binary_data":)" +
                 (round == i % 2 ? "true" : "false") + R"(,"classification":)" +
                 std::to_string(round * i) + "}},";
      if (round == 0) {
        inputs += R"({"name":")" + name + R"(","datatype":"INT8","shape":[1],"data":[1]},)";
      }
    }
  }
  inputs.pop_back();
  outputs.pop_back();
  const Decoded decoded = Decode(R"({"inputs":[)" + inputs + R"(],"outputs":[)" + outputs + "]}");
  ASSERT_TRUE(decoded.status.ok()) << decoded.status.message();
  ASSERT_EQ(decoded.request->inputs().size(), kCount);
  ASSERT_EQ(decoded.request->requested_outputs.size(), kCount);
  for (int i = 0; i < kCount; ++i) {
    EXPECT_EQ(decoded.request->inputs()[i].name, std::to_string(i));
    EXPECT_EQ(decoded.request->requested_outputs[i], std::to_string(i));
    EXPECT_EQ(decoded.outputs.IsBinary(std::to_string(i)), i % 2 == 1);
  }
  ASSERT_EQ(decoded.outputs.classifications().size(), kCount - 1u);  // the count of "0" was 0
  EXPECT_EQ(decoded.outputs.classifications().back().count, kCount - 1u);
  ExpectFailure(Decode(R"({"id":"9","inputs":[)" + inputs +
                       R"(,{"name":"7","datatype":"INT8","shape":[1],"data":[1]}]})"),
                StatusCode::kInvalidArgument,
                "[request id: 9] input '7' already exists in request");
}

TEST(DecodeInferRequest, BoundsOfParametersAndDimensions) {
  DecodeLimits limits;
  limits.max_parameters = 2;
  limits.max_dimensions = 2;
  EXPECT_TRUE(
      Decode(R"({"inputs":[],"parameters":{"a":1,"b":2,"priority":3}})", "", limits).status.ok());
  ExpectFailure(Decode(R"({"inputs":[],"parameters":{"a":1,"b":2,"a":3}})", "", limits),
                StatusCode::kInvalidArgument, "a request can have at most 2 parameters");
  ExpectFailure(Decode(R"({"inputs":[{"name":"IN","shape":[1,1,1]}]})", "", limits),
                StatusCode::kInvalidArgument, "an input can have at most 2 dimensions");
}

TEST(DecodeRawRequest, TheBodyIsTheInput) {
  InferenceRequest request;
  OutputOptions outputs;
  ASSERT_TRUE(DecodeRawRequest("0123456789abcdef", {}, &request, &outputs).ok());
  EXPECT_TRUE(request.inputs().is_raw());
  ASSERT_EQ(request.inputs().size(), 1u);
  EXPECT_EQ(request.inputs()[0].ByteSize(), 16u);
  EXPECT_TRUE(outputs.IsBinary("anything"));
}

}  // namespace
}  // namespace nereid::codec::json
