// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/status.h"
#include "request/inference_request.h"
#include "server/residency/model_gate.h"
#include "server/residency/wait_line.h"
#include "server/server_phase.h"

namespace nereid::server {

/// A call of another thread that waits for a model: a load for a client, or a question that needs
/// the model in memory.
struct WaitingCall {
  bool is_done = false;
  base::Status status = {};
  ModelGate::Pass pass = {};  // after a success, for a question
};

/// A request or a call that waits for a model; exactly one of both is set.
struct Waiter {
  std::string model;
  uint64_t since_ns = 0;
  std::unique_ptr<request::InferenceRequest> request = {};
  ServerPhase::Value refused_from = ServerPhase::Value::kEnding;
  std::shared_ptr<WaitingCall> call = {};
  bool is_load = false;  // the call is a load for a client
};

using Waiters = std::map<Ticket, Waiter>;

/// Returns when a request stops waiting: at its own deadline, at the end of its time in a queue, or
/// `max_wait_ns` after `now_ns`.
uint64_t ExpiryOf(const request::InferenceRequest& request, uint64_t now_ns, uint64_t max_wait_ns);

/// Sends `error` as the response of a request that no model has.
void RefuseUnserved(std::unique_ptr<request::InferenceRequest> request, base::Status error);

/// Returns the status of a request that was cancelled while it waited.
base::Status CancelledWhileWaiting(const request::InferenceRequest& request);

/// Returns the error of a request whose model could not be loaded. The error of a load becomes
/// UNAVAILABLE, because the request itself is not wrong.
base::Status LoadErrorForRequest(const std::string& model, const base::Status& error);

}  // namespace nereid::server
