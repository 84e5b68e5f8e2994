// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>

#include "api/inference_service.h"
#include "base/result.h"
#include "codec/proto/infer_request.h"
#include "frontend/grpc/message_encoding.h"
#include "frontend/grpc/server_context.h"

namespace nereid::frontend::grpc {

/// The model that a request names.
struct InferTarget {
  int64_t version = -1;
  api::ModelTraits traits;
};

/// A view object of the calling thread, for one message at a time.
codec::proto::InferRequestView& ThreadRequestView();

/// Finds the model. UNAVAILABLE while the server stops.
base::Result<InferTarget> FindTarget(ServerContext& context,
                                     const codec::proto::InferRequestView& view);

/// Fills in the request, which keeps the message alive; all but its sink is set.
base::Status FillRequest(const ServerContext& context, const codec::proto::InferRequestView& view,
                         const InferTarget& target, StoredBytes message, uint64_t deadline_ns,
                         request::InferenceRequest* request, codec::proto::ResponseOptions* response_options);

/// Whether decoding and checking the message takes longer than an event loop has: it has much that
/// is not raw contents, or long raw contents of elements whose lengths must be checked.
bool IsHeavy(std::string_view message);

/// The time at which a message begins to be waited for; 0 where nothing is traced.
uint64_t WaitStart(const ServerContext& context);

/// Traces the request if it is one of those to be traced, whose message began to be waited for at
/// `wait_start_ns`. Before its submission; null for all others.
std::shared_ptr<tracing::RequestTrace> StartTrace(const ServerContext& context,
                                                  request::InferenceRequest& request,
                                                  uint64_t wait_start_ns);

}  // namespace nereid::frontend::grpc
