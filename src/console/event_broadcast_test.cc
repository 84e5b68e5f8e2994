// SPDX-License-Identifier: Apache-2.0
#include "console/event_broadcast.h"

#include <gtest/gtest.h>

#include <chrono>

namespace nereid::console {
namespace {

using frontend::http::ReplyStream;

std::shared_ptr<ReplyStream> MakeStream(size_t limit = 1000) {
  return std::make_shared<ReplyStream>(limit, std::chrono::milliseconds(0),
                                       [](const std::shared_ptr<ReplyStream>&) {});
}

std::string Text(ReplyStream& stream) {
  std::string text;
  for (const auto& piece : stream.Take().pieces) text += piece.text;
  return text;
}

TEST(EncodeEvent, HasALineForEachLineOfTheData) {
  EXPECT_EQ(EncodeEvent("sample", "{}"), "event: sample\ndata: {}\n\n");
  EXPECT_EQ(EncodeEvent("x", ""), "event: x\ndata: \n\n");
  EXPECT_EQ(EncodeEvent("x", "a\nb\r\nc\rd\n"),
            "event: x\ndata: a\ndata: b\ndata: c\ndata: d\ndata: \n\n");
}

TEST(EventBroadcast, SendsToEveryViewer) {
  EventBroadcast broadcast;
  EXPECT_FALSE(broadcast.HasViewers());
  const auto one = MakeStream(), two = MakeStream();
  ASSERT_TRUE(broadcast.Add(one, "first "));
  ASSERT_TRUE(broadcast.Add(two, ""));
  broadcast.Send("event");
  EXPECT_EQ(Text(*one), "first event");
  EXPECT_EQ(Text(*two), "event");
}

TEST(EventBroadcast, DropsASlowViewerAndOneThatHasGone) {
  EventBroadcast broadcast;
  const auto slow = MakeStream(10), gone = MakeStream(), good = MakeStream();
  for (const auto& viewer : {slow, gone, good}) ASSERT_TRUE(broadcast.Add(viewer, ""));
  gone->Close();
  broadcast.Send("12345678");
  broadcast.Send("12345678");
  const auto ready = slow->Take();
  EXPECT_EQ(ready.pieces.size(), 1U);
  EXPECT_TRUE(ready.ended);
  EXPECT_EQ(Text(*good), "1234567812345678");
  good->Close();
  broadcast.Send("x");
  EXPECT_FALSE(broadcast.HasViewers());
}

TEST(EventBroadcast, TheNumberOfViewersIsBounded) {
  EventBroadcast broadcast;
  std::vector<std::shared_ptr<ReplyStream>> viewers;
  for (size_t i = 0; i < EventBroadcast::kMaxViewers; ++i) {
    viewers.push_back(MakeStream());
    ASSERT_TRUE(broadcast.Add(viewers.back(), ""));
  }
  EXPECT_FALSE(broadcast.Add(MakeStream(), ""));
  viewers.back()->Close();
  viewers.back() = MakeStream();
  EXPECT_TRUE(broadcast.Add(viewers.back(), ""));
  broadcast.EndAll();
  EXPECT_TRUE(viewers.front()->Take().ended);
  EXPECT_FALSE(broadcast.Add(MakeStream(), ""));
}

}  // namespace
}  // namespace nereid::console
