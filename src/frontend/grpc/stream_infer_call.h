// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string_view>
#include <vector>

#include "base/byte_budget.h"
#include "frontend/grpc/call.h"
#include "frontend/grpc/infer_submission.h"
#include "request/cancellation.h"

namespace nereid::frontend::grpc {

/// The RPC ModelStreamInfer: any number of requests, for any models. Responses of models that are
/// not decoupled are sent in the order of their requests, those of decoupled models as they are
/// made. The bytes of responses that wait for the client are limited: a request that exceeds the
/// limit ends with an error, and the client's next requests are not received before it reads.
class StreamInferCall final : public Call {
 public:
  explicit StreamInferCall(const CallOrigin& origin);

  void OnDelivery(Delivery delivery) override;

 private:
  struct Held {
    codec::proto::EncodedMessage message;
    base::ByteShare waiting;
  };
  struct Running {
    std::shared_ptr<request::Cancellation> cancellation;  // null if refused before submission
    std::vector<Held> held;                               // until the earlier requests are complete
    bool complete = false;
    std::shared_ptr<tracing::RequestTrace> trace;      // null for most
    std::unique_ptr<api::AccessRecord> access_record;  // null if the access log is off
    int code = kGrpcOk;                                // for the access log
  };
  using RunningRequests = std::map<uint64_t, Running>;

  struct Prepared;

  void OnMessage(StoredBytes message) override;
  void OnHalfClose() override;
  bool IsIdle() const override { return ordered_.empty() && decoupled_.empty(); }
  void OnCancelled() override;
  bool WantsLess() const override { return CallStream::WantsLess() || budget_->IsHalfSpent(); }

  /// Decodes a message. May be called by any thread.
  Prepared Prepare(StoredBytes message, uint64_t deadline_ns) const;
  void BeginRequest(Prepared prepared);
  base::Status Submit(Prepared& prepared) const;
  void Bind(Prepared* prepared, uint64_t number, Running* running);
  void Refuse(uint64_t number, std::string_view id, const base::Status& status);
  static void StampSend(const Running& running, std::string_view name);
  /// Notes a response in the request's record for the access log, if there is one.
  static void Record(Running* running, const Delivery& delivery);
  /// Writes the record of a request that has ended with `code`. Does nothing the second time.
  void EndRecord(Running* running, int code) const;
  void Advance();
  void FinishIfDone();

  const bool errors_end_call_;
  const std::vector<api::HeaderField> fields_;  // the metadata that was kept; mostly none
  const std::shared_ptr<base::ByteBudget> budget_;
  bool half_closed_ = false;
  uint64_t next_number_ = 1;
  const std::unique_ptr<const tracing::TraceHeaders> trace_headers_;  // of all requests; or null
  uint64_t wait_start_ns_;   // when waiting for the next request began; 0: nothing is traced
  RunningRequests ordered_;  // not decoupled; the responses of the first one are sent
  RunningRequests decoupled_;
};

}  // namespace nereid::frontend::grpc
