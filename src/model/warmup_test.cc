// SPDX-License-Identifier: Apache-2.0
#include "model/warmup.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "base/temporary_directory.h"
#include "request/response_factory.h"
#include "request/testing/make_model.h"
#include "request/testing/recording_sink.h"

namespace nereid::model {
namespace {

using ::testing::HasSubstr;
using ::testing::SizeIs;

constexpr const char* kModel = R"(
  name: "m" backend: "b" max_batch_size: 4
  input { name: "IN" data_type: TYPE_FP32 dims: [ -1, 2 ] }
  output { name: "OUT" data_type: TYPE_FP32 dims: [ 1 ] } )";

base::Result<std::string> NoFile(const std::string& name) {
  return base::Status::Internal("no file " + name);
}

std::string Sample(const std::string& input, const std::string& settings = "batch_size: 1") {
  return "model_warmup { name: \"s\" " + settings + " inputs { key: \"IN\" value { " + input +
         " } } }";
}

base::Result<std::vector<WarmupSample>> Build(const std::string& text,
                                              const ReadWarmupFile& read = NoFile) {
  return BuildWarmupSamples(*request::MakeModel(text)->config, read);
}

std::string Failure(const std::string& sample, const ReadWarmupFile& read = NoFile) {
  return Build(kModel + sample, read).status().message();
}

std::string_view Bytes(const WarmupInput& input) {
  return {input.data->data(), input.data->size()};
}

TEST(BuildWarmupSamplesTest, ZeroDataIsZero) {
  const auto samples = Build(kModel + Sample("data_type: TYPE_FP32 dims: [ 3, 2 ] zero_data: false",
                                             "batch_size: 3 count: 2"));
  ASSERT_TRUE(samples.ok()) << samples.status().message();
  ASSERT_THAT(*samples, SizeIs(1));
  const WarmupSample& sample = (*samples)[0];
  EXPECT_EQ(sample.name, "s");
  EXPECT_EQ(sample.requests, 3u);
  EXPECT_EQ(sample.executions, 2u);
  ASSERT_THAT(sample.inputs, SizeIs(1));
  EXPECT_EQ(sample.inputs[0].shape, (tensor::Shape{1, 3, 2}));
  EXPECT_EQ(Bytes(sample.inputs[0]), std::string(24, '\0'))
      << "the value of zero_data says nothing";
}

TEST(BuildWarmupSamplesTest, WhatTakesMostOfTheMemoryIsNotMade) {
  // 4 GiB each, 4 TiB together.
  std::string inputs;
  for (int i = 0; i < 1024; ++i) {
    inputs += "inputs { key: \"IN" + std::to_string(i) +
              "\" value { data_type: TYPE_INT8 dims: [ 4294967296 ] zero_data: true } } ";
  }
  const auto built = Build(kModel + ("model_warmup { name: \"s\" batch_size: 1 " + inputs + "}"));
  EXPECT_EQ(built.status().code(), base::StatusCode::kUnavailable);
  EXPECT_THAT(built.status().message(), HasSubstr("out of memory: the inputs of model_warmup"));
}

TEST(BuildWarmupSamplesTest, CountZeroIsOnceAndBatchSizeZeroIsNone) {
  const std::string zero = "data_type: TYPE_FP32 dims: [ 3, 2 ] zero_data: true";
  EXPECT_EQ((*Build(kModel + Sample(zero)))[0].executions, 1u);
  EXPECT_THAT(*Build(kModel + Sample(zero, "count: 5")), SizeIs(0));
}

TEST(BuildWarmupSamplesTest, ModelsWithoutBatchingHaveNoBatchDimension) {
  const auto samples = Build(R"(name: "m" backend: "b"
      input { name: "IN" data_type: TYPE_FP32 dims: [ 2 ] })" +
                             Sample("data_type: TYPE_FP32 dims: [ 2 ] zero_data: true"));
  EXPECT_EQ((*samples)[0].inputs[0].shape, (tensor::Shape{2}));
}

TEST(BuildWarmupSamplesTest, RandomDataIsTheSameAtEveryLoad) {
  const std::string text = kModel + Sample("data_type: TYPE_FP32 dims: [ 9, 2 ] random_data: true");
  const auto first = Build(text), second = Build(text);
  EXPECT_EQ(Bytes((*first)[0].inputs[0]), Bytes((*second)[0].inputs[0]));
  EXPECT_NE(Bytes((*first)[0].inputs[0]), std::string(72, '\0'));
}

