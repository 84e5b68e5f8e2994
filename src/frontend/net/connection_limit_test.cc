// SPDX-License-Identifier: Apache-2.0
#include "frontend/net/connection_limit.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "frontend/net/endpoint.h"

namespace nereid::frontend::net {
namespace {

using Place = ConnectionLimit::Place;

Endpoint At(const std::string& address) { return ResolveEndpoint("test", address, 1000).value(); }

std::optional<ClientAddress> ClientOf(const std::string& address) {
  return ClientAddressOf(*At(address).data());
}

TEST(ClientAddressTest, IsAnAddressOfIpv4OrANetworkOfIpv6) {
  EXPECT_EQ(ClientOf("192.0.2.1"), ClientOf("192.0.2.1"));
  EXPECT_NE(ClientOf("192.0.2.1"), ClientOf("192.0.2.2"));
  EXPECT_EQ(ClientOf("192.0.2.1"), ClientOf("::ffff:192.0.2.1"));
  EXPECT_EQ(ClientOf("2001:db8:0:1::1"), ClientOf("2001:db8:0:1:ffff::2"));
  EXPECT_NE(ClientOf("2001:db8:0:1::1"), ClientOf("2001:db8:0:2::1"));
  EXPECT_NE(ClientOf("0.0.0.0"), ClientOf("::1"));
  EXPECT_EQ(ClientOf("unix:/a"), std::nullopt);
}

TEST(ConnectionLimitTest, CountsPlaces) {
  ConnectionLimit limit(2);
  Place first = limit.Take();
  Place second = limit.Take();
  EXPECT_TRUE(first);
  EXPECT_TRUE(second);
  EXPECT_FALSE(limit.Take());
  Place moved = std::move(first);
  EXPECT_FALSE(limit.Take());
  moved.Release();
  moved.Release();
  first = limit.Take();
  EXPECT_TRUE(first);
  EXPECT_FALSE(limit.Take());
}

TEST(ConnectionLimitTest, CountsTheConnectionsOfEachAddress) {
  ConnectionLimit limit(100, 2);
  std::vector<Place> places;
  const auto take = [&](const std::string& address) {
    Place place = limit.Take();
    if (!limit.TakeFor(*At(address).data(), place)) return false;
    places.push_back(std::move(place));
    return true;
  };
  EXPECT_TRUE(take("192.0.2.1"));
  EXPECT_TRUE(take("192.0.2.1"));
  EXPECT_FALSE(take("192.0.2.1"));
  EXPECT_TRUE(take("192.0.2.2"));
  EXPECT_TRUE(take("2001:db8::1"));
  EXPECT_TRUE(take("2001:db8::2"));
  EXPECT_FALSE(take("2001:db8::3"));
  for (int i = 0; i < 5; ++i) EXPECT_TRUE(take("unix:/a"));
  places.erase(places.begin());
  EXPECT_TRUE(take("192.0.2.1"));
  EXPECT_FALSE(take("192.0.2.1"));
  places.clear();
  EXPECT_TRUE(take("192.0.2.1"));
}

}  // namespace
}  // namespace nereid::frontend::net
