// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "nereid/backend/error.h"

namespace nereid::openvino {

using backend::Error;

/// Refuses what OpenVINO's reader does not survive or answers with hours and gigabytes. The errors
/// begin with `what`. Files other than OpenVINO's own (.xml) pass; folders do, too.
Error CheckModelFile(const std::string& what, const std::string& path);

/// The same for the content of an .xml file whose weights have `weights_size` bytes.
///
/// OpenVINO IR, versions 10 and 11: net > layers > layer{id, type} with data{offset, size},
/// input > port{id} and output > port{id} > dim, and net > edges >
/// edge{from-layer, from-port, to-layer, to-port}. Layers may hold a net's layers and edges in
/// `body`, `then_body` and `else_body`.
Error CheckNetwork(const std::string& what, std::string_view xml, uint64_t weights_size);

}  // namespace nereid::openvino
