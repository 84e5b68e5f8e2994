// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "nereid/backend/model_config.h"

namespace nereid::tensorflow {

using backend::Error;

/// Reads a file that should hold a protobuf message: NOT_FOUND where it cannot be read, INVALID_ARG
/// where it is empty or too large for one. `what` ("GraphDef") says in messages what it should be.
Error ReadMessageFile(const backend::ModelConfig& config, const std::string& path,
                      const std::string& what, std::string* bytes);

/// The tags of each meta graph of a serialized tensorflow.SavedModel, sorted
/// (saved_model.proto: meta_graphs = 2; meta_graph.proto: meta_info_def = 1, tags = 4).
std::vector<std::vector<std::string>> ReadTags(std::string_view saved_model);

/// The tags that TF_GRAPH_TAG names, separated by commas, sorted; "serve" where it is absent.
std::vector<std::string> WantedTags(const backend::ModelConfig& config);

/// Looks at the folder of a SavedModel before TensorFlow does, which says little of what is
/// missing and takes a model without its variables for one that has none. `bytes` gets the content
/// of saved_model.pb, and `graph_def` the part of it that is the GraphDef with those tags; both are
/// empty where the folder holds the text form, which is not looked into.
Error OpenSavedModel(const backend::ModelConfig& config, const std::string& path,
                     const std::vector<std::string>& tags, std::string* bytes,
                     std::string_view* graph_def);

/// The operations that initialise a GraphDef's variables and tables: the list "init_ops" of the
/// JSON file that TF_INIT_OPS_FILE names, in the version's folder or else in the model's. Empty
/// where the parameter is absent.
Error ReadInitOps(const backend::ModelConfig& config, std::vector<std::string>* operations);

}  // namespace nereid::tensorflow
