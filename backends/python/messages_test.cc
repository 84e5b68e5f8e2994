// SPDX-License-Identifier: Apache-2.0
#include "python/messages.h"

#include <gmock/gmock.h>

namespace nereid::python {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

/// A result with one tensor, as a worker writes it.
std::vector<char> Results() {
  std::vector<char> bytes;
  WireWriter out(&bytes);
  out.Number(uint32_t{0});  // execute() has not failed
  out.Number(uint32_t{3});
  out.Number(static_cast<uint32_t>(ResultKind::kResponse));
  out.Text(R"({"a":1})");
  out.Number(uint32_t{1});
  WireTensor tensor;
  tensor.data_type = 11;
  tensor.name = "OUT";
  tensor.shape = {2, 1};
  tensor.offset = 0;
  tensor.size = 4;
  WriteTensor(&out, tensor);
  out.Number(static_cast<uint32_t>(ResultKind::kError));
  out.Number(uint32_t{2});
  out.Text("not there");
  out.Number(static_cast<uint32_t>(ResultKind::kReschedule));
  out.Raw("data");
  return bytes;
}

TEST(Messages, ResultsAreRead) {
  const std::vector<char> bytes = Results();
  WireResults results;
  ASSERT_EQ(ReadResults(bytes, &results), std::nullopt);
  ASSERT_EQ(results.results.size(), 3U);
  EXPECT_FALSE(results.failed);
  const WireResult& response = results.results[0];
  EXPECT_EQ(response.parameters, R"({"a":1})");
  ASSERT_EQ(response.outputs.size(), 1U);
  EXPECT_EQ(response.outputs[0].name, "OUT");
  EXPECT_THAT(response.outputs[0].shape, ElementsAre(2, 1));
  Bytes content;
  ASSERT_TRUE(FindInline(response.outputs[0], results.data, &content));
  EXPECT_EQ(std::string(content.data(), content.size()), "data");
  EXPECT_EQ(results.results[1].kind, ResultKind::kError);
  EXPECT_EQ(results.results[1].text, "not there");
  EXPECT_EQ(results.results[2].kind, ResultKind::kReschedule);
}

TEST(Messages, EveryTruncationOfResultsIsRefused) {
  const std::vector<char> bytes = Results();
  const size_t data = 4;  // the end of the message is data, which may be of any size
  for (size_t size = 0; size < bytes.size() - data; ++size) {
    WireResults results;
    EXPECT_NE(ReadResults(Bytes(bytes).first(size), &results), std::nullopt) << size;
  }
}

TEST(Messages, ACountBeyondTheMessageAllocatesNothing) {
  std::vector<char> bytes;
  WireWriter out(&bytes);
  out.Number(uint32_t{0});
  out.Number(UINT32_MAX);
  WireResults results;
  const auto malformed = ReadResults(bytes, &results);
  ASSERT_NE(malformed, std::nullopt);
  EXPECT_THAT(*malformed, HasSubstr("the results of a batch"));
  EXPECT_TRUE(results.results.empty());
}

TEST(Messages, ATensorOutsideOfTheDataIsNotFound) {
  WireTensor tensor;
  tensor.offset = UINT64_MAX;
  tensor.size = 2;
  const std::vector<char> data(8);
  Bytes content;
  EXPECT_FALSE(FindInline(tensor, data, &content));
  tensor.offset = 7;
  EXPECT_FALSE(FindInline(tensor, data, &content));
  tensor.offset = 6;
  EXPECT_TRUE(FindInline(tensor, data, &content));
}

TEST(Messages, TheHeaderHasTheReleasedSegments) {
  std::vector<char> bytes;
  WireWriter out(&bytes);
  WriteHeader(&out, MessageType::kResults, 7, {3, 5});
  out.Raw("rest");
  MessageHeader header;
  Bytes body;
  ASSERT_EQ(ReadHeader(bytes, &header, &body), std::nullopt);
  EXPECT_EQ(header.type, MessageType::kResults);
  EXPECT_EQ(header.id, 7U);
  EXPECT_THAT(header.released, ElementsAre(3, 5));
  EXPECT_EQ(std::string(body.data(), body.size()), "rest");
  EXPECT_NE(ReadHeader(Bytes(bytes).first(20), &header, &body), std::nullopt);
}

TEST(Messages, ARequestToAnotherModelIsRead) {
  std::vector<char> bytes;
  WireWriter out(&bytes);
  out.Number(int64_t{-1});
  out.Number(uint64_t{7});
  out.Number(uint64_t{5'000'000});
  out.Number(uint64_t{0});
  out.Number(uint32_t{1});
  out.Number(uint8_t{0});
  out.Number(uint8_t{1});
  out.Number(uint16_t{0});
  for (const char* text : {"model", "id", "", "{}"}) {
    out.Text(text);
  }
  out.Number(uint32_t{2});
  out.Text("A");
  out.Text("B");
  out.Number(uint32_t{0});
  WireInfer infer;
  ASSERT_EQ(ReadInfer(bytes, &infer), std::nullopt);
  EXPECT_EQ(infer.model, "model");
  EXPECT_EQ(infer.timeout_us, 5'000'000U);
  EXPECT_TRUE(infer.decoupled);
  EXPECT_THAT(infer.outputs, ElementsAre("A", "B"));
  for (size_t size = 0; size < bytes.size(); ++size) {
    EXPECT_NE(ReadInfer(Bytes(bytes).first(size), &infer), std::nullopt) << size;
  }
}

}  // namespace
}  // namespace nereid::python
