// SPDX-License-Identifier: Apache-2.0
#include "codec/proto/infer_request_view.h"

#include <gtest/gtest.h>

#include <limits>
#include <random>
#include <string>

#include "codec/proto/fuzz/parse_comparison.h"
#include "grpc_service.pb.h"

namespace nereid::codec::proto {
namespace {

using testing::CompareWithProtobuf;

// Makes random requests: every field, with odd values.
class RequestMaker {
 public:
  explicit RequestMaker(uint32_t seed) : random_(seed) {}

  uint64_t Below(uint64_t bound) { return random_() % bound; }
  bool Maybe() { return Below(2) == 0; }

  std::string Text() {
    static const char* const kTexts[] = {
        "",     "a",        "model",        "INPUT0",
        "FP32", "priority", "\u00e4\u20ac", "a much longer name of a thing"};
    return kTexts[Below(8)];
  }

  uint64_t Integer() { return random_() >> Below(64); }

  template <typename Map>
  void FillParameters(Map* map) {
    for (uint64_t i = Below(4); i > 0; --i) {
      inference::InferParameter& parameter = (*map)[Text()];
      switch (Below(6)) {
        case 0:
          parameter.set_bool_param(Maybe());
          break;
        case 1:
          parameter.set_int64_param(static_cast<int64_t>(Integer()));
          break;
        case 2:
          parameter.set_string_param(Text());
          break;
        case 3:
          parameter.set_double_param(static_cast<double>(Integer()) / 3);
          break;
        case 4:
          parameter.set_uint64_param(Integer());
          break;
        default:
          break;
      }
    }
  }

  void FillContents(inference::InferTensorContents* contents) {
    for (uint64_t i = Below(4); i > 0; --i) contents->add_bool_contents(Maybe());
    for (uint64_t i = Below(4); i > 0; --i) contents->add_int_contents(static_cast<int>(Integer()));
    for (uint64_t i = Below(4); i > 0; --i)
      contents->add_int64_contents(static_cast<int64_t>(Integer()));
    for (uint64_t i = Below(4); i > 0; --i)
      contents->add_uint_contents(static_cast<uint32_t>(Integer()));
    for (uint64_t i = Below(4); i > 0; --i) contents->add_uint64_contents(Integer());
    for (uint64_t i = Below(4); i > 0; --i)
      contents->add_fp32_contents(static_cast<float>(Integer()));
    for (uint64_t i = Below(4); i > 0; --i)
      contents->add_fp64_contents(static_cast<double>(Integer()));
    for (uint64_t i = Below(4); i > 0; --i)
      contents->add_bytes_contents(std::string(Below(300), 'x'));
  }

  inference::ModelInferRequest Request() {
    inference::ModelInferRequest request;
    request.set_model_name(Text());
    request.set_model_version(Text());
    request.set_id(Text());
    FillParameters(request.mutable_parameters());
    for (uint64_t i = Below(3); i > 0; --i) {
      auto* input = request.add_inputs();
      input->set_name(Text());
      input->set_datatype(Text());
      for (uint64_t n = Below(5); n > 0; --n) input->add_shape(static_cast<int64_t>(Integer()));
      FillParameters(input->mutable_parameters());
      if (Maybe()) FillContents(input->mutable_contents());
    }
    for (uint64_t i = Below(3); i > 0; --i) {
      auto* output = request.add_outputs();
      output->set_name(Text());
      FillParameters(output->mutable_parameters());
    }
    for (uint64_t i = Below(3); i > 0; --i)
      request.add_raw_input_contents(std::string(Below(200), 'r'));
    return request;
  }