/// The bytes of a random input of this type with 64 elements.
std::string RandomBytes(const std::string& type) {
  const auto samples =
      Build(kModel + Sample("data_type: " + type + " dims: [ 32, 2 ] random_data: true"));
  return std::string(Bytes((*samples)[0].inputs[0]));
}

TEST(BuildWarmupSamplesTest, RandomNumbersAreNumbers) {
  float values[64];
  const std::string floats = RandomBytes("TYPE_FP32");
  ASSERT_EQ(floats.size(), sizeof(values));
  std::memcpy(values, floats.data(), sizeof(values));
  for (const float value : values) EXPECT_TRUE(value >= 0 && value < 1) << value;
  for (const char byte : RandomBytes("TYPE_BOOL")) EXPECT_TRUE(byte == 0 || byte == 1);
  const std::string halves = RandomBytes("TYPE_FP16"), brains = RandomBytes("TYPE_BF16");
  for (size_t i = 0; i < 64; ++i) {
    uint16_t half = 0, brain = 0;
    std::memcpy(&half, halves.data() + 2 * i, 2);
    std::memcpy(&brain, brains.data() + 2 * i, 2);
    EXPECT_LT(half >> 10, 15) << "sign 0 and an exponent below 1";
    EXPECT_LT(brain, 0x3F80) << "below 1";
  }
  EXPECT_EQ(RandomBytes("TYPE_INT64").size(), 512u);
}

TEST(BuildWarmupSamplesTest, RandomStringsAreEmptyOnes) {
  EXPECT_EQ(RandomBytes("TYPE_STRING"), std::string(256, '\0'));
}

TEST(BuildWarmupSamplesTest, FilesGiveTheirFirstBytes) {
  const auto samples =
      Build(kModel + Sample("data_type: TYPE_INT8 dims: [ 2, 2 ] input_data_file: \"f\""),
            [](const std::string& name) -> base::Result<std::string> { return name + "abcdef"; });
  EXPECT_EQ(Bytes((*samples)[0].inputs[0]), "fabc");
}

TEST(BuildWarmupSamplesTest, AStringFileIsTakenWhole) {
  const auto samples =
      Build(kModel + Sample("data_type: TYPE_STRING dims: [ 2, 2 ] input_data_file: \"f\""),
            [](const std::string&) -> base::Result<std::string> { return std::string("short"); });
  EXPECT_EQ(Bytes((*samples)[0].inputs[0]), "short");
}

TEST(BuildWarmupSamplesTest, WhatCannotBeBuiltSaysWhy) {
  EXPECT_EQ(Failure(Sample("data_type: TYPE_FP32 dims: [ -1, 2 ] zero_data: true")),
            "warmup setting expects all variable-size dimensions are specified for input 'IN'");
  EXPECT_EQ(Failure(Sample("data_type: TYPE_FP32 dims: [ 1, 2 ]")),
            "[request id: <id_unknown>] warmup setting expects input 'IN' to have input_data_type "
            "set");
  EXPECT_EQ(Failure(Sample("data_type: TYPE_FP32 dims: [ 1, 2 ] input_data_file: \"f\"")),
            "no file f");
  EXPECT_EQ(Failure(Sample("data_type: TYPE_FP32 dims: [ 1, 2 ] input_data_file: \"f\""),
                    [](const std::string&) -> base::Result<std::string> {
                      return std::string("1234567");
                    }),
            "[request id: <id_unknown>] warmup setting expects 8 bytes, but the data provided from "
            "f only has 7 bytes");
}

TEST(BuildWarmupSamplesTest, SizesAreBounded) {
  const std::string huge = std::to_string(int64_t{1} << 62);
  for (const std::string& dims : {huge, huge + ", " + huge, std::string("1073741824, 2")}) {
    EXPECT_THAT(Failure(Sample("data_type: TYPE_FP64 dims: [ " + dims + " ] zero_data: true")),
                HasSubstr("more than the 4294967296 bytes"))
        << dims;
  }
  EXPECT_THAT(Failure(Sample("data_type: TYPE_FP32 dims: [ 1, 2 ] zero_data: true",
                             "batch_size: 4000000000")),
              HasSubstr("batch_size 4000000000, more than the 65536 allowed"));
}

class ReadWarmupDirectoryTest : public ::testing::Test {
 protected:
  void SetUp() override {
    directory_ = base::TemporaryDirectory::Create().value();
    std::filesystem::create_directories(directory_->path() + "/warmup/deep");
    std::ofstream(directory_->path() + "/warmup/deep/f") << "data";
    std::ofstream(directory_->path() + "/secret") << "secret";
  }
  base::Result<std::string> Read(const std::string& name) {
    return ReadWarmupDirectory(directory_->path(), name);
  }
  std::unique_ptr<base::TemporaryDirectory> directory_;
};

