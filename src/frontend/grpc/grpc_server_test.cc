// SPDX-License-Identifier: Apache-2.0
// The small methods, health, reflection, starting and stopping.
#include "frontend/grpc/grpc_server.h"

#include <gtest/gtest.h>

#include <atomic>
#include <future>
#include <set>
#include <string>
#include <thread>

#include "frontend/grpc/call_status.h"
#include "frontend/grpc/server_context.h"
#include "frontend/grpc/testing/server_fixture.h"
#include "health.pb.h"
#include "reflection.pb.h"

namespace nereid::frontend::grpc {
namespace {

using testing::Frame;
using testing::GrpcServerTest;
using testing::kModelInfer;
using testing::kModelStreamInfer;
using testing::kServerLive;
using testing::Reply;
using testing::TestClient;

template <typename Message>
Message ParseOnly(const Reply& reply) {
  Message message;
  EXPECT_EQ(reply.status(), 0) << reply.message();
  EXPECT_EQ(reply.messages().size(), 1u);
  if (!reply.messages().empty()) {
    EXPECT_TRUE(message.ParseFromString(reply.messages()[0]));
  }
  return message;
}

std::string Path(const std::string& method) { return "/inference.GRPCInferenceService/" + method; }

TEST_F(GrpcServerTest, AnswersTheSmallMethods) {
  Start();
  TestClient client(port());
  EXPECT_TRUE(ParseOnly<inference::ServerLiveResponse>(client.Unary(kServerLive, "")).live());
  EXPECT_TRUE(
      ParseOnly<inference::ServerReadyResponse>(client.Unary(Path("ServerReady"), "")).ready());
  inference::ModelReadyRequest ready;
  ready.set_name("echo");
  ready.set_version("2");
  EXPECT_TRUE(ParseOnly<inference::ModelReadyResponse>(
                  client.Unary(Path("ModelReady"), ready.SerializeAsString()))
                  .ready());
  const auto server =
      ParseOnly<inference::ServerMetadataResponse>(client.Unary(Path("ServerMetadata"), ""));
  EXPECT_EQ(server.name(), "triton");
  EXPECT_EQ(server.extensions_size(), 3);
  inference::ModelMetadataRequest metadata;
  metadata.set_name("echo");
  const auto model = ParseOnly<inference::ModelMetadataResponse>(
      client.Unary(Path("ModelMetadata"), metadata.SerializeAsString()));
  EXPECT_EQ(model.platform(), "identity");
  EXPECT_EQ(model.versions_size(), 2);
  ASSERT_EQ(model.inputs_size(), 1);
  EXPECT_EQ(model.inputs(0).shape(0), -1);
  const auto index =
      ParseOnly<inference::RepositoryIndexResponse>(client.Unary(Path("RepositoryIndex"), ""));
  EXPECT_EQ(index.models_size(), 3);
}

TEST_F(GrpcServerTest, StatisticsKeepEveryField) {
  api::ModelStatistics& model = service_.statistics.at(0);
  model.last_inference_ms = 1;
  model.inference_count = 2;
  model.execution_count = 3;
  model.inference_stats.cache_miss = {4, 5};
  model.response_stats.emplace_back("0", api::ResponseStatistics{}).second.empty_response = {6, 7};
  model.batch_stats.push_back({8, {}, {9, 10}, {}});
  model.memory_usage.push_back({"CPU", 11, 12});
  Start();
  TestClient client(port());
  const auto reply =
      ParseOnly<inference::ModelStatisticsResponse>(client.Unary(Path("ModelStatistics"), ""));
  ASSERT_EQ(reply.model_stats_size(), 1);
  const auto& found = reply.model_stats(0);
  EXPECT_EQ(found.last_inference(), 1u);
  EXPECT_EQ(found.inference_count(), 2u);
  EXPECT_EQ(found.execution_count(), 3u);
  EXPECT_EQ(found.inference_stats().cache_miss().ns(), 5u);
  EXPECT_EQ(found.response_stats().at("0").empty_response().count(), 6u);
  EXPECT_EQ(found.batch_stats(0).batch_size(), 8u);
  EXPECT_EQ(found.batch_stats(0).compute_infer().ns(), 10u);
  EXPECT_EQ(found.memory_usage(0).byte_size(), 12u);
}

TEST_F(GrpcServerTest, TheIndexIsReadOffTheLoopAndNotBehindLoads) {
  std::promise<void> allowed;
  const std::shared_future<void> may_go = allowed.get_future().share();
  std::promise<void> reading;
  service_.on_load = [may_go](const auto&, const auto&) { may_go.wait(); };
  service_.on_index = [&, may_go] {
    reading.set_value();
    may_go.wait();
  };
  Start();
  TestClient client(port());
  std::vector<int32_t> streams;
  for (size_t i = 0; i <= kMaxBlockingThreads; ++i) {
    streams.push_back(client.Open(Path("RepositoryModelLoad")));
    client.Send(streams.back(), Frame(""), true);
  }
  streams.push_back(client.Open(Path("RepositoryIndex")));
  client.Send(streams.back(), Frame(""), true);
  reading.get_future().wait();                           // although every thread for loads is taken
  EXPECT_EQ(client.Unary(kServerLive, "").status(), 0);  // the only loop is not blocked
  allowed.set_value();
  for (const int32_t stream : streams) EXPECT_EQ(client.Finish(stream).status(), 0);
}

TEST_F(GrpcServerTest, LoadingRunsOffTheLoopWithItsParameters) {
  std::promise<void> allowed;
  std::vector<api::LoadParameter> seen;
  service_.on_load = [&](const std::string&, const std::vector<api::LoadParameter>& parameters) {
    seen = parameters;
    allowed.get_future().wait();
  };
  Start();
  TestClient client(port());
  inference::RepositoryModelLoadRequest load;
  load.set_model_name("m");
  (*load.mutable_parameters())["config"].set_string_param("{}");
  const int32_t stream = client.Open(Path("RepositoryModelLoad"));
  client.Send(stream, Frame(load.SerializeAsString()), true);
  EXPECT_EQ(client.Unary(kServerLive, "").status(), 0);  // the only loop is not blocked
  allowed.set_value();
  EXPECT_EQ(client.Finish(stream).status(), 0);
  ASSERT_EQ(seen.size(), 1u);
  EXPECT_EQ(seen[0].value, "{}");

  (*load.mutable_parameters())["config"].set_int64_param(1);
  Reply reply = client.Unary(Path("RepositoryModelLoad"), load.SerializeAsString());
  EXPECT_EQ(reply.status(), 3);
  EXPECT_EQ(reply.message(),
            "invalid value type for load parameter 'config', expected string_param.");
  service_.unload_result = base::Status::Unavailable("no");
  reply = client.Unary(Path("RepositoryModelUnload"), "");
  EXPECT_EQ(reply.status(), 14);
}

TEST_F(GrpcServerTest, RefusesWhatItDoesNotHave) {
  Start();
  TestClient client(port());
  Reply reply = client.Unary(Path("TraceSetting"), "");
  EXPECT_EQ(reply.status(), 12);
  EXPECT_EQ(reply.message(), "the trace extension is not supported yet");
  reply = client.Unary("/other.Service/Method", "");
  EXPECT_EQ(reply.status(), 12);
  EXPECT_EQ(reply.headers.at(":status"), "200");
  reply = client.Unary(kServerLive, "", {{"content-type", "application/json"}});
  EXPECT_EQ(reply.headers.at(":status"), "415");
  reply = client.Unary(kServerLive, "", {{":method", "PUT"}});
  EXPECT_EQ(reply.headers.at(":status"), "405");
  reply = client.Unary(kServerLive, "", {{"grpc-encoding", "snappy"}});
  EXPECT_EQ(reply.status(), 12);
  reply = client.Unary(kServerLive, "", {{"grpc-timeout", "12"}});
  EXPECT_EQ(reply.status(), 13);
  inference::RepositoryIndexRequest index;
  index.set_repository_name("r");
  reply = client.Unary(Path("RepositoryIndex"), index.SerializeAsString());
  EXPECT_EQ(reply.message(), "'repository_name' specification is not supported");
  EXPECT_EQ(client.Unary(kServerLive, "").status(), 0);
}

// Readiness that may change while the server looks.
class ChangingService : public api::testing::FakeInferenceService {
 public:
  base::Result<bool> IsServerReady() override {
    EXPECT_TRUE(base::ThreadMayBlock()) << "asked on an event loop";
    return now_ready.load();
  }
  std::atomic<bool> now_ready{true};
};

TEST(GrpcHealth, CheckAndWatchFollowReadiness) {
  ChangingService service;
  GrpcServer server({.address = "127.0.0.1", .port = 0, .loops = 1}, service);
  ASSERT_TRUE(server.Start().ok());
  TestClient client(server.port());
  using Response = ::grpc::health::v1::HealthCheckResponse;
  const int32_t watch = client.Open("/grpc.health.v1.Health/Watch");
  client.Send(watch, Frame(""), true);
  Response response;
  ASSERT_TRUE(response.ParseFromString(client.WaitForMessages(watch, 1).messages().at(0)));
  EXPECT_EQ(response.status(), Response::SERVING);
  service.now_ready = false;
  EXPECT_EQ(ParseOnly<Response>(client.Unary("/grpc.health.v1.Health/Check", "")).status(),
            Response::NOT_SERVING);
  ASSERT_TRUE(response.ParseFromString(client.WaitForMessages(watch, 2).messages().at(1)));
  EXPECT_EQ(response.status(), Response::NOT_SERVING);
  client.Reset(watch);
  EXPECT_EQ(client.Unary(kServerLive, "").status(), 0);
}

// A service with a plug-in that does not answer until the test says so.
class SlowService : public api::testing::FakeInferenceService {
 public:
  base::Result<bool> IsServerReady() override {
    ++asked;
    answer.wait(false);
    return true;
  }
  std::atomic<int> asked{0};
  std::atomic<bool> answer{false};
};

TEST(GrpcHealth, WatchesWaitForOnePlugInTogetherAndOnNoLoop) {
  SlowService service;
  GrpcServer server({.address = "127.0.0.1", .port = 0, .loops = 1}, service);
  ASSERT_TRUE(server.Start().ok());
  TestClient client(server.port());
  std::vector<int32_t> watches;
  for (int i = 0; i < 20; ++i) {
    watches.push_back(client.Open("/grpc.health.v1.Health/Watch"));
    client.Send(watches.back(), Frame(""), true);
  }
  // The only loop serves others, and one thread at most waits for the plug-in.
  EXPECT_EQ(client.Unary(kServerLive, "").status(), 0);
  EXPECT_EQ(client.Unary(Path("ServerMetadata"), "").status(), 0);
  EXPECT_LE(service.asked.load(), 1);
  client.Reset(watches.back());
  watches.pop_back();
  service.answer = true;
  service.answer.notify_all();
  for (const int32_t watch : watches) {
    EXPECT_EQ(client.WaitForMessages(watch, 1).messages().size(), 1u);
  }
}

TEST_F(GrpcServerTest, ReflectionShowsServicesAndFiles) {
  Start();
  TestClient client(port());
  using ::grpc::reflection::v1::ServerReflectionRequest;
  using ::grpc::reflection::v1::ServerReflectionResponse;
  for (const std::string version : {"v1", "v1alpha"}) {
    const int32_t stream =
        client.Open("/grpc.reflection." + version + ".ServerReflection/ServerReflectionInfo");
    ServerReflectionRequest list, symbol, file, unknown, extension;
    list.set_list_services("");
    symbol.set_file_containing_symbol("inference.GRPCInferenceService");
    file.set_file_by_filename("model_config.proto");
    unknown.set_file_by_filename("nothing.proto");
    extension.set_all_extension_numbers_of_type("x");
    for (const auto* request : {&list, &symbol, &file, &unknown, &extension}) {
      client.Send(stream, Frame(request->SerializeAsString()), request == &extension);
    }
    const Reply& reply = client.Finish(stream);
    ASSERT_EQ(reply.status(), 0);
    ASSERT_EQ(reply.messages().size(), 5u);
    std::vector<ServerReflectionResponse> responses(5);
    for (int i = 0; i < 5; ++i) ASSERT_TRUE(responses[i].ParseFromString(reply.messages()[i]));
    std::set<std::string> services;
    for (const auto& service : responses[0].list_services_response().service()) {
      services.insert(service.name());
    }
    EXPECT_EQ(services.count("inference.GRPCInferenceService"), 1u);
    EXPECT_EQ(services.count("grpc.health.v1.Health"), 1u);
    EXPECT_EQ(responses[1].file_descriptor_response().file_descriptor_proto_size(), 2);
    EXPECT_EQ(responses[2].file_descriptor_response().file_descriptor_proto_size(), 1);
    EXPECT_EQ(responses[3].error_response().error_code(), 5);
    EXPECT_EQ(responses[4].error_response().error_code(), 12);
  }
}

TEST_F(GrpcServerTest, FindsThePortTaken) {
  Start();
  options_.port = port();
  GrpcServer second(options_, service_);
  const base::Status status = second.Start();
  EXPECT_EQ(status.code(), base::StatusCode::kUnavailable);
  EXPECT_EQ(status.message(), "Socket '127.0.0.1:" + std::to_string(port()) + "' already in use ");
}

TEST_F(GrpcServerTest, RefusesAnAddressThatIsNone) {
  options_.address = "no such host.invalid";
  GrpcServer server(options_, service_);
  EXPECT_EQ(server.Start().code(), base::StatusCode::kInvalidArgument);
}

TEST_F(GrpcServerTest, StopLetsRunningCallsFinish) {
  options_.loops = 2;
  service_.handler = service_.HoldHandler();
  Start();
  TestClient client(port());
  const int32_t stream = client.Open(kModelInfer);
  client.Send(stream, Frame(EchoRequest("last")), true);
  auto request = service_.TakeHeld();
  std::thread stopper([this] { server_->Stop(60'000); });
  // The server says that it goes; only then is the call answered.
  client.WaitForGoAway();
  api::testing::FakeInferenceService::Echo(std::move(request));
  const Reply& reply = client.Finish(stream);
  EXPECT_EQ(reply.status(), 0);
  EXPECT_EQ(ParseResponse(reply.messages().at(0)).raw_output_contents(0), "last");
  client.WaitForClose();
  stopper.join();
  EXPECT_EQ(client.goaway_error(), 0u);
}

TEST_F(GrpcServerTest, StopDoesNotWaitForIdleStreamsAndHalfRequests) {
  Start();
  TestClient client(port());
  const int32_t idle = client.Open(kModelStreamInfer);
  client.Send(idle, Frame(EchoRequest("x")), false);
  client.WaitForMessages(idle, 1);
  const int32_t fresh = client.Open(kModelStreamInfer);
  const int32_t empty = client.Open(kModelInfer);
  const int32_t half = client.Open(kModelInfer);
  client.Send(half, Frame(EchoRequest("x")).substr(0, 9), false);
  client.RoundTrip();
  server_->Stop(60'000);
  for (const int32_t stream : {idle, fresh, empty, half}) {
    EXPECT_EQ(client.Finish(stream).status(), kGrpcUnavailable) << stream;
  }
  client.WaitForClose();
  EXPECT_EQ(client.goaway_error(), 0u);
}

TEST_F(GrpcServerTest, StopLetsStreamsFinishTheirRequests) {
  service_.handler = service_.HoldHandler();
  Start();
  TestClient client(port());
  const int32_t stream = client.Open(kModelStreamInfer);
  client.Send(stream, Frame(EchoRequest("last")), false);
  auto request = service_.TakeHeld();
  std::thread stopper([this] { server_->Stop(60'000); });
  client.WaitForGoAway();
  api::testing::FakeInferenceService::Echo(std::move(request));
  const Reply& reply = client.Finish(stream);
  EXPECT_EQ(reply.messages().size(), 1u);
  EXPECT_EQ(reply.status(), kGrpcUnavailable);
  client.WaitForClose();
  stopper.join();
}

TEST_F(GrpcServerTest, StopCancelsWhatTakesTooLong) {
  service_.handler = service_.HoldHandler();
  Start();
  TestClient client(port());
  client.Send(client.Open(kModelInfer), Frame(EchoRequest("x")), true);
  auto request = service_.TakeHeld();
  server_->Stop(0);
  EXPECT_TRUE(request->IsCancelled());
  client.WaitForClose();
  api::testing::FakeInferenceService::Echo(std::move(request));
}

}  // namespace
}  // namespace nereid::frontend::grpc
