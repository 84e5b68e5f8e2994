// SPDX-License-Identifier: Apache-2.0
// What the programs that call TensorFlow directly have in common.
#pragma once

#include <tensorflow/c/c_api.h>

#include <cstdlib>
#include <string>

#include "direct_calls/measure.h"

namespace nereid::bench {

/// Ends the program with TensorFlow's message if `status` is an error.
inline void Check(TF_Status* status) {
  if (TF_GetCode(status) != TF_OK) Fail(TF_Message(status));
}

/// Returns the tensor of the graph that is called "name" or "name:2".
inline TF_Output Find(TF_Graph* graph, const std::string& name) {
  const size_t colon = name.rfind(':');
  TF_Operation* operation = TF_GraphOperationByName(graph, name.substr(0, colon).c_str());
  if (operation == nullptr) Fail("the graph has no operation '" + name + "'");
  return {operation, colon == std::string::npos ? 0 : std::atoi(name.c_str() + colon + 1)};
}

}  // namespace nereid::bench
