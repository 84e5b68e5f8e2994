// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <vector>

#include "frontend/grpc/infer_submission.h"
#include "frontend/grpc/unary_call.h"
#include "request/cancellation.h"
#include "request/classify.h"
#include "request/response_sink.h"

namespace nereid::frontend::grpc {

/// The RPC ModelInfer: one request, one response.
class InferCall final : public UnaryCall, public request::ResponseSink {
 public:
  explicit InferCall(const CallOrigin& origin);
  ~InferCall() override;

  void Send(std::unique_ptr<request::InferenceResponse> response, bool final) noexcept override;
  base::Status LendOutput(request::Output* output, request::LentBytes bytes) noexcept override;

 private:
  void OnRequest(StoredBytes message) override;
  void OnCancelled() override;
  void OnDelivery(Delivery delivery) override;
  base::Status Submit(std::unique_ptr<request::InferenceRequest> request, StoredBytes message,
                      uint64_t deadline_ns);
  Delivery Answer();

  std::shared_ptr<request::Cancellation> cancellation_;  // of the running request
  const std::vector<api::HeaderField> fields_;           // the metadata that was kept; mostly none
  const uint64_t wait_start_ns_;
  const std::unique_ptr<const tracing::TraceHeaders> trace_headers_;  // null for most
  std::shared_ptr<tracing::RequestTrace> trace_;                      // null for most
  bool sending_ = false;
  // After the submission only the thread that sends the response uses these.
  std::unique_ptr<request::InferenceResponse> response_;
  int response_count_ = 0;
  std::vector<request::RequestedClasses> classifications_;  // set before submission
};

}  // namespace nereid::frontend::grpc
