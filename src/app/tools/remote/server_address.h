// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace nereid::app::tools {

/// Where a server listens.
struct ServerAddress {
  std::string base_url;          // without a slash at its end
  std::string unix_socket = {};  // the path of a Unix socket; empty: TCP
  bool http2 = false;            // of gRPC: HTTP/2 without negotiation
};

/// Parses what --url and NEREID_URL name: "http://host:8000", "https://host:8000", either with the
/// path of a proxy behind it, "host", "host:8000" or "unix:<path>". Without a scheme the default
/// port is 8000. Returns INVALID_ARGUMENT with the text and the forms for anything else.
base::Result<ServerAddress> ParseServerUrl(std::string_view text);

/// Returns whether the text names a gRPC server: "grpc://host:port" or, over TLS,
/// "grpcs://host:port".
bool IsGrpcUrl(std::string_view text);

/// Parses such a text; without a port, it is 8001. Returns INVALID_ARGUMENT for anything else.
base::Result<ServerAddress> ParseGrpcUrl(std::string_view text);

/// Returns whether a name can be a segment of a path as it is: servers do not decode percent signs.
bool IsPathSegment(std::string_view name);

}  // namespace nereid::app::tools
