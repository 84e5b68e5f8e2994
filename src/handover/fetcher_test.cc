// SPDX-License-Identifier: Apache-2.0
#include "handover/fetcher.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "curl/testing/fake_http_client.h"
#include "handover/outbox.h"
#include "handover/testing/fake_sequences.h"

namespace nereid::handover {
namespace {

using base::Status;
using base::StatusCode;
using curl::testing::FakeReply;
using ::testing::HasSubstr;

const SequenceKey kKey{"m", 1, uint64_t{5}};
const std::string kA = "http://a:1", kB = "http://b:1";

/// This server and two others, "a" and "b", whose outboxes answer.
class FetcherTest : public ::testing::Test {
 protected:
  struct Replica {
    explicit Replica(const base::Clock& clock) : outbox(sequences, clock) {}
    testing::FakeSequences sequences;
    Outbox outbox;
  };

  FakeReply Answer(const curl::HttpRequest& request) {
    if (on_request_) {
      if (auto reply = on_request_(request)) return *reply;
    }
    Replica& replica = request.url.starts_with(kA) ? a_ : b_;
    FakeReply reply;
    if (request.url.ends_with(kClaimPath)) {
      const auto bytes = replica.outbox.Claim(DecodeClaim(request.body)->key);
      reply.response.status = bytes.ok() ? 200 : Code(bytes.status());
      reply.response.body = bytes.ok() ? *bytes : bytes.status().message();
    } else if (request.url.ends_with(kSettlePath)) {
      const auto settlement = DecodeSettlement(request.body);
      const Status status = replica.outbox.Settle(settlement->hold, settlement->takes);
      reply.response.status = status.ok() ? 200 : Code(status);
      reply.response.body = status.message();
    } else {
      reply.response.status = 200;
    }
    return reply;
  }
  static int Code(const Status& status) {
    switch (status.code()) {
      case StatusCode::kNotFound:
        return 404;
      case StatusCode::kUnavailable:
        return 503;
      case StatusCode::kUnsupported:
        return 501;
      default:
        return 400;
    }
  }
  static FakeReply Broken() { return {{}, Status::Unavailable("connection refused")}; }