TEST_F(ReadWarmupDirectoryTest, ReadsBelowTheDirectoryOnly) {
  EXPECT_EQ(*Read("deep/f"), "data");
  EXPECT_EQ(*Read("deep/../deep/f"), "data");
  EXPECT_EQ(Read("../secret").status().code(), base::StatusCode::kUnsupported);
  std::filesystem::create_symlink("../secret", directory_->path() + "/warmup/link");
  EXPECT_EQ(Read("link").status().code(), base::StatusCode::kUnsupported);
  EXPECT_EQ(Read("absent").status().code(), base::StatusCode::kInternal);
  EXPECT_THAT(Read("absent").status().message(), HasSubstr("failed to open text file for read"));
  EXPECT_FALSE(Read("deep").ok());
  EXPECT_FALSE(Read("").ok());
}

class MakeWarmupRequestsTest : public ::testing::Test {
 protected:
  void TearDown() override { sink_->Clear(); }
  base::Result<std::vector<schedule::RequestPtr>> Make(const std::string& text) {
    const auto model = request::MakeModel(text);
    const auto samples = BuildWarmupSamples(*model->config, NoFile);
    EXPECT_TRUE(samples.ok()) << samples.status().message();
    auto requests = MakeWarmupRequests((*samples)[0], model, sink_, 42);
    if (requests.ok()) {
      for (const auto& request : *requests) request->response_factory()->Disarm();
    }
    return requests;
  }
  std::shared_ptr<request::RecordingSink> sink_ = std::make_shared<request::RecordingSink>();
};

TEST_F(MakeWarmupRequestsTest, EachIsABatchOfOneWithTheSameData) {
  const auto requests =
      Make(kModel + Sample("data_type: TYPE_FP32 dims: [ 3, 2 ] zero_data: true", "batch_size: 3"));
  ASSERT_TRUE(requests.ok()) << requests.status().message();
  ASSERT_THAT(*requests, SizeIs(3));
  const auto& first = *(*requests)[0];
  EXPECT_EQ(first.batch_size, 1u);
  EXPECT_EQ(first.times.start_ns, 42u);
  EXPECT_EQ(first.requested_outputs, std::vector<std::string>{"OUT"});
  EXPECT_EQ(first.inputs().Find("IN")->pieces[0].data,
            (*requests)[2]->inputs().Find("IN")->pieces[0].data);
}

TEST_F(MakeWarmupRequestsTest, UnknownInputsAreControlTensors) {
  const auto requests = Make(std::string(kModel) + R"(model_warmup { batch_size: 1
      inputs { key: "IN" value { data_type: TYPE_FP32 dims: [ 1, 2 ] zero_data: true } }
      inputs { key: "START" value { data_type: TYPE_INT32 dims: [ 1 ] zero_data: true } } })");
  ASSERT_TRUE(requests.ok()) << requests.status().message();
  const request::Input* control = (*requests)[0]->inputs().Find("START");
  ASSERT_NE(control, nullptr);
  EXPECT_EQ(control->model_shape, (tensor::Shape{1, 1}));
  EXPECT_EQ(control->ByteSize(), 4u);
}

TEST_F(MakeWarmupRequestsTest, AddsTheControlsAndStatesThatASampleDoesNotName) {
  const auto model = request::MakeModel(R"(
    name: "m" max_batch_size: 4
    input { name: "x" data_type: TYPE_INT32 dims: [ 1 ] }
    sequence_batching {
      control_input { name: "START" control { kind: CONTROL_SEQUENCE_START int32_false_true: [ 0, 1 ] } }
      control_input { name: "READY" control { kind: CONTROL_SEQUENCE_READY int32_false_true: [ 0, 1 ] } }
      state { input_name: "s" output_name: "t" data_type: TYPE_INT32 dims: [ -1, 2 ] } }
    model_warmup { name: "w" batch_size: 1
      inputs { key: "x" value { data_type: TYPE_INT32 dims: [ 1 ] zero_data: true } }
      inputs { key: "READY" value { data_type: TYPE_INT32 dims: [ 1 ] zero_data: true } } })");
  const auto sequence = request::SequenceInputs::Create(model->config, "/none").value();
  const auto samples = BuildWarmupSamples(*model->config, NoFile).value();
  auto requests = MakeWarmupRequests(samples[0], model, sink_, 42, sequence.get()).value();
  ASSERT_EQ(requests.size(), 1u);
  request::InferenceRequest& request = *requests[0];
  const auto value = [&](const char* name) {
    int32_t number = -1;
    std::memcpy(&number, request.inputs().Find(name)->pieces.at(0).data, sizeof(number));
    return number;
  };
  EXPECT_EQ(request.inputs().size(), 4u);
  EXPECT_EQ(value("START"), 1);
  EXPECT_EQ(value("READY"), 0) << "as the sample says";
  EXPECT_EQ(request.inputs().Find("s")->shape, (tensor::Shape{1, 1, 2}));
  EXPECT_NE(request.states, nullptr) << "a backend can write them";
  request.response_factory()->Disarm();
}

