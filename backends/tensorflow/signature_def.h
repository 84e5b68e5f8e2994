// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "nereid/backend/error.h"

namespace nereid::tensorflow {

using backend::Error;

/// A function of a SavedModel: what clients call an input or output, and which tensor of the graph
/// that is ("serving_default_x:0").
struct SignatureDef {
  std::map<std::string, std::string> inputs;
  std::map<std::string, std::string> outputs;
};

/// The signatures of a serialized tensorflow.MetaGraphDef
/// (tensorflow/core/protobuf/meta_graph.proto: signature_def = 5), by name.
std::map<std::string, SignatureDef> ReadSignatures(std::string_view meta_graph);

/// The one to serve: `wanted`, or, where that is empty, "serving_default", else the first with
/// inputs and outputs. NOT_FOUND listing what there is.
Error ChooseSignature(const std::map<std::string, SignatureDef>& signatures,
                      const std::string& wanted, const std::string& model, SignatureDef* signature);

}  // namespace nereid::tensorflow
