// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>
#include <vector>

#include "framework/signature.h"
#include "nereid/backend/model_config.h"
#include "tensorflow/tf_api.h"

namespace nereid::tensorflow {

/// A loaded model. TensorFlow's sessions are thread-safe, so instances may share one.
struct LoadedGraph {
  Owned<TF_Graph> graph;
  Owned<TF_Session> session;
  framework::ModelSignature signature;
  /// The tensors of the graph for signature.inputs and signature.outputs.
  std::vector<TF_Output> inputs;
  std::vector<TF_Output> outputs;
  /// Whether a run may change the state of the session, such as a variable. It may keep its inputs
  /// there, so they must be copied; and instances that share the session meet in that state.
  bool changes_state = true;
};

/// Opens a GraphDef. Its signature consists of the tensors in the configuration ("op" or
/// "op:index"), because the file has none.
Error LoadGraphDef(const backend::ModelConfig& config, const std::string& path,
                   LoadedGraph* loaded);

/// Opens a SavedModel. The parameters select its signature.
Error LoadSavedModel(const backend::ModelConfig& config, const std::string& path,
                     LoadedGraph* loaded);

}  // namespace nereid::tensorflow
