// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "nereid/backend/error.h"

namespace nereid::openvino {

using backend::Error;

/// Refuses model files that would crash OpenVINO's reader or take it hours and gigabytes.
/// INVALID_ARG with `what` before the reason. Only OpenVINO's own files (.xml) are checked; other
/// files and directories pass.
Error CheckModelFile(const std::string& what, const std::string& path);

/// Does the same for the content of an .xml file. `weights_size` is the size of its weights in
/// bytes.
///
/// The format is OpenVINO IR, versions 10 and 11: net > layers > layer{id, type} with data{offset,
/// size}, input > port{id} and output > port{id} > dim, and net > edges > edge{from-layer,
/// from-port, to-layer, to-port}. A layer may contain the layers and edges of another network in
/// `body`, `then_body` and `else_body`.
Error CheckNetwork(const std::string& what, std::string_view xml, uint64_t weights_size);

}  // namespace nereid::openvino
