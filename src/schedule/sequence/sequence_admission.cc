// SPDX-License-Identifier: Apache-2.0
#include "schedule/sequence/sequence_admission.h"

#include <string>

namespace nereid::schedule {

using base::Status;
using request::InferenceRequest;

Status SequenceAdmission::Check(const InferenceRequest& request) const {
  // Triton's texts, which lack the request's id.
  const auto must_specify = [this](const char* what) {
    return Status::InvalidArgument("inference request to model '" + config_.name() +
                                   "' must specify " + what);
  };
  if (request.batch_size > 1) {
    return must_specify("batch-size 1 due to requirements of sequence batcher");
  }
  if (request::IsNone(request.correlation_id)) {
    if (config_.sequence_batching()->iterative) return Status::Ok();
    return must_specify("a non-zero or non-empty correlation ID");
  }
  return inputs_ == nullptr ? Status::Ok() : inputs_->CheckCorrelationId(request);
}

Status SequenceAdmission::NotStarted(const InferenceRequest& request) const {
  return Status::InvalidArgument(
      "inference request for sequence " + request::CorrelationIdText(request.correlation_id) +
      " to model '" + config_.name() +
      "' must specify the START flag on the first request of the sequence");
}

base::Result<Sequence*> SequenceAdmission::FindOrBegin(InferenceRequest& request,
                                                       SequenceTable& table, uint64_t now_ns) {
  const bool internal = request::IsNone(request.correlation_id);
  if (internal) {
    // The model may tell sequences apart by their ids, so an internal id must not equal the id of a
    // client's live sequence.
    while (table.IsLive(next_internal_id_)) ++next_internal_id_;
  } else if (Sequence* const known = table.FindOpen(request.correlation_id)) {
    // Also a request with START joins the open sequence; SequenceInputs::Attach then resets its
    // states.
    return known;
  }
  if (table.slots() == 0) {
    return Status::Unavailable(request.LogPrefix() + "model '" + config_.name() +
                               "' has only passive instances");
  }
  if (!internal && (request.flags & request::kFlagSequenceStart) == 0) return NotStarted(request);
  auto states = inputs_ == nullptr ? nullptr : inputs_->NewStates();
  Sequence& begun =
      table.Begin(internal ? request::CorrelationId(next_internal_id_) : request.correlation_id,
                  internal, now_ns);
  // Nothing below fails.
  begun.model = request.model();
  begun.states = std::move(states);
  if (internal) {
    request.correlation_id = next_internal_id_++;
    request.flags |= request::kFlagSequenceStart;
  }
  return &begun;
}

}  // namespace nereid::schedule
