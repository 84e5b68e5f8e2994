// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "nereid/backend/model_config.h"

namespace nereid::tensorflow {

using backend::Error;

/// Reads a file that should contain a protobuf message. NOT_FOUND if it cannot be read, INVALID_ARG
/// if it is empty or too large. `what` ("GraphDef") is the expected kind in messages.
Error ReadMessageFile(const backend::ModelConfig& config, const std::string& path,
                      const std::string& what, std::string* bytes);

/// Returns the sorted tags of each meta graph in a serialized tensorflow.SavedModel
/// (saved_model.proto: meta_graphs = 2; meta_graph.proto: meta_info_def = 1, tags = 4).
std::vector<std::vector<std::string>> ReadTags(std::string_view saved_model);

/// Returns the tags in TF_GRAPH_TAG, which are separated by commas, sorted; "serve" if it is
/// absent.
std::vector<std::string> WantedTags(const backend::ModelConfig& config);

/// Checks the directory of a SavedModel before TensorFlow reads it, because TensorFlow reports
/// missing files poorly and treats missing variables as none. Sets `bytes` to the content of
/// saved_model.pb, and `meta_graph` to the part of it with the MetaGraphDef of these tags. Both are
/// empty if the directory contains the text form, which is not checked.
Error OpenSavedModel(const backend::ModelConfig& config, const std::string& path,
                     const std::vector<std::string>& tags, std::string* bytes,
                     std::string_view* meta_graph);

/// Returns the GraphDef in a serialized tensorflow.MetaGraphDef.
std::string_view GraphDefOf(std::string_view meta_graph);

/// Returns the operations that initialize a GraphDef's variables and tables: the list "init_ops" in
/// the JSON file of TF_INIT_OPS_FILE, which is in the version's or the model's directory. Empty if
/// the parameter is absent.
Error ReadInitOps(const backend::ModelConfig& config, std::vector<std::string>* operations);

}  // namespace nereid::tensorflow
