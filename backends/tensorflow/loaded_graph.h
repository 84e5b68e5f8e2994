// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>
#include <vector>

#include "framework/signature.h"
#include "nereid/backend/model_config.h"
#include "tensorflow/tf_api.h"

namespace nereid::tensorflow {

/// A loaded model. TensorFlow's sessions are thread-safe, so all instances of a model share one.
struct LoadedGraph {
  Owned<TF_Graph> graph;
  Owned<TF_Session> session;
  framework::ModelSignature signature;
  /// The tensors of the graph for signature.inputs and signature.outputs.
  std::vector<TF_Output> inputs;
  std::vector<TF_Output> outputs;
  /// Whether a run may keep its inputs, in a variable for example. Inputs must then be copied.
  bool keeps_inputs = true;
};

/// Opens a GraphDef. Its signature consists of the tensors in the configuration ("op" or
/// "op:index"), because the file has none.
Error LoadGraphDef(const backend::ModelConfig& config, const std::string& path,
                   LoadedGraph* loaded);

/// Opens a SavedModel. The parameters select its signature.
Error LoadSavedModel(const backend::ModelConfig& config, const std::string& path,
                     LoadedGraph* loaded);

}  // namespace nereid::tensorflow
