// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "config/model_config.h"
#include "schedule/sequence/sequence.h"

namespace nereid::schedule {

/// The model parameter ("true" or "false") that asks for a synthetic END request.
inline constexpr const char* kSequenceEndNotice = "sequence_end_notice";

/// Returns whether the model wants to be told about sequences that end without an END request.
/// Returns INVALID_ARGUMENT, naming the parameter, if its value is neither "true" nor "false".
base::Result<bool> WantsSequenceEndNotice(const config::ModelConfig& config);

/// Creates the request that tells a backend that a sequence is over. It has the END flag, the
/// sequence's id, zeros for the required inputs (with size 1 for variable dimensions) and no
/// requested outputs; its responses are discarded. Returns null when memory is short or the size of
/// an input overflows.
RequestPtr MakeSequenceEndNotice(const config::ModelConfig& config, const Sequence& sequence,
                                 std::shared_ptr<const request::ModelIdentity> model);

}  // namespace nereid::schedule
