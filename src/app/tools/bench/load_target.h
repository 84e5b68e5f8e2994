// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "app/tools/infer/inference_client.h"
#include "app/tools/remote/server_address.h"
#include "base/result.h"
#include "load/target.h"

namespace nereid::app::tools {

/// A target of load with what its requests need.
struct LoadTarget {
  load::Target target;
  std::string path_prefix;  // of a proxy, before "/v2"; empty: none
};

/// Finds the server of an address. UNAVAILABLE if the host is not known or nothing listens there,
/// INVALID_ARGUMENT if the authorities of `ca_file` cannot be used.
base::Result<LoadTarget> ResolveTarget(const ServerAddress& address, const std::string& token,
                                       const std::string& ca_file);

/// Returns the bytes of a request: of HTTP/1.1 with its head, of gRPC the message.
std::string RequestBytes(const LoadTarget& target, const EncodedCall& call);

/// Splits "http://host:80/prefix" into the members of a target, without resolving it.
base::Result<LoadTarget> SplitAddress(const ServerAddress& address);

}  // namespace nereid::app::tools
