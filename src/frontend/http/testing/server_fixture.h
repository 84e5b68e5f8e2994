// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <chrono>
#include <memory>
#include <string_view>
#include <utility>

#include "api/testing/fake_inference_service.h"
#include "frontend/http/http_server.h"
#include "frontend/http/kserve_handler.h"
#include "frontend/http/testing/raw_client.h"

namespace nereid::frontend::http::testing {

/// An inference request that the fake service answers with its input, and the body of the reply.
inline constexpr char kInfer[] = "/v2/models/echo/infer";
inline constexpr char kJson[] =
    R"({"inputs":[{"name":"INPUT0","shape":[2],"datatype":"FP32","data":[1,2.5]}]})";
inline constexpr char kJsonAnswer[] =
    R"({"model_name":"echo","model_version":"1","outputs":[{"name":"OUTPUT0","datatype":"FP32",)"
    R"("shape":[2],"data":[1.0,2.5]}]})";

/// A server over loopback in front of a fake service. Stopped gracefully after each test.
class ServerFixture : public ::testing::Test {
 protected:
  explicit ServerFixture(int threads) {
    options_.address = "127.0.0.1";
    options_.port = 0;
    options_.threads = threads;
  }

  void Start() { Start(MakeKserveHandler(kserve_, service_)); }
  void Start(std::shared_ptr<HttpHandler> handler) {
    server_ = std::make_unique<HttpServer>(options_, std::move(handler));
    const base::Status status = server_->Start();
    ASSERT_TRUE(status.ok()) << status.message();
  }
  /// Sends a request on a connection of its own. Returns the reply, or status 0 if there is none.
  RawResponse Ask(std::string_view request) {
    RawClient client(server_->port());
    client.Send(request);
    return client.Receive().value_or(RawResponse{});
  }
  void TearDown() override {
    if (server_) server_->Stop(std::chrono::milliseconds{10'000});
  }

  api::testing::FakeInferenceService service_;
  HttpServerOptions options_;
  KserveOptions kserve_;
  std::unique_ptr<HttpServer> server_;
};

}  // namespace nereid::frontend::http::testing
