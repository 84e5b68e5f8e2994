// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "frontend/grpc/call.h"

namespace nereid::frontend::grpc {

/// The RPC of server reflection: answers each request for descriptors of the services, in order.
/// The messages of v1 and v1alpha are the same.
class ReflectionCall final : public Call {
  static constexpr size_t kMaxUnsent = size_t{256} << 10;

 public:
  using Call::Call;

 private:
  bool WantsLess() const override { return CallStream::WantsLess() || unsent() > kMaxUnsent; }
  void OnMessage(StoredBytes message) override;
  void OnHalfClose() override { Finish({}); }
  bool IsIdle() const override { return true; }
  void OnCancelled() override {}
  void OnDelivery(Delivery) override {}
};

}  // namespace nereid::frontend::grpc
