// SPDX-License-Identifier: Apache-2.0
#include "frontend/grpc/tensor_receiver.h"

#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "frontend/grpc/infer_submission.h"
#include "frontend/grpc/message_reader.h"
#include "frontend/grpc/testing/test_client.h"
#include "grpc_service.pb.h"

namespace nereid::frontend::grpc {
namespace {

using testing::Frame;

/// Provides bytes of 'm' and prepares all of them.
class Lender final : public memory::BufferLender {
 public:
  explicit Lender(size_t size) : bytes(size, 'm') {}
  size_t Prepare(size_t begin, size_t end) noexcept override { return end - begin; }
  std::string bytes;
};

class TensorReceiverTest : public ::testing::Test {
 protected:
  TensorReceiverTest() {
    source_ = [this](const std::string& model, int64_t version, size_t size) {
      model_ = model;
      version_ = version;
      size_ = size;
      auto lender = std::make_unique<Lender>(size);
      char* const data = lender->bytes.data();
      return memory::HostBuffer::Borrow(data, size, std::move(lender));
    };
  }

  static inference::ModelInferRequest Request(const std::vector<size_t>& sizes) {
    inference::ModelInferRequest request;
    request.set_model_name("model");
    for (const size_t size : sizes) {
      request.add_inputs()->set_datatype("FP32");
      std::string contents(size, 'x');
      for (size_t i = 0; i < size; ++i) contents[i] = static_cast<char>(i * 31);
      request.add_raw_input_contents(contents);
    }
    return request;
  }

  /// Reads one message that arrives in pieces of `step` bytes, the first one of `first` bytes.
  StoredBytes Read(const std::string& message, size_t step, size_t first = 20'000) {
    MessageReader reader(size_t{64} << 20, Encoding::kIdentity, budget_);
    reader.ReceiveTensorsIn(source_);
    const std::string bytes = Frame(message);
    size_t next = first;
    for (size_t at = 0; at < bytes.size(); at += next, next = step) {
      std::string_view data = std::string_view(bytes).substr(at, at == 0 ? first : step);
      if (at != 0) next = step;
      const auto event = reader.Read(&data);
      if (event == MessageReader::Event::kMessage) return reader.TakeMessage();
      EXPECT_EQ(event, MessageReader::Event::kNeedMore);
      EXPECT_LT(reader.filled(), message.size());
    }
    return {};
  }

  /// Returns what the server sees of a message.
  static std::vector<std::string> Contents(const StoredBytes& message) {
    codec::proto::InferRequestView view;
    EXPECT_TRUE(ParseRequest(message, &view).ok());
    EXPECT_EQ(view.model_name, "model");
    return {view.raw_input_contents.begin(), view.raw_input_contents.end()};
  }

  static std::vector<std::string> Expected(const inference::ModelInferRequest& request) {
    return {request.raw_input_contents().begin(), request.raw_input_contents().end()};
  }

  std::shared_ptr<base::ByteBudget> budget_ =
      std::make_shared<base::ByteBudget>(size_t{64} << 20, std::chrono::milliseconds(0));
  api::InputMemorySource source_;
  std::string model_;
  int64_t version_ = 0;
  size_t size_ = 0;
};

TEST_F(TensorReceiverTest, ATensorIsReceivedInMemoryOfItsSize) {
  const auto request = Request({1 << 20});
  for (const size_t step : {1 << 14, 65'537, 1 << 20}) {
    const StoredBytes message = Read(request.SerializeAsString(), step);
    EXPECT_EQ(model_, "model");
    EXPECT_EQ(version_, -1);
    EXPECT_EQ(size_, size_t{1} << 20);
    EXPECT_TRUE(message.tensor_storage.is_borrowed());
    EXPECT_LT(message.bytes.size(), 100u);
    EXPECT_EQ(message.wire_size, request.ByteSizeLong());
    EXPECT_EQ(Contents(message), Expected(request));
  }
  EXPECT_FALSE(budget_->IsHalfSpent());
}

TEST_F(TensorReceiverTest, SeveralTensorsAreAligned) {
  const auto request = Request({100'001, 0, 70'003, 5});
  const StoredBytes message = Read(request.SerializeAsString(), 999);
  ASSERT_EQ(message.tensors.size(), 4u);
  for (const std::string_view tensor : message.tensors) {
    EXPECT_EQ((tensor.data() - message.tensor_storage.data()) % 64, 0);
  }
  EXPECT_EQ(Contents(message), Expected(request));
}

TEST_F(TensorReceiverTest, ManyTensorsFitWithoutAlignment) {
  const auto request = Request(std::vector<size_t>(300, 1001));
  // The fields in front of the tensors are long.
  const StoredBytes message = Read(request.SerializeAsString(), 5000);
  EXPECT_TRUE(message.tensor_storage.is_borrowed() || message.tensors.empty());
  EXPECT_EQ(Contents(message), Expected(request));
}

TEST_F(TensorReceiverTest, FieldsBehindTheTensorsCount) {
  auto request = Request({100'000});
  inference::ModelInferRequest behind;
  behind.set_id("id");
  behind.add_raw_input_contents("more");
  const StoredBytes message =
      Read(request.SerializeAsString() + behind.SerializeAsString(), 70'000);
  codec::proto::InferRequestView view;
  ASSERT_TRUE(ParseRequest(message, &view).ok());
  EXPECT_EQ(view.id, "id");
  ASSERT_EQ(view.raw_input_contents.size(), 2u);
  EXPECT_EQ(view.raw_input_contents[0], request.raw_input_contents(0));
  EXPECT_EQ(view.raw_input_contents[1], "more");
}

TEST_F(TensorReceiverTest, DamagedMessagesFailToParse) {
  std::string message = Request({100'000}).SerializeAsString() + "\x3a\x7f";
  codec::proto::InferRequestView view;
  EXPECT_FALSE(ParseRequest(Read(message, 1000), &view).ok());
  // A tensor that is longer than the message.
  message = Request({100'000}).SerializeAsString();
  message.pop_back();
  EXPECT_FALSE(ParseRequest(Read(message, 1000), &view).ok());
}

TEST_F(TensorReceiverTest, OtherMessagesAreReceivedInOnePiece) {
  const auto small = Request({1000});
  EXPECT_FALSE(Read(small.SerializeAsString(), 5000).tensor_storage);
  const auto large = Request({100'000});
  // The first bytes do not say where the tensors begin.
  const StoredBytes late = Read(large.SerializeAsString(), 5000, 8);
  EXPECT_FALSE(late.tensor_storage);
  EXPECT_EQ(Contents(late), Expected(large));
  auto version = large;
  version.set_model_version("stable");
  EXPECT_FALSE(Read(version.SerializeAsString(), 5000).tensor_storage);
  source_ = [](const std::string&, int64_t, size_t) { return memory::HostBuffer(); };
  const StoredBytes refused = Read(large.SerializeAsString(), 5000);
  EXPECT_FALSE(refused.tensor_storage);
  EXPECT_EQ(Contents(refused), Expected(large));
}

}  // namespace
}  // namespace nereid::frontend::grpc
