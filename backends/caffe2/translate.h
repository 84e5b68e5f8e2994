// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>
#include <vector>

#include "caffe2/graph.h"
#include "caffe2/net_files.h"

namespace nereid::caffe2 {

/// An input that a client sends.
struct NetInput {
  std::string name;
  Type type = Type::kFloat;
  Shape shape;
};

struct Translation {
  /// A serialised ONNX model.
  std::string model;
  /// The names of graph outputs that differ from the net's, because an input has that name.
  std::map<std::string, std::string> output_names;
};

/// How much memory fills may make up that is in no file.
constexpr int64_t kFillRoom = int64_t{1} << 30;

/// Puts both nets into one ONNX graph: the init net's operators first, then the other's, each blob
/// renamed at each write. `inputs` are the blobs that clients send; they hide what the init net
/// writes to them. Outputs are external_output.
Error TranslateNets(const NetPair& nets, const std::vector<NetInput>& inputs, int64_t fill_room,
                    Translation* translation);

/// The blobs that a run is given: the inputs, controls, states and batch inputs of the
/// configuration. Where it has no inputs, also the external inputs that the init net does not fill,
/// or fills with a placeholder, as far as the operators that read them first tell their types and
/// dimensions.
Error FindInputs(const NetPair& nets, const ModelConfig& config, std::vector<NetInput>* inputs);

}  // namespace nereid::caffe2