  base::FakeClock clock_;
  Replica a_{clock_}, b_{clock_};
  testing::FakeSequences own_;
  Peers peers_{{ParsePeer("a:1").value(), ParsePeer("b:1").value()},
               [](const std::string& host) { return std::vector<std::string>{host}; },
               clock_};
  std::function<std::optional<FakeReply>(const curl::HttpRequest&)> on_request_;
  std::function<void()> on_pause_;
  bool is_leaving_ = false;
  curl::testing::FakeHttpClient client_{
      [this](const curl::HttpRequest& request) { return Answer(request); }};
  Fetcher fetcher_{own_,
                   peers_,
                   client_,
                   clock_,
                   {.secret = "n.secret",
                    .replica = "me",
                    .pause =
                        [this](uint64_t ns) {
                          clock_.Advance(ns);
                          if (on_pause_) on_pause_();
                          return true;
                        },
                    .is_stopping = nullptr,
                    .is_leaving = [this](const SequenceKey&) { return is_leaving_; }}};
};

TEST_F(FetcherTest, TheReplicaThatHasItGivesIt) {
  b_.sequences.sequences[kKey].value = 42;
  EXPECT_TRUE(fetcher_.Fetch(kKey, false).ok());
  EXPECT_TRUE(own_.Serves(kKey));
  EXPECT_EQ(own_.sequences[kKey].value, 42);
  EXPECT_TRUE(b_.sequences.sequences.empty());
  EXPECT_EQ(client_.requests()[0].fields[0].second, "Bearer n.secret");
}

TEST_F(FetcherTest, NobodyHasIt) {
  EXPECT_EQ(fetcher_.Fetch(kKey, false).code(), StatusCode::kNotFound);
  EXPECT_EQ(client_.requests().size(), 4u) << "each is asked twice";
}

TEST_F(FetcherTest, ASequenceThatMovesWhileTheReplicasAreAskedIsFound) {
  int claims = 0;
  on_request_ = [&](const curl::HttpRequest& request) -> std::optional<FakeReply> {
    if (!request.url.ends_with(kClaimPath) || claims++ > 0) return std::nullopt;
    // The first replica gets the sequence after its answer. The second one has given it away then.
    (request.url.starts_with(kA) ? a_ : b_).sequences.sequences[kKey].value = 7;
    FakeReply reply;
    reply.response.status = 404;
    return reply;
  };
  EXPECT_TRUE(fetcher_.Fetch(kKey, false).ok());
  EXPECT_EQ(own_.sequences[kKey].value, 7);
}

TEST_F(FetcherTest, AReplicaThatIsBusyIsAskedAgain) {
  a_.sequences.sequences[kKey] = {9, false, true};
  on_pause_ = [this] { a_.sequences.sequences[kKey].busy = false; };
  EXPECT_TRUE(fetcher_.Fetch(kKey, false).ok());
  EXPECT_EQ(own_.sequences[kKey].value, 9);
}

TEST_F(FetcherTest, ABusyReplicaIsNotWaitedForForever) {
  a_.sequences.sequences[kKey].busy = true;
  const Status status = fetcher_.Fetch(kKey, false);
  EXPECT_EQ(status.code(), StatusCode::kUnavailable);
  EXPECT_THAT(status.message(), HasSubstr("send the request again"));
}

TEST_F(FetcherTest, WhatCannotBePutGoesBack) {
  a_.sequences.sequences[kKey];
  own_.put_error = Status::InvalidArgument("other states");
  const Status status = fetcher_.Fetch(kKey, false);
  EXPECT_EQ(status.code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(status.message(), "other states");
  EXPECT_TRUE(a_.sequences.Serves(kKey));
}

TEST_F(FetcherTest, ALostAnswerIsAskedForAgain) {
  a_.sequences.sequences[kKey].value = 3;
  int lost = 0;
  on_request_ = [&](const curl::HttpRequest& request) -> std::optional<FakeReply> {
    if (!request.url.ends_with(kSettlePath) || lost++ > 0) return std::nullopt;
    on_request_ = nullptr;
    Answer(request);  // it arrives, its answer does not
    return Broken();
  };
  EXPECT_TRUE(fetcher_.Fetch(kKey, false).ok());
  EXPECT_TRUE(own_.Serves(kKey));
  EXPECT_TRUE(a_.sequences.sequences.empty());
}

TEST_F(FetcherTest, WithoutAnAnswerToTheSettlementThereIsNoSecondCopy) {
  a_.sequences.sequences[kKey];
  on_request_ = [&](const curl::HttpRequest& request) -> std::optional<FakeReply> {
    if (request.url.ends_with(kSettlePath)) return Broken();
    return std::nullopt;
  };
  EXPECT_EQ(fetcher_.Fetch(kKey, false).code(), StatusCode::kUnavailable);
  EXPECT_TRUE(own_.sequences.empty());
  clock_.Advance(Outbox::kHoldNs);
  a_.outbox.Expire();
  EXPECT_TRUE(a_.sequences.Serves(kKey));
}

TEST_F(FetcherTest, AHoldThatHasEndedIsNotUsed) {
  a_.sequences.sequences[kKey].value = 8;
  int settlements = 0;
  on_request_ = [&](const curl::HttpRequest& request) -> std::optional<FakeReply> {
    if (request.url.ends_with(kSettlePath) && settlements++ == 0) {
      clock_.Advance(Outbox::kHoldNs);
      a_.outbox.Expire();
    }
    return std::nullopt;
  };
  EXPECT_TRUE(fetcher_.Fetch(kKey, false).ok());  // at the second attempt
  EXPECT_EQ(settlements, 2);
  EXPECT_EQ(own_.sequences[kKey].value, 8);
  EXPECT_TRUE(a_.sequences.sequences.empty());
}

TEST_F(FetcherTest, WhyAReplicaCannotGiveItIsTheAnswer) {
  a_.sequences.sequences[kKey];
  a_.sequences.take_error = Status::InvalidArgument("begun in version 1");
  const Status status = fetcher_.Fetch(kKey, false);
  EXPECT_EQ(status.code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(status.message(), "begun in version 1");
}

TEST_F(FetcherTest, AReplicaThatCannotBeReachedIsPassedOver) {
  b_.sequences.sequences[kKey];
  on_request_ = [&](const curl::HttpRequest& request) -> std::optional<FakeReply> {
    if (request.url.starts_with(kA)) return Broken();
    return std::nullopt;
  };
  EXPECT_TRUE(fetcher_.Fetch(kKey, false).ok());
  EXPECT_EQ(peers_.Urls().front(), kB);
}

TEST_F(FetcherTest, NonsenseIsRefused) {
  on_request_ = [&](const curl::HttpRequest&) -> std::optional<FakeReply> {
    FakeReply reply;
    reply.response.status = 200;
    reply.response.body = "nonsense";
    return reply;
  };
  EXPECT_EQ(fetcher_.Fetch(kKey, false).code(), StatusCode::kUnavailable);
  EXPECT_TRUE(own_.sequences.empty());
}

TEST_F(FetcherTest, ASequenceThatLeavesThisServerIsWaitedFor) {
  is_leaving_ = true;
  on_pause_ = [this] {
    is_leaving_ = false;
    own_.sequences[kKey];  // the other replica has given it back
  };
  EXPECT_TRUE(fetcher_.Fetch(kKey, false).ok());
  EXPECT_TRUE(client_.requests().empty());
}

TEST_F(FetcherTest, OffersGoToOneReplicaAfterTheOther) {
  EXPECT_TRUE(fetcher_.Offer({kKey}, 0).ok());
  EXPECT_TRUE(fetcher_.Offer({kKey}, 1).ok());
  ASSERT_EQ(client_.requests().size(), 2u);
  EXPECT_EQ(client_.requests()[0].url, kA + std::string(kOfferPath));
  EXPECT_EQ(client_.requests()[1].url, kB + std::string(kOfferPath));
  EXPECT_EQ(DecodeOffer(client_.requests()[1].body)->keys, std::vector<SequenceKey>{kKey});
}

}  // namespace
}  // namespace nereid::handover
