// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <utility>

#include "frontend/http/exchange_owner.h"
#include "frontend/http/loop_services.h"
#include "request/inference_response.h"
#include "request/response_sink.h"

namespace nereid::frontend::http {

/// The sink of a request with a deadline. The exchange itself is the sink of all other requests,
/// which costs no allocation. After a deadline has passed, however, the connection serves its next
/// request while the core may still send responses to the expired one: these arrive here, in an
/// object that the connection has left behind.
class DeadlineSink final : public request::ResponseSink,
                           public std::enable_shared_from_this<DeadlineSink> {
 public:
  /// `owner` keeps `loop` alive.
  DeadlineSink(std::shared_ptr<ExchangeOwner> owner, LoopServices& loop)
      : owner_(std::move(owner)), loop_(loop) {}

  void Send(std::unique_ptr<request::InferenceResponse> response,
            bool final) noexcept override;  // any thread

  // After the final response, on the loop's thread (or after the loop has ended):
  std::unique_ptr<request::InferenceResponse> TakeResponse() { return std::move(response_); }
  int response_count() const { return response_count_; }

 private:
  void OnFinal() { owner_->OnCompleted(shared_from_this()); }
  /// The loop has ended. The response refers to its sink, which is this object.
  void Drop() { response_.reset(); }

  const std::shared_ptr<ExchangeOwner> owner_;
  LoopServices& loop_;
  std::unique_ptr<request::InferenceResponse> response_;
  int response_count_ = 0;
  net::MemberTask<DeadlineSink, &DeadlineSink::OnFinal, &DeadlineSink::Drop> completion_{*this};
};

}  // namespace nereid::frontend::http
