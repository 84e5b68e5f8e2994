// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "tensorflow/graph_check.h"

namespace nereid::tensorflow {

/// Whether a run that fetches `outputs` ("operation:index") may leave what it was fed in the state
/// of the session: in a variable, a queue, a table. Answers yes for every stateful operation on the
/// way that is not known to keep nothing. `graph_def` is a serialized tensorflow.GraphDef.
bool MayKeepInputs(std::string_view graph_def, const std::vector<std::string>& outputs,
                   const FindOpDef& find_op_def);

}  // namespace nereid::tensorflow
