// SPDX-License-Identifier: Apache-2.0
#include "test_service.h"

#include <algorithm>
#include <deque>
#include <string>
#include <string_view>
#include <utility>

#include "frontend/grpc/message_frame.h"
#include "frontend/grpc/unary_call.h"
#include "interop.pb.h"

namespace nereid::interop {
namespace {

using frontend::grpc::Call;
using frontend::grpc::CallOrigin;
using frontend::grpc::CallStatus;
using frontend::grpc::Delivery;
using frontend::grpc::FrameMessage;
using frontend::grpc::ResponseFraming;
using frontend::grpc::ResponseMetadata;
using frontend::grpc::StoredBytes;
using frontend::grpc::UnaryCall;

constexpr int kInvalidArgument = 3;
constexpr int32_t kMaxResponse = 64 << 20;

CallStatus Malformed() { return {frontend::grpc::kGrpcInternal, "malformed message"}; }

template <typename Message>
bool Parse(const StoredBytes& bytes, Message* message) {
  return message->ParseFromArray(bytes.bytes.data(), static_cast<int>(bytes.bytes.size()));
}

/// Returns whether a request was compressed, or not, as its sender says; true if it says nothing.
bool IsAsExpected(const StoredBytes& bytes, bool has_expectation, bool expected) {
  return !has_expectation || bytes.was_compressed == expected;
}

CallStatus Unexpected() {
  return {kInvalidArgument, "the compression of the request is not as expect_compressed says"};
}

bool SetPayload(int32_t size, grpc::testing::Payload* payload) {
  if (size < 0 || size > kMaxResponse) return false;
  payload->mutable_body()->assign(static_cast<size_t>(size), '\0');
  return true;
}

/// Sends back what the case custom_metadata sends.
std::unique_ptr<const ResponseMetadata> EchoMetadata(const CallOrigin& origin) {
  auto echo = std::make_unique<ResponseMetadata>();
  for (const auto& field : origin.head.fields) {
    if (field.name == "x-grpc-test-echo-initial")
      echo->initial.emplace_back(field.name, field.value);
    if (field.name == "x-grpc-test-echo-trailing-bin") {
      echo->trailing.emplace_back(field.name, field.value);
    }
  }
  return echo;
}

/// EmptyCall.
class EmptyCall final : public UnaryCall {
 public:
  using UnaryCall::UnaryCall;

 private:
  void OnRequest(StoredBytes message) override {
    if (!message.bytes.empty()) return Finish(Malformed());
    SendMessage(FrameMessage(""));
    Finish({});
  }
  void OnCancelled() override {}
};

/// UnaryCall.
class SimpleCall final : public UnaryCall {
 public:
  explicit SimpleCall(const CallOrigin& origin)
      : UnaryCall(origin, ResponseFraming(origin.context, origin.head)) {
    response_metadata = EchoMetadata(origin);
  }

 private:
  void OnRequest(StoredBytes message) override {
    grpc::testing::SimpleRequest request;
    if (!Parse(message, &request)) return Finish(Malformed());
    if (!IsAsExpected(message, request.has_expect_compressed(),
                      request.expect_compressed().value())) {
      return Finish(Unexpected());
    }
    if (request.has_response_status() && request.response_status().code() != 0) {
      return Finish({request.response_status().code(), request.response_status().message()});
    }
    grpc::testing::SimpleResponse response;
    if (!SetPayload(request.response_size(), response.mutable_payload())) {
      return Finish({kInvalidArgument, "response_size"});
    }
    Delivery delivery;
    delivery.message = FrameMessage(response.SerializeAsString());
    if (request.response_compressed().value()) return CompleteAndDeliver(std::move(delivery));
    OnDelivery(std::move(delivery));
  }
  void OnCancelled() override {}
};

/// StreamingInputCall.
class InputCall final : public Call {
 public:
  using Call::Call;

