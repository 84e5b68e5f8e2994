// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "base/byte_budget.h"
#include "tracing/request_tracer.h"

namespace nereid::frontend::http {

struct KserveOptions {
  /// Limit of the JSON part of a request, of each tensor given as JSON, of a raw binary input and
  /// of a decompressed body (--http-max-input-size).
  uint64_t max_input_size = 67'108'864;
  /// Bounds the memory of inflated bodies, together with all that the server receives. Null: no
  /// bound.
  std::shared_ptr<base::ByteBudget> receive_budget = nullptr;
  /// Lets the service run a cheap model on the event loop.
  bool run_inline = true;
  /// Which requests are traced; it must outlive the handler. Null: none, and nothing to set.
  tracing::RequestTracer* tracer = nullptr;
  /// --http-header-forward-pattern. Not supported yet: must be empty.
  std::string header_forward_pattern;
};

}  // namespace nereid::frontend::http
