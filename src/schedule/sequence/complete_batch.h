// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>

#include "request/sequence_inputs.h"
#include "schedule/batch_planner.h"

namespace nereid::schedule {

/// Adds the tensors that the server supplies to the requests of a batch of sequences, and fills its
/// padding rows. A request that cannot be completed is removed from the batch and passed to `fail`
/// with its error; the batch may be empty afterwards. Works on the batch alone, so it needs no
/// lock. Throws nothing that `fail` does not throw.
void CompleteSequenceBatch(const request::SequenceInputs& inputs, Batch* batch,
                           const std::function<void(Refusal)>& fail);

}  // namespace nereid::schedule
