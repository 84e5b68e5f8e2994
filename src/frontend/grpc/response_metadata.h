// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace nereid::frontend::grpc {

/// Metadata that a call adds to its response: names in lower case, and values as they are on the
/// wire, where those of names that end with "-bin" are base64.
struct ResponseMetadata {
  using Fields = std::vector<std::pair<std::string, std::string>>;
  Fields initial;   // in the headers
  Fields trailing;  // in the trailers
};

}  // namespace nereid::frontend::grpc
