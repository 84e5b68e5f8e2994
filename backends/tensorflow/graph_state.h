// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "tensorflow/graph_check.h"

namespace nereid::tensorflow {

/// Returns whether a run that fetches `outputs` ("operation:index") may keep its inputs in the
/// state of the session, such as in a variable, a queue or a table. The answer is true for every
/// stateful operation that the outputs depend on, unless it is known to keep nothing. `graph_def`
/// is a serialized tensorflow.GraphDef.
bool MayKeepInputs(std::string_view graph_def, const std::vector<std::string>& outputs,
                   const FindOpDef& find_op_def);

}  // namespace nereid::tensorflow