  // Changes some bytes: flips, removals, insertions of interesting bytes, splices.
  std::string Mutate(std::string bytes) {
    static constexpr unsigned char kBytes[] = {0x00, 0x01, 0x04, 0x08, 0x0a, 0x0c,
                                               0x12, 0x18, 0x1a, 0x22, 0x2a, 0x32,
                                               0x3a, 0x3b, 0x3c, 0x7f, 0x80, 0xff};
    for (uint64_t i = 1 + Below(3); i > 0 && !bytes.empty(); --i) {
      const size_t at = Below(bytes.size());
      switch (Below(5)) {
        case 0:
          bytes[at] = static_cast<char>(bytes[at] ^ (1 << Below(8)));
          break;
        case 1:
          bytes.erase(at, 1 + Below(3));
          break;
        case 2:
          bytes.insert(at, 1, static_cast<char>(kBytes[Below(sizeof(kBytes))]));
          break;
        case 3:
          bytes[at] = static_cast<char>(kBytes[Below(sizeof(kBytes))]);
          break;
        default:
          bytes.insert(Below(bytes.size()), bytes.substr(at, Below(40)));
          break;
      }
    }
    return bytes;
  }

 private:
  std::mt19937_64 random_;
};

TEST(InferRequestView, AgreesWithProtobufOnWellFormedRequests) {
  RequestMaker maker(1);
  for (int i = 0; i < 3000; ++i) {
    const std::string bytes = maker.Request().SerializeAsString();
    ASSERT_EQ(CompareWithProtobuf(bytes), "") << "request " << i;
  }
}

TEST(InferRequestView, AgreesWithProtobufOnMergedRequests) {
  RequestMaker maker(2);
  for (int i = 0; i < 2000; ++i) {
    std::string bytes = maker.Request().SerializeAsString();
    bytes += maker.Request().SerializeAsString();
    ASSERT_EQ(CompareWithProtobuf(bytes), "") << "request " << i;
  }
}

TEST(InferRequestView, AgreesWithProtobufOnMutatedBytes) {
  RequestMaker maker(3);
  for (int i = 0; i < 60000; ++i) {
    const std::string bytes = maker.Mutate(maker.Request().SerializeAsString());
    ASSERT_EQ(CompareWithProtobuf(bytes), "") << "request " << i;
  }
}

TEST(InferRequestView, AgreesWithProtobufOnEveryTruncation) {
  RequestMaker maker(4);
  for (int i = 0; i < 20; ++i) {
    const std::string bytes = maker.Request().SerializeAsString();
    for (size_t size = 0; size < bytes.size(); ++size) {
      ASSERT_EQ(CompareWithProtobuf(bytes.substr(0, size)), "") << "request " << i;
    }
  }
}

TEST(InferRequestView, ManyParametersKeepTheLastOfEachKey) {
  std::string bytes;
  for (int round = 0; round < 2; ++round) {
    inference::ModelInferRequest request;
    for (int i = 0; i < 40; ++i) {
      (*request.mutable_parameters())["key" + std::to_string(i)].set_int64_param(i + round);
    }
    bytes += request.SerializeAsString();
  }
  InferRequestView view;
  ASSERT_TRUE(view.Parse(bytes).ok());
  EXPECT_EQ(view.parameters.size(), 40u);
  EXPECT_EQ(CompareWithProtobuf(bytes), "");
}

TEST(InferRequestView, RefusesWhatWouldCostTooMuch) {
  InferRequestView view;
  std::string inputs;
  for (size_t i = 0; i <= kMaxRequestTensors; ++i) inputs += std::string("\x2a\x00", 2);
  const base::Status status = view.Parse(inputs);
  EXPECT_EQ(status.code(), base::StatusCode::kInvalidArgument);
  EXPECT_EQ(status.message(), "the request has more than 4096 inputs");
  EXPECT_TRUE(view.Parse("").ok());
  EXPECT_TRUE(view.inputs.empty());
}

TEST(InferRequestView, MalformedBytesAreAnInternalError) {
  InferRequestView view;
  const base::Status status = view.Parse(
      "\x0a\x05"
      "abc");
  EXPECT_EQ(status.code(), base::StatusCode::kInternal);
  EXPECT_EQ(status.message(), "failed to parse the ModelInferRequest message");
}

}  // namespace
}  // namespace nereid::codec::proto
