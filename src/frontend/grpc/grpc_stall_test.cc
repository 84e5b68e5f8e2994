// SPDX-License-Identifier: Apache-2.0
// Clients that keep the server waiting, and what keeps connections alive.
#include <gtest/gtest.h>

#include <string>
#include <thread>

#include "frontend/grpc/testing/server_fixture.h"

namespace nereid::frontend::grpc {
namespace {

using std::chrono::milliseconds;
using testing::Frame;
using testing::GrpcServerTest;
using testing::kModelInfer;
using testing::kModelStreamInfer;
using testing::kServerLive;
using testing::RawClient;
using testing::Reply;
using testing::TestClient;
using namespace std::string_literals;

constexpr uint32_t kNoError = 0, kCancel = 8, kEnhanceYourCalm = 11;
constexpr milliseconds kNever{3'600'000};

class GrpcStallTest : public GrpcServerTest {};

TEST_F(GrpcStallTest, AHalfSentMessageEndsItsCall) {
  options_.stall_timeout = milliseconds(40);
  Start();
  TestClient client(port());
  for (const char* method : {kModelInfer, kModelStreamInfer, kServerLive}) {
    const int32_t stream = client.Open(method);
    client.Send(stream, "\0\0\0\0\x05half"s.substr(0, 7), false);
    EXPECT_EQ(client.Finish(stream).status(), 4) << method;
  }
  EXPECT_EQ(client.Unary(kServerLive, "").status(), 0);
}

TEST_F(GrpcStallTest, AUnaryCallWithoutARequestEnds) {
  options_.stall_timeout = milliseconds(40);
  Start();
  TestClient client(port());
  EXPECT_EQ(client.Finish(client.Open(kModelInfer)).status(), 4);
}

TEST_F(GrpcStallTest, AnAnswerThatIsNotReadIsDropped) {
  options_.stall_timeout = milliseconds(40);
  Start();
  TestClient client(port(), /*window=*/0);
  const int32_t stream = client.Open(kModelInfer);
  client.Send(stream, Frame(EchoRequest("unread")), true);
  const Reply& reply = client.Finish(stream);
  EXPECT_EQ(reply.error_code, kCancel);
  EXPECT_EQ(reply.body, "");
}

TEST_F(GrpcStallTest, IdleStreamsAndRunningRequestsStay) {
  options_.stall_timeout = milliseconds(8);
  service_.handler = service_.HoldHandler();
  Start();
  TestClient client(port());
  const int32_t idle = client.Open(kModelStreamInfer);
  const int32_t running = client.Open(kModelInfer);
  client.Send(running, Frame(EchoRequest("x")), true);
  auto request = service_.TakeHeld();
  // Many ticks later, as a call that stalls shows:
  for (int i = 0; i < 3; ++i) EXPECT_EQ(client.Finish(client.Open(kServerLive)).status(), 4);
  api::testing::FakeInferenceService::Echo(std::move(request));
  EXPECT_EQ(client.Finish(running).status(), 0);
  client.Send(idle, "", true);
  EXPECT_EQ(client.Finish(idle).status(), 0);
}

TEST_F(GrpcStallTest, PingsThatComeTooSoonEndTheConnection) {
  options_.keep_alive.max_ping_strikes = 2;
  Start();
  TestClient client(port());
  for (int i = 0; i < 4; ++i) client.Ping();
  client.WaitForClose();
  EXPECT_EQ(client.goaway_error(), kEnhanceYourCalm);
  ExpectAlive();
}

TEST_F(GrpcStallTest, AsksASilentClientAndClosesWhenItStaysSilent) {
  options_.keep_alive.time = milliseconds(10);
  options_.keep_alive.timeout = milliseconds(10);
  options_.keep_alive.permit_without_calls = true;
  Start();
  RawClient client(port());
  client.Send("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\4\0\0\0\0\0"s);
  const std::string frames = client.ReadToEnd();  // returns only when the server closes
  const std::string ping = "\0\0\x08\6\0\0\0\0\0"s;
  EXPECT_NE(frames.find(ping), std::string::npos);
}

TEST_F(GrpcStallTest, AClientThatAnswersIsKept) {
  options_.keep_alive.time = milliseconds(1);
  options_.keep_alive.timeout = kNever;
  options_.keep_alive.max_pings_without_data = 0;
  options_.stall_timeout = milliseconds(40);
  Start();
  TestClient client(port());
  // Pinged all the while, until a call has stalled.
  EXPECT_EQ(client.Finish(client.Open(kServerLive)).status(), 4);
  EXPECT_EQ(client.Unary(kServerLive, "").status(), 0);
}

TEST_F(GrpcStallTest, OldConnectionsAreToldToGo) {
  options_.keep_alive.max_connection_age = milliseconds(10);
  service_.handler = service_.HoldHandler();
  Start();
  TestClient client(port());
  const int32_t running = client.Open(kModelInfer);
  client.Send(running, Frame(EchoRequest("x")), true);
  auto request = service_.TakeHeld();
  client.WaitForGoAway();
  EXPECT_EQ(client.goaway_error(), kNoError);
  api::testing::FakeInferenceService::Echo(std::move(request));
  EXPECT_EQ(client.Finish(running).status(), 0);  // what runs may finish
  client.WaitForClose();
}

TEST_F(GrpcStallTest, StreamsOutliveTheAgeOfTheirConnection) {
  options_.keep_alive.max_connection_age = milliseconds(10);
  Start();
  TestClient client(port());
  const int32_t stream = client.Open(kModelStreamInfer);
  client.WaitForGoAway();
  client.Send(stream, Frame(EchoRequest("late")), true);
  const Reply& reply = client.Finish(stream);
  EXPECT_EQ(reply.status(), 0);
  EXPECT_EQ(reply.messages().size(), 1u);
  client.WaitForClose();
}

TEST_F(GrpcStallTest, GraceEnds) {
  options_.keep_alive.max_connection_age = milliseconds(10);
  options_.keep_alive.max_connection_age_grace = milliseconds(10);
  service_.handler = service_.HoldHandler();
  Start();
  TestClient client(port());
  client.Send(client.Open(kModelInfer), Frame(EchoRequest("x")), true);
  auto request = service_.TakeHeld();
  client.WaitForClose();
  while (!request->IsCancelled()) std::this_thread::yield();
  api::testing::FakeInferenceService::Echo(std::move(request));
}

}  // namespace
}  // namespace nereid::frontend::grpc
