// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>
#include <vector>

#include "framework/signature.h"
#include "nereid/backend/model_config.h"
#include "tensorflow/tf_api.h"

namespace nereid::tensorflow {

/// A model file in memory, ready to run. TensorFlow's sessions are thread-safe: all instances of a
/// model use one.
struct LoadedGraph {
  Owned<TF_Graph> graph;
  Owned<TF_Session> session;
  framework::ModelSignature signature;
  /// The graph's tensors behind signature.inputs and .outputs.
  std::vector<TF_Output> inputs;
  std::vector<TF_Output> outputs;
  /// A run may leave its inputs in a variable or the like, so that they must be copies.
  bool keeps_inputs = true;
};

/// Opens a GraphDef: the signature holds the tensors that the configuration names ("op" or
/// "op:index"), since the file has none of its own.
Error LoadGraphDef(const backend::ModelConfig& config, const std::string& path,
                   LoadedGraph* loaded);

/// Opens a SavedModel: the signature is the one that the parameters choose.
Error LoadSavedModel(const backend::ModelConfig& config, const std::string& path,
                     LoadedGraph* loaded);

}  // namespace nereid::tensorflow
