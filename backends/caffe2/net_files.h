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

/// The two nets of a model.
struct NetPair {
  caffe2_net::NetDef init;
  caffe2_net::NetDef predict;
};

/// Parses one serialised NetDef; `file` is what errors call it.
Error ParseNet(std::string_view bytes, const std::string& file, caffe2_net::NetDef* net);

/// Reads DIRECTORY/VERSION/default_model_filename (model.netdef where it is empty) and the file
/// beside it whose name has init_ in front. `*place` is the first one's path.
Error ReadNets(const ModelConfig& config, NetPair* nets, std::string* place);

}  // namespace nereid::caffe2
