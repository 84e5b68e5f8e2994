// SPDX-License-Identifier: Apache-2.0
#include "python/extension/bound_batch.h"

namespace nereid::python {

BoundBatch::BoundBatch(const NEREID_BoundFunctions* functions, NEREID_BoundBatch* batch)
    : functions_(functions),
      batch_(batch),
      members_(functions->count(batch)),
      succeeded_(new bool[members_.size()]()) {
  for (uint32_t i = 0; i < count(); ++i) {
    members_[i].request = functions->request(batch, i);
    TRITONSERVER_ErrorDelete(
        TRITONBACKEND_ResponseFactoryNew(&members_[i].factory, members_[i].request));
  }
}

BoundBatch::~BoundBatch() { Finish(); }

TRITONSERVER_Error* BoundBatch::Check(uint32_t index) const {
  const char* problem = nullptr;
  if (index >= count()) {
    problem = "the batch has no such request";
  } else if (batch_ == nullptr) {
    problem = "the batch is finished";
  } else if (members_[index].final) {
    problem = "the request has its final response";
  } else if (members_[index].factory == nullptr) {
    problem = "the engine gave the request no way to answer";
  }
  return problem == nullptr ? nullptr
                            : TRITONSERVER_ErrorNew(TRITONSERVER_ERROR_INVALID_ARG, problem);
}

TRITONSERVER_Error* BoundBatch::NewResponse(uint32_t index, TRITONBACKEND_Response** response) {
  if (TRITONSERVER_Error* error = Check(index)) return error;
  return TRITONBACKEND_ResponseNewFromFactory(response, members_[index].factory);
}

TRITONSERVER_Error* BoundBatch::Send(uint32_t index, TRITONBACKEND_Response* response, bool final,
                                     TRITONSERVER_Error* error) {
  Member& member = members_[index];
  member.final = final;
  member.failed = member.failed || error != nullptr;
  return TRITONBACKEND_ResponseSend(response, final ? TRITONSERVER_RESPONSE_COMPLETE_FINAL : 0,
                                    error);
}

TRITONSERVER_Error* BoundBatch::SendFinal(uint32_t index) {
  if (TRITONSERVER_Error* error = Check(index)) return error;
  members_[index].final = true;
  return TRITONBACKEND_ResponseFactorySendFlags(members_[index].factory,
                                                TRITONSERVER_RESPONSE_COMPLETE_FINAL);
}

bool BoundBatch::IsCancelled(uint32_t index) const {
  if (index >= count() || batch_ == nullptr || members_[index].factory == nullptr) return false;
  bool cancelled = false;
  TRITONSERVER_ErrorDelete(
      TRITONBACKEND_ResponseFactoryIsCancelled(members_[index].factory, &cancelled));
  return cancelled;
}

void BoundBatch::Finish() {
  if (batch_ == nullptr) return;
  for (uint32_t i = 0; i < count(); ++i) {
    Member& member = members_[i];
    if (!member.final && member.factory != nullptr) TRITONSERVER_ErrorDelete(SendFinal(i));
    if (member.factory != nullptr) {
      TRITONSERVER_ErrorDelete(TRITONBACKEND_ResponseFactoryDelete(member.factory));
    }
    member.factory = nullptr;
    member.request = nullptr;
    succeeded_[i] = !member.failed;
  }
  functions_->finish(batch_, succeeded_.get());
  batch_ = nullptr;
}

}  // namespace nereid::python
