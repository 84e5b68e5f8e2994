// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "config/model_config.h"
#include "schedule/sequence/sequence.h"

namespace nereid::schedule {

/// The model's own parameter that asks for a synthetic END.
inline constexpr const char* kSequenceEndNotice = "sequence_end_notice";

/// Whether the model wants to be told of sequences that end without an END. INVALID_ARGUMENT naming
/// the parameter where it is neither "true" nor "false".
base::Result<bool> WantsSequenceEndNotice(const config::ModelConfig& config);

/// The request that tells a backend that a sequence is over: END, the sequence's id, zeros for the
/// configured inputs (1 for a variable dimension; optional ones are left out), no outputs. Nobody
/// waits for it. Null when memory is short or an input's size is no number.
RequestPtr MakeSequenceEndNotice(const config::ModelConfig& config, const Sequence& sequence,
                                 std::shared_ptr<const request::ModelIdentity> model);

}  // namespace nereid::schedule