 private:
  void OnMessage(StoredBytes message) override {
    grpc::testing::StreamingInputCallRequest request;
    if (!Parse(message, &request)) return End(Malformed());
    if (!IsAsExpected(message, request.has_expect_compressed(),
                      request.expect_compressed().value())) {
      return End(Unexpected());
    }
    size_ += request.payload().body().size();
  }
  void OnHalfClose() override {
    grpc::testing::StreamingInputCallResponse response;
    response.set_aggregated_payload_size(static_cast<int32_t>(size_));
    SendMessage(FrameMessage(response.SerializeAsString()));
    Finish({});
  }
  void OnDelivery(Delivery) override {}
  bool IsIdle() const override { return true; }
  void OnCancelled() override {}

  size_t size_ = 0;
};

/// StreamingOutputCall, which has one request, and FullDuplexCall: sends the responses that the
/// requests ask for, in order, each after its interval.
class OutputCall final : public Call {
 public:
  explicit OutputCall(const CallOrigin& origin)
      : Call(origin, ResponseFraming(origin.context, origin.head)) {
    response_metadata = EchoMetadata(origin);
  }

 private:
  void OnMessage(StoredBytes message) override {
    grpc::testing::StreamingOutputCallRequest request;
    if (!Parse(message, &request)) return End(Malformed());
    if (request.has_response_status() && request.response_status().code() != 0) {
      return End({request.response_status().code(), request.response_status().message()});
    }
    for (const auto& wanted : request.response_parameters()) wanted_.push_back(wanted);
    Advance();
  }
  void OnHalfClose() override {
    half_closed_ = true;
    Advance();
  }
  void OnAlarm() {
    SendOne();
    Advance();
  }

  void Advance() {
    while (!finished() && !alarm_.is_set() && !wanted_.empty()) {
      const int32_t wait_us = wanted_.front().interval_us();
      if (wait_us <= 0) {
        SendOne();
        continue;
      }
      loop_.SetTimer(alarm_, loop_.NowNs() + uint64_t{1000} * static_cast<uint32_t>(wait_us));
    }
    if (half_closed_ && wanted_.empty() && !alarm_.is_set()) Finish({});
  }

  void SendOne() {
    const grpc::testing::ResponseParameters wanted = wanted_.front();
    wanted_.pop_front();
    grpc::testing::StreamingOutputCallResponse response;
    if (!SetPayload(wanted.size(), response.mutable_payload())) {
      return End({kInvalidArgument, "response_parameters.size"});
    }
    auto message = FrameMessage(response.SerializeAsString());
    if (wanted.compressed().value()) framing().Complete(&message);
    SendMessage(std::move(message));
  }

  void OnDelivery(Delivery) override {}
  bool IsIdle() const override { return wanted_.empty(); }
  void OnCancelled() override {
    loop_.CancelTimer(alarm_);
    wanted_.clear();
  }

  frontend::net::MemberTimer<OutputCall, &OutputCall::OnAlarm> alarm_{*this};
  bool half_closed_ = false;
  std::deque<grpc::testing::ResponseParameters> wanted_;
};

}  // namespace

std::shared_ptr<Call> MakeTestCall(const CallOrigin& origin, CallStatus* refusal) {
  constexpr std::string_view kService = "/grpc.testing.TestService/";
  const std::string_view path = origin.head.path;
  if (path.starts_with(kService)) {
    const std::string_view method = path.substr(kService.size());
    if (method == "EmptyCall") return std::make_shared<EmptyCall>(origin);
    if (method == "UnaryCall") return std::make_shared<SimpleCall>(origin);
    if (method == "StreamingInputCall") return std::make_shared<InputCall>(origin);
    if (method == "StreamingOutputCall" || method == "FullDuplexCall") {
      return std::make_shared<OutputCall>(origin);
    }
  }
  *refusal = {frontend::grpc::kGrpcUnimplemented, "unknown method '" + std::string(path) + "'"};
  return nullptr;
}

}  // namespace nereid::interop
