// SPDX-License-Identifier: Apache-2.0
#include "handover/peers.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace nereid::handover {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(ParsePeerTest, Forms) {
  const auto plain = ParsePeer("replicas.models.svc:8000");
  ASSERT_TRUE(plain.ok());
  EXPECT_EQ(plain->scheme, "http");
  EXPECT_EQ(plain->host, "replicas.models.svc");
  EXPECT_EQ(plain->port, 8000);
  EXPECT_EQ(ParsePeer("https://a:443")->scheme, "https");
  EXPECT_EQ(ParsePeer("http://[::1]:80")->host, "[::1]");
  for (const char* wrong : {"", "a", ":80", "a:", "a:0", "a:65536", "ftp://a:80", "a/b:80",
                            "::1:80", "user@a:80", "a:80/x", "a b:80"}) {
    EXPECT_FALSE(ParsePeer(wrong).ok()) << wrong;
  }
}

class PeersTest : public ::testing::Test {
 protected:
  Peers Make(std::vector<std::string> addresses) {
    std::vector<PeerAddress> parsed;
    for (const std::string& address : addresses) parsed.push_back(ParsePeer(address).value());
    return {std::move(parsed),
            [this](const std::string& host) {
              ++questions_;
              return host == "all" ? found_ : std::vector<std::string>{host};
            },
            clock_};
  }

  base::FakeClock clock_;
  std::vector<std::string> found_ = {"10.0.0.1", "10.0.0.2"};
  int questions_ = 0;
};

TEST_F(PeersTest, ANameHasTheAddressesOfAllReplicas) {
  Peers peers = Make({"all:8000", "https://one:443", "10.0.0.2:8000"});
  EXPECT_THAT(peers.Urls(),
              ElementsAre("http://10.0.0.1:8000", "http://10.0.0.2:8000", "https://one:443"));
}

TEST_F(PeersTest, AddressesAreAskedForAgain) {
  Peers peers = Make({"all:1"});
  peers.Urls();
  peers.Urls();
  EXPECT_EQ(questions_, 1);
  clock_.Advance(Peers::kKeepNs);
  found_ = {"10.0.0.3"};
  EXPECT_THAT(peers.Urls(), ElementsAre("http://10.0.0.3:1"));
  // A name server that fails does not take the known replicas away.
  clock_.Advance(Peers::kKeepNs);
  found_ = {};
  EXPECT_THAT(peers.Urls(), ElementsAre("http://10.0.0.3:1"));
}

TEST_F(PeersTest, AReplicaThatCouldNotBeReachedIsAskedLast) {
  Peers peers = Make({"a:1", "b:1"});
  peers.NoteUnreachable("http://a:1");
  EXPECT_THAT(peers.Urls(), ElementsAre("http://b:1", "http://a:1"));
  clock_.Advance(Peers::kAvoidNs);
  EXPECT_THAT(peers.Urls(), ElementsAre("http://a:1", "http://b:1"));
}

TEST_F(PeersTest, WithoutAddressesThereIsNobody) {
  found_ = {};
  EXPECT_THAT(Make({"all:1"}).Urls(), IsEmpty());
}

TEST(ResolveHostTest, NumbersAreTheirOwnAddress) {
  EXPECT_THAT(ResolveHost("127.0.0.1"), ElementsAre("127.0.0.1"));
  EXPECT_THAT(ResolveHost("[::1]"), ElementsAre("[::1]"));
}

}  // namespace
}  // namespace nereid::handover
