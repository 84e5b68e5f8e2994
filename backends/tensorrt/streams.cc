// SPDX-License-Identifier: Apache-2.0
#include "tensorrt/streams.h"

namespace nereid::tensorrt {

Error Streams::Create(bool busy_wait, bool output_stream, int priority) {
  own_outputs_ = output_stream;
  NEREID_BACKEND_TRY(inputs_.Create(gpu_, priority));
  NEREID_BACKEND_TRY(compute_.Create(gpu_, priority));
  if (output_stream) {
    NEREID_BACKEND_TRY(outputs_.Create(gpu_, priority));
  }
  NEREID_BACKEND_TRY(copied_.Create(gpu_, busy_wait));
  NEREID_BACKEND_TRY(computed_.Create(gpu_, busy_wait));
  return done_.Create(gpu_, busy_wait);
}

Error Streams::InputsAreCopied() {
  NEREID_BACKEND_TRY(copied_.Record(inputs_));
  return copied_.Delay(compute_);
}

Error Streams::ComputationIsQueued() {
  if (!own_outputs_) {
    return {};
  }
  NEREID_BACKEND_TRY(computed_.Record(compute_));
  return computed_.Delay(outputs_);
}

Error Streams::Wait() {
  NEREID_BACKEND_TRY(done_.Record(outputs()));
  return done_.Wait();
}

Error Streams::Settle() {
  bool settled = inputs_.Wait().ok();
  settled = compute_.Wait().ok() && settled;
  settled = outputs().Wait().ok() && settled;
  if (!settled) {
    const Error ignored = gpu_->Check(gpu_->driver().ContextSynchronize(), "finish all work");
  }
  return gpu_->CheckUsable();
}

}  // namespace nereid::tensorrt
