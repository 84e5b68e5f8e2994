// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "tensorflow/graph_check.h"

namespace nereid::tensorflow {

/// Returns whether a run that fetches `outputs` ("operation:index") may change the state of the
/// session, such as a variable, a queue or a table, and so also keep its inputs there. The answer
/// is true for every operation that the outputs depend on and that is stateful or takes a variable
/// or resource, unless it is known to change nothing. `graph_def` is a serialized
/// tensorflow.GraphDef.
bool MayChangeState(std::string_view graph_def, const std::vector<std::string>& outputs,
                    const FindOpDef& find_op_def);

}  // namespace nereid::tensorflow
