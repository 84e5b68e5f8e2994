// SPDX-License-Identifier: Apache-2.0
#include "codec/proto/infer_request.h"

#include <gtest/gtest.h>

#include <cstring>
#include <functional>
#include <string>

#include "grpc_service.pb.h"

namespace nereid::codec::proto {
namespace {

using base::StatusCode;
using Message = inference::ModelInferRequest;

// Encodes a message, reads it, and keeps everything alive.
struct Filled {
  explicit Filled(const Message& message) : bytes(message.SerializeAsString()) {
    EXPECT_TRUE(view.Parse(bytes).ok());
    status = FillInferRequest(view, &request, &options);
  }
  std::string bytes;
  InferRequestView view;
  request::InferenceRequest request;
  ResponseOptions options;
  base::Status status;
};

Message OneInput(const std::string& datatype, std::vector<int64_t> shape) {
  Message message;
  message.set_model_name("M");
  auto* input = message.add_inputs();
  input->set_name("IN");
  input->set_datatype(datatype);
  for (int64_t dim : shape) input->add_shape(dim);
  return message;
}

std::string InputBytes(const request::Input& input) {
  std::string bytes;
  for (const request::InputPiece& piece : input.pieces) bytes.append(piece.data, piece.size);
  return bytes;
}

template <typename T>
std::string BytesOf(std::vector<T> values) {
  return {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T)};
}

TEST(FillInferRequest, RawContentsAreViewsOfTheMessage) {
  Message message = OneInput("FP32", {2, 3});
  message.set_id("seven");
  message.add_raw_input_contents(std::string(24, 'r'));
  message.add_raw_input_contents("surplus");
  message.add_outputs()->set_name("OUT");
  Filled filled(message);
  ASSERT_TRUE(filled.status.ok()) << filled.status.message();
  EXPECT_EQ(filled.request.model_name, "M");
  EXPECT_EQ(filled.request.id, "seven");
  EXPECT_EQ(filled.request.requested_outputs, std::vector<std::string>{"OUT"});
  const request::Input& input = filled.request.inputs().at(0);
  EXPECT_EQ(input.type, tensor::DataType::kFp32);
  EXPECT_EQ(input.shape, (tensor::Shape{2, 3}));
  ASSERT_EQ(input.pieces.size(), 1u);
  EXPECT_EQ(input.pieces[0].size, 24u);
  EXPECT_GE(input.pieces[0].data, filled.bytes.data());
  EXPECT_LT(input.pieces[0].data, filled.bytes.data() + filled.bytes.size());
}

TEST(FillInferRequest, TypedContentsBecomeRawBytes) {
  struct Case {
    std::string datatype;
    std::function<void(inference::InferTensorContents*)> fill;
    std::string expected;
  };
  const Case cases[] = {
      {"BOOL",
       [](auto* c) {
         c->add_bool_contents(true);
         c->add_bool_contents(false);
       },
       std::string("\1\0", 2)},
      {"INT8",
       [](auto* c) {
         c->add_int_contents(-1);
         c->add_int_contents(127);
       },
       BytesOf<int8_t>({-1, 127})},
      {"INT16", [](auto* c) { c->add_int_contents(-2); }, BytesOf<int16_t>({-2})},
      {"INT32", [](auto* c) { c->add_int_contents(-3); }, BytesOf<int32_t>({-3})},
      {"INT64", [](auto* c) { c->add_int64_contents(-4); }, BytesOf<int64_t>({-4})},
      {"UINT8", [](auto* c) { c->add_uint_contents(255); }, BytesOf<uint8_t>({255})},
      {"UINT16", [](auto* c) { c->add_uint_contents(65535); }, BytesOf<uint16_t>({65535})},
      {"UINT32", [](auto* c) { c->add_uint_contents(4000000000u); },
       BytesOf<uint32_t>({4000000000u})},
      {"UINT64", [](auto* c) { c->add_uint64_contents(~uint64_t{0}); },
       BytesOf<uint64_t>({~uint64_t{0}})},
      {"FP32",
       [](auto* c) {
         c->add_fp32_contents(1.5f);
         c->add_fp32_contents(-2);
       },
       BytesOf<float>({1.5f, -2})},
      {"FP64", [](auto* c) { c->add_fp64_contents(2.25); }, BytesOf<double>({2.25})},
      {"BYTES",
       [](auto* c) {
         c->add_bytes_contents("ab");
         c->add_bytes_contents("");
       },
       std::string("\2\0\0\0ab\0\0\0\0", 10)},
  };
  for (const Case& test : cases) {
    Message message = OneInput(test.datatype, {1});
    test.fill(message.mutable_inputs(0)->mutable_contents());
    Filled filled(message);
    ASSERT_TRUE(filled.status.ok()) << test.datatype << ": " << filled.status.message();
    EXPECT_EQ(InputBytes(filled.request.inputs().at(0)), test.expected) << test.datatype;
  }
}

TEST(FillInferRequest, NumbersThatTheTypeCannotHoldAreRefused) {
  const auto signed_value = [](int32_t value) {
    return [value](auto* contents) { contents->add_int_contents(value); };
  };
  const auto unsigned_value = [](uint32_t value) {
    return [value](auto* contents) { contents->add_uint_contents(value); };
  };
  struct Case {
    std::string datatype;
    std::function<void(inference::InferTensorContents*)> fill;
    std::string value;
  };
  const Case cases[] = {
      {"INT8", signed_value(128), "128"},      {"INT8", signed_value(-129), "-129"},
      {"INT16", signed_value(32768), "32768"}, {"INT16", signed_value(INT32_MIN), "-2147483648"},
      {"UINT8", unsigned_value(256), "256"},   {"UINT16", unsigned_value(65536), "65536"},
  };
  for (const Case& test : cases) {
    Message message = OneInput(test.datatype, {1});
    test.fill(message.mutable_inputs(0)->mutable_contents());
    const Filled filled(message);
    EXPECT_EQ(filled.status.code(), StatusCode::kInvalidArgument);
    EXPECT_EQ(filled.status.message(), "input 'IN' has the value " + test.value + ", which " +
                                           test.datatype + " cannot hold");
  }
}

TEST(ConvertContents, NumbersOfMoreBitsThanTheirField) {
  const auto convert = [](std::string_view body, ContentsField field, tensor::DataType type) {
    ContentsView contents;
    EXPECT_TRUE(CountContents(body, 10, &contents));
    return ConvertContents({&body, 1}, contents, field, {"IN", type});
  };
  // int_contents 2^32 + 5, and -1 in 32 bits, as some encoders write it.
  const auto wide =
      convert("\x10\x85\x80\x80\x80\x10", ContentsField::kInt, tensor::DataType::kInt32);
  EXPECT_EQ(wide.status().message(),
            "input 'IN' has the value 4294967301, which INT32 cannot hold");
  const auto minus =
      convert("\x10\xff\xff\xff\xff\x0f", ContentsField::kInt, tensor::DataType::kInt8);
  ASSERT_TRUE(minus.ok());
  EXPECT_EQ(minus->data()[0], -1);
  const auto wide_unsigned =
      convert("\x20\x85\x80\x80\x80\x10", ContentsField::kUint, tensor::DataType::kUint32);
  EXPECT_EQ(wide_unsigned.status().message(),
            "input 'IN' has the value 4294967301, which UINT32 cannot hold");
}

TEST(FillInferRequest, EmptyContentsAreZeroBytes) {
  Message message = OneInput("FP32", {0});
  message.mutable_inputs(0)->mutable_contents();
  Filled filled(message);
  ASSERT_TRUE(filled.status.ok()) << filled.status.message();
  EXPECT_EQ(filled.request.inputs().at(0).ByteSize(), 0u);
}

struct Refusal {
  std::string name;
  std::function<void(Message*)> change;
  StatusCode code;
  std::string text;
};

void Set(google::protobuf::Map<std::string, inference::InferParameter>* map, const std::string& key,
         std::function<void(inference::InferParameter*)> set) {
  set(&(*map)[key]);
}

TEST(FillInferRequest, RefusalsHaveTritonsTexts) {
  const auto request_parameter = [](const std::string& key, auto set) {
    return [key, set](Message* m) { Set(m->mutable_parameters(), key, set); };
  };
  const auto input_parameter = [](const std::string& key, auto set) {
    return [key, set](Message* m) { Set(m->mutable_inputs(0)->mutable_parameters(), key, set); };
  };
  const auto output_parameter = [](const std::string& key, auto set) {
    return [key, set](Message* m) {
      auto* output = m->outputs_size() > 0 ? m->mutable_outputs(0) : m->add_outputs();
      output->set_name("OUT");
      Set(output->mutable_parameters(), key, set);
    };
  };
  const auto text = [](auto* p) { p->set_string_param("x"); };
  const auto boolean = [](auto* p) { p->set_bool_param(true); };
  const auto minus = [](auto* p) { p->set_int64_param(-1); };
  const auto zero = [](auto* p) { p->set_int64_param(0); };
  const auto one = [](auto* p) { p->set_int64_param(1); };
  const auto invalid = StatusCode::kInvalidArgument;
  const auto unsupported = StatusCode::kUnsupported;
  const Refusal cases[] = {
      {"no data", [](Message* m) { m->clear_raw_input_contents(); }, invalid,
       "unable to find data for input tensor 'IN' for model 'M' in request."},
      {"both", [](Message* m) { m->mutable_inputs(0)->mutable_contents(); }, invalid,
       "contents field must not be specified when using raw_input_contents for 'IN' for model 'M'"},
      {"wrong field",
       [](Message* m) {
         m->clear_raw_input_contents();
         m->mutable_inputs(0)->mutable_contents()->add_int_contents(1);
       },
       invalid,
       "unexpected explicit tensor data for input tensor 'IN' for model 'M' of type 'INT32', "
       "expected datatype 'FP32'"},
      {"two fields",
       [](Message* m) {
         m->clear_raw_input_contents();
         m->mutable_inputs(0)->mutable_contents()->add_fp32_contents(1);
         m->mutable_inputs(0)->mutable_contents()->add_fp64_contents(1);
       },
       invalid,
       "unexpected explicit tensor data for input tensor 'IN' for model 'M', binary data was "
       "already supplied."},
      {"sequence_id", request_parameter("sequence_id", boolean), invalid,
       "invalid value type for 'sequence_id' parameter, expected int64_param, uint64_param, or "
       "string_param."},
      {"long sequence_id",
       request_parameter("sequence_id",
                         [](auto* p) { p->set_string_param(std::string(129, 's')); }),
       unsupported, "string correlation ID cannot be longer than 128 characters"},
      {"sequence_start", request_parameter("sequence_start", one), invalid,
       "invalid value type for 'sequence_start' parameter, expected bool_param."},
      {"priority", request_parameter("priority", text), invalid,
       "invalid value type for 'priority' parameter, expected int64_param or uint64_param."},
      {"negative priority", request_parameter("priority", minus), invalid,
       "invalid value for 'priority', expected value >= 0."},
      {"timeout", request_parameter("timeout", boolean), invalid,
       "invalid value type for 'timeout' parameter, expected int64_param or uint64_param."},
      {"negative timeout", request_parameter("timeout", minus), invalid,
       "invalid value for 'timeout', expected value >= 0."},
      {"reserved", request_parameter("triton_x", one), invalid,
       "parameter keys starting with 'triton_' are reserved for Triton usage. Only the following "
       "keys starting with 'triton_' are allowed: triton_enable_empty_final_response"},
      {"unset custom", request_parameter("k", [](auto*) {}), invalid,
       "invalid value type for 'k' parameter, expected int64_param, uint64_param, double_param, "
       "bool_param, or string_param."},
      {"region only", input_parameter("shared_memory_region", text), invalid,
       "'shared_memory_byte_size' must be specified along with 'shared_memory_region' parameter "
       "for tensor 'IN'"},
      {"offset only", input_parameter("shared_memory_offset", one), invalid,
       "'shared_memory_offset' can not be specified without 'shared_memory_region' parameter for "
       "tensor 'IN'"},
      {"zero classification", output_parameter("classification", zero), invalid,
       "invalid value for 'classification' parameter, expected >= 0"},
      {"text classification", output_parameter("classification", text), invalid,
       "invalid value type for 'classification' parameter, expected int64_param or uint64_param"},
      {"negative classification", output_parameter("classification", minus), invalid,
       "invalid value for 'classification' parameter, expected >= 0"},
      {"size only", output_parameter("shared_memory_byte_size", one), invalid,
       "'shared_memory_byte_size' can not be specified without 'shared_memory_region' parameter "
       "for tensor 'OUT'"},
      {"region of a number", input_parameter("shared_memory_region", one), invalid,
       "invalid value type for 'shared_memory_region' parameter, expected string_param."},
      {"size of a text", input_parameter("shared_memory_byte_size", text), invalid,
       "invalid value type for 'shared_memory_byte_size' parameter, expected int64_param or "
       "uint64_param."},
      {"negative offset", input_parameter("shared_memory_offset", minus), invalid,
       "invalid value for 'shared_memory_offset', expected value >= 0."},
      {"contents and region",
       [&](Message* m) {
         input_parameter("shared_memory_region", text)(m);
         input_parameter("shared_memory_byte_size", one)(m);
         m->mutable_inputs(0)->mutable_contents()->add_fp32_contents(1);
       },
       invalid,
       "unexpected 'content' provided when using shared memory for input tensor 'IN' for model "
       "'M'"},
      {"classification and region",
       [&](Message* m) {
         output_parameter("shared_memory_region", text)(m);
         output_parameter("shared_memory_byte_size", one)(m);
         output_parameter("classification", one)(m);
       },
       invalid, "output can't set both 'shared_memory_region' and 'classification'"},
  };
  for (const Refusal& test : cases) {
    Message message = OneInput("FP32", {1});
    message.add_raw_input_contents("1234");
    test.change(&message);
    Filled filled(message);
    EXPECT_EQ(filled.status.code(), test.code) << test.name;
    EXPECT_EQ(filled.status.message(), test.text) << test.name;
  }
}

TEST(FillInferRequest, TensorsInSharedMemory) {
  Message message = OneInput("FP32", {1});
  auto& input = *message.mutable_inputs(0)->mutable_parameters();
  input["shared_memory_region"].set_string_param("r");
  input["shared_memory_offset"].set_int64_param(128);
  input["shared_memory_byte_size"].set_int64_param(4);
  auto* const second = message.add_inputs();  // takes the first of the raw contents
  second->set_name("IN2");
  second->set_datatype("FP32");
  second->add_shape(1);
  message.add_raw_input_contents("1234");
  message.clear_outputs();
  auto& output = *message.add_outputs();
  output.set_name("OUT");
  (*output.mutable_parameters())["shared_memory_region"].set_string_param("s");
  (*output.mutable_parameters())["shared_memory_byte_size"].set_uint64_param(UINT64_MAX);
  Filled filled(message);
  ASSERT_TRUE(filled.status.ok()) << filled.status.message();
  ASSERT_NE(filled.request.shared_tensors, nullptr);
  const request::SharedTensors& shared = *filled.request.shared_tensors;
  ASSERT_EQ(shared.inputs.size(), 1u);
  EXPECT_EQ(shared.inputs[0].index, 0u);
  EXPECT_EQ(shared.inputs[0].part.region, "r");
  EXPECT_EQ(shared.inputs[0].part.offset, 128u);
  EXPECT_EQ(shared.inputs[0].part.byte_size, 4u);
  EXPECT_TRUE(filled.request.inputs()[0].pieces.empty());
  EXPECT_EQ(filled.request.inputs()[1].ByteSize(), 4u);
  ASSERT_EQ(shared.outputs.size(), 1u);
  EXPECT_EQ(shared.outputs[0].name, "OUT");
  EXPECT_EQ(shared.outputs[0].part.region, "s");
  EXPECT_EQ(shared.outputs[0].part.offset, 0u);
  EXPECT_EQ(shared.outputs[0].part.byte_size, UINT64_MAX) << "more than every region has";
}

TEST(FillInferRequest, ClassificationIsAWish) {
  Message message = OneInput("FP32", {1});
  message.add_raw_input_contents("1234");
  message.clear_outputs();
  for (const auto& [name, count] : {std::pair("A", int64_t{3}), std::pair("B", INT64_MAX)}) {
    auto* const output = message.add_outputs();
    output->set_name(name);
    (*output->mutable_parameters())["classification"].set_int64_param(count);
  }
  message.add_outputs()->set_name("C");
  message.add_outputs()->set_name("A");  // twice is once
  Filled filled(message);
  ASSERT_TRUE(filled.status.ok()) << filled.status.message();
  ASSERT_EQ(filled.options.classifications.size(), 2u);
  EXPECT_EQ(filled.options.classifications[0].output, "A");
  EXPECT_EQ(filled.options.classifications[0].count, 3u);
  EXPECT_EQ(filled.options.classifications[1].count, uint64_t{INT64_MAX});
  EXPECT_EQ(filled.request.requested_outputs, (std::vector<std::string>{"A", "B", "C"}));
}

TEST(FillInferRequest, ReservedParametersBecomeFields) {
  Message message;
  auto& parameters = *message.mutable_parameters();
  parameters["sequence_id"].set_string_param("s");
  parameters["sequence_start"].set_bool_param(true);
  parameters["sequence_end"].set_bool_param(false);
  parameters["priority"].set_uint64_param(3);
  parameters["timeout"].set_int64_param(1000);
  parameters["triton_enable_empty_final_response"].set_bool_param(true);
  parameters["double"].set_double_param(0.5);
  Filled filled(message);
  ASSERT_TRUE(filled.status.ok()) << filled.status.message();
  EXPECT_EQ(std::get<std::string>(filled.request.correlation_id), "s");
  EXPECT_EQ(filled.request.flags, request::kFlagSequenceStart);
  EXPECT_EQ(filled.request.priority, 3u);
  EXPECT_EQ(filled.request.timeout_us, 1000u);
  EXPECT_TRUE(filled.options.empty_final_response);
  ASSERT_EQ(filled.request.parameters.size(), 1u);
  EXPECT_EQ(filled.request.parameters[0].name, "double");
  EXPECT_EQ(std::get<double>(filled.request.parameters[0].value), 0.5);
}

TEST(FillInferRequest, UnsignedNumbersCountLikeSignedOnes) {
  Message message = OneInput("UINT8", {1});
  message.add_raw_input_contents("x");
  message.clear_outputs();
  auto& parameters = *message.mutable_parameters();
  parameters["sequence_id"].set_uint64_param(UINT64_MAX);
  parameters["timeout"].set_uint64_param(1000);
  parameters["a"].set_uint64_param(7);
  parameters["b"].set_uint64_param(uint64_t{1} << 63);
  auto* const output = message.add_outputs();
  output->set_name("OUT");
  (*output->mutable_parameters())["classification"].set_uint64_param(3);
  Filled filled(message);
  ASSERT_TRUE(filled.status.ok()) << filled.status.message();
  EXPECT_EQ(std::get<uint64_t>(filled.request.correlation_id), UINT64_MAX);
  EXPECT_EQ(filled.request.timeout_us, 1000u);
  EXPECT_EQ(filled.options.classifications.at(0).count, 3u);
  ASSERT_EQ(filled.request.parameters.size(), 2u);
  for (const request::Parameter& parameter : filled.request.parameters) {
    if (parameter.name == "a") {
      EXPECT_EQ(std::get<int64_t>(parameter.value), 7);
    } else {
      EXPECT_EQ(std::get<double>(parameter.value), 9223372036854775808.0);
    }
  }
}

TEST(FillInferRequest, ManyOutputsCountOnceEach) {
  Message message = OneInput("UINT8", {1});
  message.add_raw_input_contents("x");
  std::vector<std::string> names;
  for (int round = 0; round < 2; ++round) {
    for (int i = 0; i < 2000; ++i) {
      const std::string name = std::to_string(2000 - i);
      message.add_outputs()->set_name(name);
      if (round == 0) names.push_back(name);
    }
  }
  Filled filled(message);
  ASSERT_TRUE(filled.status.ok()) << filled.status.message();
  EXPECT_EQ(filled.request.requested_outputs, names);
}

}  // namespace
}  // namespace nereid::codec::proto
