// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "nereid/backend/error.h"

namespace nereid::tensorflow {

using backend::Error;

/// The serialized tensorflow.OpDef of an operation; false where there is none of that name.
using FindOpDef = std::function<bool(const std::string& name, std::string* op_def)>;

/// Looks at a serialized tensorflow.GraphDef before TensorFlow does, for what makes TensorFlow end
/// the process or take memory and time without bound where it should refuse the file:
///
/// - an operation that it does not have (its own message names the machine);
/// - an attribute that stands for another one outside of a function (a failed CHECK in the pass
///   that lays tensors out for oneDNN);
/// - a count of inputs larger than the inputs that are there, or a huge count of outputs (lists of
///   that length are made first);
/// - a constant that is not of its node's type, a call that does not fit its function;
/// - a constant whose shape is impossible, or far larger than what is written of it.
///
/// What is no GraphDef at all passes: TensorFlow says so itself. `what` ("model 'm': the graph in
/// PATH") starts the messages.
Error CheckGraphDef(std::string_view graph_def, const std::string& what,
                    const FindOpDef& find_op_def);

}  // namespace nereid::tensorflow
