// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "api/statistics.h"

namespace nereid::codec::json {

/// Returns the response body of a model's live sequences, an operation that only HTTP has.
std::string EncodeSequences(const api::SequenceList& list);

}  // namespace nereid::codec::json
