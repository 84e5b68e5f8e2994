// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>

#include "api/access/caller.h"
#include "api/inference_service.h"
#include "api/refused_requests.h"
#include "base/result.h"
#include "codec/proto/infer_request.h"
#include "frontend/grpc/message_encoding.h"
#include "frontend/grpc/request_head.h"
#include "frontend/grpc/server_context.h"

namespace nereid::frontend::grpc {

/// The model version to which a request goes.
struct InferTarget {
  int64_t version = -1;
  api::ModelTraits traits;
};

/// Returns the view object of the calling thread, for one message at a time.
codec::proto::InferRequestView& ThreadRequestView();

/// Parses a message. The errors are those of InferRequestView::Parse.
base::Status ParseRequest(const StoredBytes& message, codec::proto::InferRequestView* view);

/// Finds the model of a request. Returns UNAVAILABLE while the server stops.
base::Result<InferTarget> FindTarget(ServerContext& context,
                                     const codec::proto::InferRequestView& view);

/// What a call tells each of its requests.
struct CallFacts {
  uint64_t deadline_ns = 0;
  std::span<const api::HeaderField> fields;  // the metadata that was kept
};

/// Sets everything in `request` but its sink. The request then keeps the message alive.
base::Status FillRequest(const ServerContext& context, const codec::proto::InferRequestView& view,
                         const InferTarget& target, StoredBytes message, const CallFacts& call,
                         request::InferenceRequest* request,
                         codec::proto::ResponseOptions* response_options);

/// Counts the request as refused unless `status` is OK. Returns `status`.
base::Status Counted(ServerContext& context, api::RefusedAt at, base::Status status);

/// Returns whether a message takes too long to decode on an event loop: it has many bytes outside
/// of raw contents, or many bytes of strings, whose lengths must be checked.
bool IsHeavy(const StoredBytes& message);

/// Returns the time now, as the start of waiting for a message; 0 if nothing is traced.
uint64_t WaitStart(const ServerContext& context);

/// Returns a copy of a call's trace headers for its requests; null if there are none or they do not
/// matter.
std::unique_ptr<const tracing::TraceHeaders> TraceHeadersOf(const ServerContext& context,
                                                            const RequestHead& head);

/// Returns a trace if the request is selected, else null. `wait_start_ns` is WaitStart() of its
/// message, and `headers` TraceHeadersOf() its call. Must be called before the submission.
std::shared_ptr<tracing::RequestTrace> StartTrace(const ServerContext& context,
                                                  request::InferenceRequest& request,
                                                  uint64_t wait_start_ns,
                                                  const tracing::TraceHeaders* headers);

}  // namespace nereid::frontend::grpc
