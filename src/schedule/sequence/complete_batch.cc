// SPDX-License-Identifier: Apache-2.0
#include "schedule/sequence/complete_batch.h"

#include <new>
#include <utility>

namespace nereid::schedule {

using base::Status;

namespace {

Status Attach(const request::SequenceInputs& inputs, request::InferenceRequest& request) {
  try {
    return inputs.Attach(request, std::exchange(request.states, nullptr));
  } catch (const std::bad_alloc&) {
    return Status::Unavailable("out of memory");  // short enough to need no memory itself
  }
}

base::Result<RequestPtr> MakePadding(const request::SequenceInputs& inputs,
                                     const request::InferenceRequest& reference) {
  try {
    return inputs.NewNullRequest(reference);
  } catch (const std::bad_alloc&) {
    return Status::Unavailable("out of memory");
  }
}

void Fail(RequestPtr& request, Status error, const std::function<void(Refusal)>& fail) {
  fail({std::move(request), std::move(error), telemetry::FailureReason::kOther});
}

}  // namespace

void CompleteSequenceBatch(const request::SequenceInputs& inputs, Batch* batch,
                           const std::function<void(Refusal)>& fail) {
  const request::InferenceRequest* reference = nullptr;
  for (RequestPtr& request : batch->requests) {
    if (request == nullptr) continue;
    Status status = Attach(inputs, *request);
    if (status.ok()) {
      reference = request.get();
    } else {
      Fail(request, std::move(status), fail);
    }
  }
  // No padding is needed after the last request that is left.
  while (!batch->requests.empty() && batch->requests.back() == nullptr) batch->requests.pop_back();
  batch->batch_size = batch->requests.size();
  for (RequestPtr& row : batch->requests) {
    if (row != nullptr) continue;
    auto padding = MakePadding(inputs, *reference);
    if (padding.ok()) {
      row = std::move(*padding);
      continue;
    }
    // Without the padding row every later row would be the slot of another sequence.
    for (RequestPtr& request : batch->requests) {
      if (request != nullptr && !request->is_null) Fail(request, padding.status(), fail);
    }
    batch->requests.clear();
    return;
  }
}

}  // namespace nereid::schedule
