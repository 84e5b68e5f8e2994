// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "api/shared_memory.h"
#include "frontend/http/exchange.h"
#include "frontend/http/off_loop.h"
#include "frontend/http/route.h"

namespace nereid::frontend::http {

/// The status, register and unregister operations of /v2/systemsharedmemory and
/// /v2/cudasharedmemory.
class SharedMemoryEndpoint {
 public:
  /// `workers` carry out the operations, which open and unmap files.
  SharedMemoryEndpoint(api::SharedMemory& memory, OffLoop& workers)
      : memory_(memory), workers_(workers) {}

  /// Replies to a request whose route has one of these operations. The views in `route` are parts
  /// of the exchange's target.
  void Handle(Exchange& exchange, const Route& route) const;

 private:
  base::Result<std::string> Answer(const Route& route, Exchange& exchange) const;
  base::Status Register(const Route& route, Exchange& exchange) const;

  api::SharedMemory& memory_;
  OffLoop& workers_;
};

}  // namespace nereid::frontend::http
