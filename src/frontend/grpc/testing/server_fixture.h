// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "api/testing/fake_inference_service.h"
#include "frontend/grpc/grpc_server.h"
#include "frontend/grpc/testing/test_client.h"
#include "grpc_service.pb.h"

namespace nereid::frontend::grpc::testing {

inline constexpr char kModelInfer[] = "/inference.GRPCInferenceService/ModelInfer";
inline constexpr char kModelStreamInfer[] = "/inference.GRPCInferenceService/ModelStreamInfer";
inline constexpr char kServerLive[] = "/inference.GRPCInferenceService/ServerLive";

/// A server with the echo service, on a port of the kernel's choice.
class GrpcServerTest : public ::testing::Test {
 protected:
  GrpcServerTest() {
    options_.address = "127.0.0.1";
    options_.port = 0;
    options_.loops = 1;
    options_.keep_alive.max_ping_strikes = 0;  // the clients here find out by PINGs where they are
  }

  void Start() {
    server_ = std::make_unique<GrpcServer>(options_, service_);
    const base::Status status = server_->Start();
    ASSERT_TRUE(status.ok()) << status.message();
  }

  uint16_t port() const { return server_->port(); }

  static std::string EchoRequest(const std::string& bytes, const std::string& model = "echo",
                                 const std::string& id = "") {
    inference::ModelInferRequest request;
    request.set_model_name(model);
    request.set_id(id);
    auto* input = request.add_inputs();
    input->set_name("INPUT0");
    input->set_datatype("UINT8");
    input->add_shape(static_cast<int64_t>(bytes.size()));
    request.add_raw_input_contents(bytes);
    return request.SerializeAsString();
  }

  static inference::ModelInferResponse ParseResponse(const std::string& message) {
    inference::ModelInferResponse response;
    EXPECT_TRUE(response.ParseFromString(message));
    return response;
  }

  static inference::ModelStreamInferResponse ParseStreamResponse(const std::string& message) {
    inference::ModelStreamInferResponse response;
    EXPECT_TRUE(response.ParseFromString(message));
    return response;
  }

  /// The server still answers.
  void ExpectAlive() {
    TestClient client(port());
    const Reply reply = client.Unary(kModelInfer, EchoRequest("alive"));
    EXPECT_EQ(reply.status(), 0) << reply.message();
    ASSERT_EQ(reply.messages().size(), 1u);
    EXPECT_EQ(ParseResponse(reply.messages()[0]).raw_output_contents(0), "alive");
  }

  api::testing::FakeInferenceService service_;
  GrpcOptions options_;
  std::unique_ptr<GrpcServer> server_;  // after the service: it goes first
};

}  // namespace nereid::frontend::grpc::testing
