// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "caffe2_net.pb.h"
#include "nereid/backend/error.h"
#include "nereid/backend/model_config.h"

namespace nereid::caffe2 {

using backend::Error;
using backend::ModelConfig;

/// The two nets of a model: the init net fills the weights, the predict net computes.
struct NetPair {
  caffe2_net::NetDef init;
  caffe2_net::NetDef predict;
};

/// Parses a serialized NetDef. `file` is its name in errors. INVALID_ARG if it is damaged, or has
/// too many operators or a name that is not UTF-8.
Error ParseNet(std::string_view bytes, const std::string& file, caffe2_net::NetDef* net);

/// Reads both nets: DIRECTORY/VERSION/default_model_filename (model.netdef if that is empty), and
/// the file beside it with the prefix init_. Sets `*place` to the path of the first.
Error ReadNets(const ModelConfig& config, NetPair* nets, std::string* place);

}  // namespace nereid::caffe2
