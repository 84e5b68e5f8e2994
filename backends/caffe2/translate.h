// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>
#include <vector>

#include "caffe2/graph.h"
#include "caffe2/net_files.h"

namespace nereid::caffe2 {

/// An input that is provided for each run.
struct NetInput {
  std::string name;
  Type type = Type::kFloat;
  Shape shape;
};

struct Translation {
  /// A serialized ONNX model.
  std::string model;
  /// Maps the names of graph outputs to those of the net where they differ because an input has the
  /// same name.
  std::map<std::string, std::string> output_names;
};

/// The number of bytes that fill operators may generate, in addition to the data in the files.
constexpr int64_t kFillRoom = int64_t{1} << 30;

/// Translates both nets to one ONNX graph: first the operators of the init net, then those of the
/// other. A blob gets a new name at each write, because ONNX names are written once. `inputs`
/// replace blobs that the init net writes. The outputs are those in external_output.
Error TranslateNets(const NetPair& nets, const std::vector<NetInput>& inputs, int64_t fill_room,
                    Translation* translation);

/// Determines the inputs of a run: the inputs, controls, states and batch inputs of the
/// configuration. If it lists no inputs, also the external inputs that the init net does not fill,
/// or fills with a placeholder. Their types and dimensions are derived from the operators that read
/// them first; INVALID_ARG if that is impossible.
Error FindInputs(const NetPair& nets, const ModelConfig& config, std::vector<NetInput>* inputs);

}  // namespace nereid::caffe2
