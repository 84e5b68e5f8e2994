// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "api/shared_memory.h"
#include "frontend/http/exchange.h"
#include "frontend/http/route.h"

namespace nereid::frontend::http {

/// The status, register and unregister operations of /v2/systemsharedmemory and
/// /v2/cudasharedmemory.
class SharedMemoryEndpoint {
 public:
  explicit SharedMemoryEndpoint(api::SharedMemory& memory) : memory_(memory) {}

  /// Carries out the operation of a route, which opens or unmaps files, and returns the document of
  /// the reply. The views in `route` are parts of the exchange's target.
  base::Result<std::string> Document(const Route& route, Exchange& exchange) const;

 private:
  base::Status Register(const Route& route, Exchange& exchange) const;

  api::SharedMemory& memory_;
};

}  // namespace nereid::frontend::http