TEST_F(MakeWarmupRequestsTest, ReshapesAndOptionalInputsAreAsForClients) {
  const auto requests = Make(R"(name: "m" backend: "b" max_batch_size: 2
      input { name: "IN" data_type: TYPE_FP32 dims: [ 4 ] reshape { shape: [ 2, 2 ] }
              allow_ragged_batch: true }
      input { name: "MAYBE" data_type: TYPE_FP32 dims: [ 1 ] optional: true })" +
                             Sample("data_type: TYPE_FP32 dims: [ 4 ] zero_data: true"));
  ASSERT_TRUE(requests.ok()) << requests.status().message();
  EXPECT_EQ((*requests)[0]->inputs().size(), 1u);
  EXPECT_EQ((*requests)[0]->inputs()[0].model_shape, (tensor::Shape{1, 2, 2}));
}

TEST_F(MakeWarmupRequestsTest, WhatAClientMayNotSendAWarmupMayNotEither) {
  EXPECT_THAT(Make(kModel + Sample("data_type: TYPE_INT32 dims: [ 1, 2 ] zero_data: true"))
                  .status()
                  .message(),
              HasSubstr("inference input 'IN' data-type is 'INT32', but model 'm' expects 'FP32'"));
  EXPECT_THAT(Make(kModel + Sample("data_type: TYPE_FP32 dims: [ 1, 3 ] zero_data: true"))
                  .status()
                  .message(),
              HasSubstr("unexpected shape for input 'IN'"));
  EXPECT_THAT(Make(std::string(kModel) + "model_warmup { batch_size: 2 }").status().message(),
              HasSubstr("expected 1 inputs but got 0 inputs"));
}

/// An instance that answers as told, each request on its own.
class FakeInstance : public schedule::BatchRunner {
 public:
  void Run(schedule::Batch batch) noexcept override {
    sizes.push_back(batch.requests.size());
    for (auto& request : batch.requests) {
      const auto factory = request->response_factory();
      if (error.ok()) {
        factory->Send(std::make_unique<request::InferenceResponse>(factory), true);
      } else {
        factory->SendError(error);
      }
    }
  }
  std::vector<size_t> sizes;
  base::Status error;
};

base::Status RunAll(const std::string& text, FakeInstance& instance) {
  const auto model = request::MakeModel(text);
  const auto samples = BuildWarmupSamples(*model->config, NoFile);
  return RunWarmup(*samples, model, base::FakeClock(), instance);
}

const std::string& ThreeSamples() {
  static const std::string kZero = "data_type: TYPE_FP32 dims: [ 1, 2 ] zero_data: true";
  static const std::string kText = kModel + Sample(kZero, "batch_size: 3 count: 2") +
                                   Sample(kZero) + Sample(kZero, "batch_size: 0");
  return kText;
}

TEST(RunWarmupTest, ASampleIsOneExecutionPerCount) {
  FakeInstance instance;
  ASSERT_TRUE(RunAll(ThreeSamples(), instance).ok());
  EXPECT_EQ(instance.sizes, (std::vector<size_t>{3, 3, 1}));
}

TEST(RunWarmupTest, TheFirstFailureEndsItAndNamesEveryRequest) {
  FakeInstance instance;
  instance.error = base::Status::Internal("too cold");
  const base::Status status = RunAll(ThreeSamples(), instance);
  EXPECT_EQ(status.code(), base::StatusCode::kInvalidArgument);
  EXPECT_EQ(status.message(), "failed to run warmup sample 's': too cold; too cold; too cold; ");
  EXPECT_EQ(instance.sizes, std::vector<size_t>{3});
}

}  // namespace
}  // namespace nereid::model
