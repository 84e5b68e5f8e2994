// SPDX-License-Identifier: Apache-2.0
#include "cache/response_blob.h"

#include <gtest/gtest.h>

#include <random>

#include "request/discarding_sink.h"
#include "request/response_factory.h"
#include "request/testing/make_model.h"

namespace nereid::cache {
namespace {

using request::InferenceResponse;
using tensor::DataType;

Digest SomeDigest() {
  Digest digest;
  for (size_t i = 0; i < digest.size(); ++i) digest[i] = static_cast<unsigned char>(i);
  return digest;
}

class ResponseBlobTest : public ::testing::Test {
 protected:
  std::unique_ptr<InferenceResponse> NewResponse() {
    auto model = request::MakeModel(R"(name: "m" backend: "b")");
    auto factory = std::make_shared<request::ResponseFactory>(
        std::make_shared<request::DiscardingSink>(), model, "id",
        std::make_shared<request::Cancellation>());
    return factory->NewResponse().value();
  }
  static request::Output* Add(InferenceResponse& response, const std::string& name, DataType type,
                              tensor::Shape shape, const std::string& bytes) {
    auto memory = memory::MemoryType::kCpu;
    int64_t id = 0;
    request::Output* output = response.AddOutput(name, type, std::move(shape)).value();
    EXPECT_TRUE(response.AllocateOutput(output, bytes.size(), &memory, &id).ok());
    if (!bytes.empty()) bytes.copy(output->data, bytes.size());
    return output;
  }
  /// Outputs of several kinds, and all kinds of parameters.
  std::unique_ptr<InferenceResponse> FullResponse() {
    auto response = NewResponse();
    Add(*response, "A", DataType::kInt16, {1, 3}, "aAbBcC");
    Add(*response, "empty", DataType::kFp32, {0, 4}, "");
    Add(*response, "text", DataType::kBytes, {2}, std::string("\x01\0\0\0x\0\0\0\0", 9));
    Add(*response, "scalar", DataType::kInt8, {}, "!");
    response->parameters() = {
        {"s", std::string("v")}, {"i", int64_t{-2}}, {"t", true}, {"f", false}, {"d", 0.25},
        {"", std::string()}};
    return response;
  }
  static std::string Encode(const InferenceResponse& response) {
    std::string blob(EncodedSize(response).value(), '?');
    EncodeResponse(response, SomeDigest(), {blob.data(), blob.size()});
    return blob;
  }
};

TEST_F(ResponseBlobTest, RoundTrip) {
  const auto response = FullResponse();
  const std::string blob = Encode(*response);
  const auto stored = DecodeResponse(blob, SomeDigest());
  ASSERT_TRUE(stored);
  ASSERT_EQ(stored->outputs.size(), 4u);
  for (size_t i = 0; i < 4; ++i) {
    const request::Output& output = *response->outputs()[i];
    EXPECT_EQ(stored->outputs[i].name, output.name);
    EXPECT_EQ(stored->outputs[i].type, output.type);
    EXPECT_EQ(stored->outputs[i].shape, output.shape);
    EXPECT_EQ(stored->outputs[i].data, std::string_view(output.data, output.size));
  }
  ASSERT_EQ(stored->parameters.size(), response->parameters().size());
  for (size_t i = 0; i < stored->parameters.size(); ++i) {
    EXPECT_EQ(stored->parameters[i].name, response->parameters()[i].name);
    EXPECT_EQ(stored->parameters[i].value, response->parameters()[i].value);
  }
}

TEST_F(ResponseBlobTest, TheBytesArePinned) {
  auto response = NewResponse();
  Add(*response, "O", DataType::kUint16, {2}, "abcd");
  response->parameters() = {{"p", int64_t{0x0102}}};
  std::string expected = "NRDRESP\x01";
  for (int i = 0; i < 32; ++i) expected += static_cast<char>(i);
  const auto add = [&](std::initializer_list<int> bytes) {
    for (const int byte : bytes) expected += static_cast<char>(byte);
  };
  add({1, 0, 0, 0, 1, 0, 0, 0});
  add({1, 0, 0, 0, 'O', 3, 1, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0, 4, 0, 0, 0, 0, 0, 0, 0});
  add({1, 0, 0, 0, 'p', 1, 2, 1, 0, 0, 0, 0, 0, 0});
  expected += "abcd";
  EXPECT_EQ(Encode(*response), expected);
}

TEST_F(ResponseBlobTest, SomeResponsesAreNotStored) {
  auto failed = FullResponse();
  failed->SetError(base::Status::Internal("x"));
  EXPECT_FALSE(EncodedSize(*failed));
  auto device = FullResponse();
  device->outputs()[0]->memory_type = memory::MemoryType::kGpu;
  EXPECT_FALSE(EncodedSize(*device));
  auto unallocated = NewResponse();
  ASSERT_TRUE(unallocated->AddOutput("A", DataType::kInt8, {0}).ok());
  EXPECT_FALSE(EncodedSize(*unallocated));
  auto contradicting = NewResponse();
  Add(*contradicting, "A", DataType::kInt32, {2}, "1234");
  EXPECT_FALSE(EncodedSize(*contradicting));
  auto bad_text = NewResponse();
  Add(*bad_text, "A", DataType::kBytes, {1}, "abc");
  EXPECT_FALSE(EncodedSize(*bad_text));
}

TEST_F(ResponseBlobTest, BlobsOfOtherRequestsAreRefused) {
  const std::string blob = Encode(*FullResponse());
  Digest other = SomeDigest();
  other[7] ^= 1;
  EXPECT_FALSE(DecodeResponse(blob, other));
  std::string future = blob;
  future[7] = 2;
  EXPECT_FALSE(DecodeResponse(future, SomeDigest()));
  EXPECT_FALSE(DecodeResponse("", SomeDigest()));
}

TEST_F(ResponseBlobTest, EveryTruncationAndEveryAdditionIsNoticed) {
  const std::string blob = Encode(*FullResponse());
  for (size_t size = 0; size < blob.size(); ++size) {
    // A separate allocation, so that a sanitizer detects a read past the end.
    const std::string cut(blob, 0, size);
    EXPECT_FALSE(DecodeResponse(cut, SomeDigest())) << size;
  }
  EXPECT_FALSE(DecodeResponse(blob + '\0', SomeDigest()));
}

TEST_F(ResponseBlobTest, HugeCountsTakeNoMemory) {
  const std::string blob = Encode(*FullResponse());
  for (size_t at = 40; at + 4 <= blob.size(); ++at) {
    std::string huge = blob;
    huge.replace(at, 4, "\xff\xff\xff\xff");
    if (const auto stored = DecodeResponse(huge, SomeDigest())) {
      EXPECT_LE(stored->outputs.size(), 4u);  // the four bytes may be valid data
    }
  }
}

TEST_F(ResponseBlobTest, GarbageIsAMissOrAConsistentResponse) {
  const std::string blob = Encode(*FullResponse());
  std::mt19937 random(4);
  size_t read = 0;
  for (int i = 0; i < 50000; ++i) {
    std::string changed = blob;
    for (size_t n = 1 + random() % 4; n > 0; --n) {
      const size_t at = 40 + random() % (changed.size() - 40);
      switch (random() % 3) {
        case 0:
          changed[at] = static_cast<char>(random());
          break;
        case 1:
          changed.erase(at, 1 + random() % 8);
          break;
        default:
          changed.insert(at, 1 + random() % 8, static_cast<char>(random()));
      }
      if (changed.size() <= 48) break;
    }
    const auto stored = DecodeResponse(changed, SomeDigest());
    if (!stored) continue;
    ++read;
    for (const StoredOutput& output : stored->outputs) {
      EXPECT_GE(output.data.data(), changed.data());
      EXPECT_LE(output.data.data() + output.data.size(), changed.data() + changed.size());
      if (output.type == DataType::kBytes) continue;
      EXPECT_EQ(tensor::ByteSize(output.type, output.shape), output.data.size());
    }
  }
  EXPECT_GT(read, 0u);
  EXPECT_LT(read, 50000u);
}

}  // namespace
}  // namespace nereid::cache
