// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "frontend/grpc/call.h"

namespace nereid::frontend::grpc {

/// A call with exactly one request message.
class UnaryCall : public Call {
 public:
  using Call::Call;

 protected:
  /// The request is complete.
  virtual void OnRequest(StoredBytes message) = 0;
  void OnDelivery(Delivery delivery) override;

 private:
  void OnMessage(StoredBytes message) final;
  void OnHalfClose() final;
  bool IsIdle() const override { return !is_complete_; }
  bool AwaitsBytes() const final { return true; }

  std::optional<StoredBytes> request_;  // until the client half-closes
  bool is_complete_ = false;            // OnRequest() was called
};

}  // namespace nereid::frontend::grpc
