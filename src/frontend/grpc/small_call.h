// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "frontend/grpc/unary_call.h"
#include "frontend/grpc/unary_methods.h"

namespace nereid::frontend::grpc {

/// A call of one of the methods of unary_methods.h.
class SmallCall final : public UnaryCall {
 public:
  SmallCall(const CallOrigin& origin, const UnaryMethod& method)
      : UnaryCall(origin), method_(method) {}

 private:
  void OnRequest(StoredBytes message) override;
  void OnDelivery(Delivery delivery) override;
  void OnCancelled() override { client_.Cancel(); }
  Delivery Answer(std::string_view request);
  /// Calls Answer() and delivers the result. Runs on a worker's thread.
  void AnswerOffLoop(std::string_view request);

  const UnaryMethod& method_;
  request::Cancellation client_;
};

}  // namespace nereid::frontend::grpc
