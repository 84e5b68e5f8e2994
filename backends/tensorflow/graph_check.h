// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "nereid/backend/error.h"

namespace nereid::tensorflow {

using backend::Error;

/// Gets the serialized tensorflow.OpDef of an operation. Returns false if there is no operation
/// with this name.
using FindOpDef = std::function<bool(const std::string& name, std::string* op_def)>;

/// Checks a serialized tensorflow.GraphDef for errors at which TensorFlow ends the process, or
/// takes unlimited memory or time, instead of refusing the file:
///
/// - an unknown operation (TensorFlow's own message would contain the host's name);
/// - an attribute that refers to another one outside of a function (a failed CHECK in the pass
///   that lays out tensors for oneDNN);
/// - a count of inputs above the number of inputs, or a huge count of outputs (TensorFlow first
///   creates lists of that length);
/// - a constant whose type is not that of its node, or a call that does not match its function;
/// - a constant with an impossible shape, or one far larger than its data in the file.
///
/// Bytes that are not a GraphDef pass, because TensorFlow reports that. `what` ("model 'm': the
/// graph in PATH") begins the messages.
Error CheckGraphDef(std::string_view graph_def, const std::string& what,
                    const FindOpDef& find_op_def);

}  // namespace nereid::tensorflow
