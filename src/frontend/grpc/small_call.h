// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "frontend/grpc/unary_call.h"
#include "frontend/grpc/unary_methods.h"

namespace nereid::frontend::grpc {

/// A call of one of the methods of unary_methods.h.
class SmallCall final : public UnaryCall {
 public:
  /// `roles` are those of the caller.
  SmallCall(const CallOrigin& origin, const UnaryMethod& method, api::RoleSet roles)
      : UnaryCall(origin), method_(method), roles_(roles) {}

 private:
  void OnRequest(StoredBytes message) override;
  void OnDelivery(Delivery delivery) override;
  void OnCancelled() override { client_.Cancel(); }
  Delivery Answer(std::string_view request);
  /// Calls Answer() and delivers the result. Runs on a worker's thread.
  void AnswerOffLoop(std::string_view request);

  const UnaryMethod& method_;
  const api::RoleSet roles_;
  request::Cancellation client_;
};

}  // namespace nereid::frontend::grpc
