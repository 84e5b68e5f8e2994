// SPDX-License-Identifier: Apache-2.0
// The parts of the load generator that could cause wrong figures.
#include <gtest/gtest.h>
#include <unistd.h>

#include "load/connection.h"
#include "load/histogram.h"
#include "payload.h"
#include "process_cpu.h"

namespace nereid::bench {
namespace {

using load::Caller;
using load::Histogram;

TEST(Histogram, QuantilesAreWithinABucketOfTheTruth) {
  Histogram histogram;
  for (uint64_t us = 1; us <= 1000; ++us) histogram.Add(us * 1000);
  EXPECT_NEAR(static_cast<double>(histogram.Quantile(0.5)), 500e3, 500e3 / 50);
  EXPECT_NEAR(static_cast<double>(histogram.Quantile(0.99)), 990e3, 990e3 / 50);
  EXPECT_NEAR(static_cast<double>(histogram.Quantile(1)), 1000e3, 1000e3 / 50);
}

TEST(Histogram, SmallAndHugeValuesHaveABucket) {
  Histogram histogram;
  EXPECT_EQ(histogram.Quantile(0.5), 0u);
  histogram.Add(7);
  EXPECT_EQ(histogram.Quantile(0.5), 7u);
  histogram.Add(UINT64_MAX);
  EXPECT_EQ(histogram.Quantile(0.4), 7u);
}

TEST(Payload, AJsonRequestHoldsTheNumbersOfTheTensor) {
  Options options;
  options.encoding = Encoding::kJson;
  options.shape = {2, 3};
  for (const char* type : {"FP32", "FP64", "INT32", "INT64", "UINT8"}) {
    options.datatype = type;
    const std::string tensor = MakeTensor(options);
    ASSERT_FALSE(tensor.empty()) << type;
    const std::string request = MakeHttpRequest(options, tensor);
    EXPECT_NE(request.find(R"("shape":[2,3])"), request.npos);
    EXPECT_EQ(OutputOfJsonBody(request, type), tensor) << type;
  }
  options.datatype = "BYTES";
  EXPECT_EQ(MakeTensor(options), "");
}

TEST(Payload, ABinaryRequestEndsWithTheTensor) {
  const Options options;
  const std::string tensor = MakeTensor(options);
  EXPECT_EQ(tensor.size(), 64u);
  const std::string request = MakeHttpRequest(options, tensor);
  const size_t body = request.find("\r\n\r\n") + 4;
  EXPECT_NE(request.find("Content-Length: " + std::to_string(request.size() - body) + "\r\n"),
            request.npos);
  EXPECT_EQ(OutputOfBinaryBody(request, request.size() - tensor.size()), tensor);
  EXPECT_EQ(OutputOfBinaryBody("short", 6), std::nullopt);
}

TEST(Payload, RequestsOfASequenceSayWhichTheyAre) {
  Options options;
  const std::string tensor = MakeTensor(options);
  const std::string start = MakeHttpRequest(options, tensor, {7, true, false});
  EXPECT_NE(start.find(R"("sequence_id":7,"sequence_start":true,"sequence_end":false}})"),
            start.npos);
  options.encoding = Encoding::kJson;
  EXPECT_NE(
      MakeHttpRequest(options, tensor, {7, false, true})
          .find(R"(,"parameters":{"sequence_id":7,"sequence_start":false,"sequence_end":true}})"),
      std::string::npos);
  EXPECT_EQ(MakeHttpRequest(options, tensor).find("sequence"), std::string::npos);
  const std::string message = MakeGrpcMessage(options, tensor, {300, false, true});
  EXPECT_NE(message.find(std::string("\x0a\x0bsequence_id\x12\x03\x10\xac\x02")), message.npos);
  EXPECT_NE(message.find(std::string("\x0a\x0csequence_end\x12\x02\x08\x01")), message.npos);
}

TEST(Caller, EachSequenceStartsAndEnds) {
  Options options;
  options.sequence = 3;
  const std::string tensor = MakeTensor(options);
  load::Run run;
  run.sequence = options.sequence;
  run.make_request = [&](Turn turn) { return MakeRequest(options, tensor, turn); };
  Caller one(run);
  Caller other(run);
  std::string flags;
  for (int i = 0; i < 7; ++i) {
    one.Advance();
    EXPECT_NE(one.request().find("\"sequence_id\":1,"), std::string::npos);
    const bool start = one.request().find("\"sequence_start\":true") != std::string::npos;
    const bool end = one.request().find("\"sequence_end\":true") != std::string::npos;
    flags += start ? 'S' : end ? 'E' : '-';
  }
  EXPECT_EQ(flags, "S-ES-ES");
  other.Advance();
  EXPECT_NE(other.request().find("\"sequence_id\":2,"), std::string::npos);
}

TEST(Payload, ABrokenAnswerHasNoOutput) {
  EXPECT_EQ(OutputOfJsonBody(R"({"outputs":[{"data":[1,2)", "FP32"), std::nullopt);
  EXPECT_EQ(OutputOfJsonBody(R"({"outputs":[{"data":["a"]}]})", "FP32"), std::nullopt);
  EXPECT_EQ(OutputOfJsonBody(R"({"error":"no"})", "FP32"), std::nullopt);
  EXPECT_EQ(OutputOfGrpcMessage(std::string("\0\0\0\0\2\x32\x05", 7)), std::nullopt);
  EXPECT_EQ(OutputOfGrpcMessage(std::string("\0\0\0\0\4\x32\2ab", 9)), "ab");
}

TEST(Payload, AGrpcMessageCarriesItsLength) {
  const Options options;
  const std::string message = MakeGrpcMessage(options, MakeTensor(options));
  EXPECT_EQ(static_cast<size_t>(message[4]), message.size() - 5);
}

TEST(ProcessCpu, IsThereForThisProcessAndNotForNone) {
  EXPECT_TRUE(ReadProcessCpu(getpid()).has_value());
  EXPECT_FALSE(ReadProcessCpu(-1).has_value());
}

TEST(Payload, ABodyThatIsGivenIsSentAsItIs) {
  Options options;
  options.body = "{}";
  const std::string request = MakeHttpRequest(options, "tensor");
  EXPECT_TRUE(request.ends_with("Content-Type: application/json\r\nContent-Length: 2\r\n\r\n{}"));
  EXPECT_EQ(MakeGrpcMessage(options, "tensor"), std::string("\0\0\0\0\2{}", 7));
}

}  // namespace
}  // namespace nereid::bench
