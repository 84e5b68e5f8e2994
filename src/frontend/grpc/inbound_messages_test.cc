// SPDX-License-Identifier: Apache-2.0
#include "frontend/grpc/inbound_messages.h"

#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <vector>

#include "frontend/grpc/testing/test_client.h"

namespace nereid::frontend::grpc {
namespace {

using testing::Frame;
using Strings = std::vector<std::string>;

// A call that records its messages.
class InboundMessagesTest : public ::testing::Test, public InboundMessages::Receiver {
 protected:
  void OnMessage(StoredBytes message) override {
    messages_.emplace_back(message.bytes);
    if (pauses_) inbound().Pause();
    if (messages_.size() == closes_after_) inbound().Close();
  }
  void OnHalfClose() override { half_closed_ = true; }
  void End(CallStatus status) override {
    status_ = status;
    inbound().Close();
  }
  void Detour(std::function<InboundMessages::Return()> work) override {
    inbound().Pause();
    detour_ = std::move(work);
  }

  InboundMessages& inbound() {
    if (!inbound_) inbound_.emplace(options_, encoding_, incomplete_, *this);
    return *inbound_;
  }

  GrpcOptions options_;
  Encoding encoding_ = Encoding::kIdentity;
  http2::IncompleteBytes incomplete_{SIZE_MAX};
  std::optional<InboundMessages> inbound_;
  Strings messages_;
  bool pauses_ = false;  // after each message
  size_t closes_after_ = SIZE_MAX;
  bool half_closed_ = false;
  std::optional<CallStatus> status_;
  std::function<InboundMessages::Return()> detour_;
};

TEST_F(InboundMessagesTest, CutsBytesIntoMessages) {
  const std::string bytes = Frame("one") + Frame("") + Frame("three");
  for (const char byte : bytes) inbound().Receive({&byte, 1});
  EXPECT_EQ(messages_, (Strings{"one", "", "three"}));
  EXPECT_FALSE(inbound().InMessage());
  inbound().ReceiveEnd();
  EXPECT_TRUE(half_closed_);
  EXPECT_TRUE(inbound().ended());
}

TEST_F(InboundMessagesTest, EndsInTheMiddleOfAMessage) {
  inbound().Receive(Frame("one").substr(0, 6));
  EXPECT_TRUE(inbound().InMessage());
  EXPECT_EQ(inbound().missing(), 2u);
  inbound().ReceiveEnd();
  EXPECT_FALSE(half_closed_);
  ASSERT_TRUE(status_.has_value());
  EXPECT_EQ(status_->message, "the call ended in the middle of a message");
}

TEST_F(InboundMessagesTest, StoresWhatArrivesDuringAPause) {
  pauses_ = true;
  inbound().Receive(Frame("one") + Frame("two"));
  inbound().Receive(Frame("three").substr(0, 7));
  inbound().Receive(Frame("three").substr(7));
  inbound().ReceiveEnd();
  EXPECT_EQ(messages_, Strings{"one"});
  EXPECT_TRUE(inbound().HasBacklog());
  inbound().Resume();
  inbound().Receive(Frame("four"));  // must not overtake
  EXPECT_FALSE(inbound().ReadBacklogSlice());
  EXPECT_TRUE(inbound().paused());
  EXPECT_EQ(messages_, (Strings{"one", "two"}));
  pauses_ = false;
  inbound().Resume();
  while (inbound().ReadBacklogSlice()) {
  }
  EXPECT_EQ(messages_, (Strings{"one", "two", "three", "four"}));
  EXPECT_FALSE(half_closed_);
  EXPECT_TRUE(inbound().DropBacklog());  // and the end came
  EXPECT_FALSE(inbound().HasBacklog());
}

TEST_F(InboundMessagesTest, ReadsABacklogInSlices) {
  inbound().Pause();
  std::string bytes;
  for (int i = 0; i < 1000; ++i) bytes += Frame("0123456789");
  inbound().Receive(bytes);
  inbound().Resume();
  EXPECT_TRUE(inbound().ReadBacklogSlice());
  EXPECT_GT(messages_.size(), 100u);
  EXPECT_LT(messages_.size(), 200u);
  while (inbound().ReadBacklogSlice()) {
  }
  EXPECT_EQ(messages_.size(), 1000u);
  EXPECT_FALSE(inbound().DropBacklog());
}

TEST_F(InboundMessagesTest, DropsEverythingAfterClose) {
  closes_after_ = 1;
  inbound().Receive(Frame("one") + Frame("two"));
  inbound().Receive(Frame("three"));
  inbound().ReceiveEnd();
  EXPECT_EQ(messages_, Strings{"one"});
  EXPECT_FALSE(half_closed_);
  EXPECT_FALSE(inbound().HasBacklog());
}

TEST_F(InboundMessagesTest, LargeCompressedMessagesAreDecompressedElsewhere) {
  encoding_ = Encoding::kGzip;
  const std::string small(1000, 's'), large(1 << 20, 'l');
  const auto packed = [](const std::string& text) {
    const std::string_view pieces[] = {text};
    std::string compressed;
    EXPECT_TRUE(Compress(pieces, Encoding::kGzip, 1, &compressed).ok());
    return Frame(compressed, true);
  };
  inbound().Receive(packed(small));
  EXPECT_EQ(messages_, Strings{small});
  EXPECT_EQ(detour_, nullptr);
  inbound().Receive(packed(large));
  ASSERT_NE(detour_, nullptr);
  EXPECT_EQ(messages_.size(), 1u);
  const auto back = detour_();
  inbound().Resume();
  back();
  EXPECT_EQ(messages_, (Strings{small, large}));
}

TEST_F(InboundMessagesTest, CountsIncompleteMessagesOfAllCallsOfAConnection) {
  http2::IncompleteBytes incomplete(100);
  incomplete.Change(0, 90);  // another call's
  inbound_.emplace(options_, encoding_, incomplete, *this);
  const std::string bytes = Frame(std::string(50, 'x'));
  inbound().Receive(bytes.substr(0, 15));
  EXPECT_FALSE(status_.has_value());
  inbound().Receive(bytes.substr(15, 1));
  ASSERT_TRUE(status_.has_value());
  EXPECT_EQ(status_->code, kGrpcResourceExhausted);
  inbound().Detach();
  EXPECT_TRUE(incomplete.Change(90, 100));  // only the other call's bytes are left
}

}  // namespace
}  // namespace nereid::frontend::grpc
