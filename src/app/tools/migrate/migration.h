// SPDX-License-Identifier: Apache-2.0
// What the configuration of another server says, in the terms of a model repository.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"

namespace nereid::app::tools {

/// The server whose configuration is converted.
enum class OtherServer { kTensorFlowServing, kOpenVinoModelServer };

/// The versions of a model that are served.
struct MigratedVersions {
  enum class Kind { kLatest, kAll, kSpecific };
  Kind kind = Kind::kLatest;
  int64_t count = 1;              // of kLatest
  std::vector<int64_t> versions;  // of kSpecific
};

/// A model. What this server cannot do with it is in `notes`, a sentence each.
struct MigratedModel {
  std::string name;
  std::string base_path;  // the folder whose subfolders are versions
  MigratedVersions versions;
  std::map<std::string, int64_t> labels;  // of versions
  int32_t max_batch_size = 0;
  int64_t queue_delay_us = 0;  // how long a batch waits for further requests
  std::optional<int64_t> instances;
  std::vector<std::pair<std::string, std::string>> parameters;  // of the backend
  /// Shapes of inputs that replace those of the file; the key "" is the model's only input.
  std::map<std::string, std::vector<int64_t>> shapes;
  /// The first dimension of every input, -1 for any; unset if it is that of the file.
  std::optional<int64_t> batch;
  std::vector<std::string> notes;
  std::vector<std::string> hints;  // what is left to do, a sentence each
};

/// A tensor of a node of a pipeline.
struct PipelineTensor {
  std::string node;  // "request" for the inputs of the pipeline
  std::string item;
};

/// A step of a pipeline: a model that gets the outputs of other steps.
struct PipelineNode {
  std::string name;
  std::string model;
  std::optional<int64_t> version;
  std::vector<std::pair<std::string, PipelineTensor>> inputs;  // by the model's input
  std::vector<std::pair<std::string, std::string>> outputs;    // item → the model's output
  std::string obstacle;  // why an ensemble cannot have such a step; "" if it can
};

/// A pipeline, which becomes an ensemble.
struct MigratedPipeline {
  std::string name;
  std::vector<std::string> inputs;
  std::vector<PipelineNode> nodes;
  std::vector<std::pair<std::string, PipelineTensor>> outputs;  // by the name of the output
  std::string obstacle;
};

struct Migration {
  OtherServer from = OtherServer::kTensorFlowServing;
  std::vector<MigratedModel> models;
  std::vector<MigratedPipeline> pipelines;
  std::vector<std::string> notes;  // what is not carried over, a sentence each
};

/// Reads the model_config_list of TensorFlow Serving's --model_config_file (protobuf's text format
/// of tensorflow.serving.ModelServerConfig), and, if it is not empty, the text of its
/// --batching_parameters_file. Returns INVALID_ARGUMENT with line and column for another text.
base::Result<Migration> ReadTensorFlowServing(std::string_view models, std::string_view batching);

/// Reads the configuration file of OpenVINO Model Server (JSON). Returns INVALID_ARGUMENT for a
/// text that is no JSON, and for values of another type than the server takes.
base::Result<Migration> ReadOpenVinoModelServer(std::string_view json);

/// Returns an error if two models or pipelines have one name, or a name that no folder can have.
base::Status CheckNames(const Migration& migration);

}  // namespace nereid::app::tools
