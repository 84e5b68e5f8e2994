// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "api/access/access_gate.h"
#include "api/input_memory.h"
#include "api/refused_requests.h"
#include "base/byte_budget.h"
#include "tracing/request_tracer.h"

namespace nereid::frontend::http {

/// Settings of the KServe handler.
struct KserveOptions {
  /// The maximum size of the JSON part of a request, of each tensor given as JSON, of a raw binary
  /// input and of an inflated body (--http-max-input-size).
  uint64_t max_input_size = 67'108'864;
  /// Bounds the memory of inflated bodies together with everything else that the server receives.
  /// Null: no bound.
  std::shared_ptr<base::ByteBudget> receive_budget = nullptr;
  /// Like HttpServerOptions::binary_type, for replies; a literal. Empty: they have the field
  /// Inference-Header-Content-Length.
  std::string_view binary_type = {};
  /// Whether the service may run a model with short executions on the event loop.
  bool run_inline = true;
  /// Selects the requests to be traced; must outlive the handler. Null: no tracing and no trace
  /// settings.
  tracing::RequestTracer* tracer = nullptr;
  /// The field whose value names the sequence of a request that names none; it must be among
  /// HttpServerOptions::kept_fields. Empty: there is none.
  std::string sequence_field = {};
  /// Where large inputs are received. Null: in memory of the front end.
  api::InputMemorySource take_input_memory = nullptr;
  /// Decides who may call what. Null: everyone may do everything.
  std::shared_ptr<const api::AccessGate> gate = nullptr;
  /// As which front end refused requests are counted.
  api::FrontEnd front_end = api::FrontEnd::kHttp;
};

}  // namespace nereid::frontend::http
