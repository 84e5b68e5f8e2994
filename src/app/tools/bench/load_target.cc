// SPDX-License-Identifier: Apache-2.0
#include "app/tools/bench/load_target.h"

#include <algorithm>

#include "base/parse_number.h"

namespace nereid::app::tools {

using base::Status;

base::Result<LoadTarget> SplitAddress(const ServerAddress& address) {
  LoadTarget result;
  load::Target& target = result.target;
  target.protocol = address.http2 ? load::Protocol::kGrpc : load::Protocol::kHttp;
  target.unix_socket = address.unix_socket;
  const bool is_secure = address.base_url.starts_with("https://");
  const size_t begin = is_secure ? 8 : 7;
  const size_t end = std::min(address.base_url.find('/', begin), address.base_url.size());
  result.path_prefix = address.base_url.substr(end);
  std::string authority = address.base_url.substr(begin, end - begin);
  if (authority.find('@') != authority.npos) {
    return Status::InvalidArgument("the address of a server for a load cannot have a user");
  }
  const size_t colon = authority.rfind(':');
  const size_t bracket = authority.rfind(']');
  target.port = is_secure ? 443 : 80;
  if (colon != authority.npos && (bracket == authority.npos || colon > bracket)) {
    const auto port = base::ParseWhole<uint16_t>(authority.substr(colon + 1));
    if (!port) return Status::InvalidArgument("'" + authority + "' has no valid port");
    target.port = *port;
    authority.resize(colon);
  }
  target.host = authority;
  return result;
}

base::Result<LoadTarget> ResolveTarget(const ServerAddress& address, const std::string& token,
                                       const std::string& ca_file) {
  NEREID_ASSIGN_OR_RETURN(LoadTarget result, SplitAddress(address));
  result.target.token = token;
  std::string error;
  if (address.base_url.starts_with("https://")) {
    result.target.tls = load::MakeTlsContext({.verify = true, .ca_file = ca_file}, &error);
    if (result.target.tls == nullptr) return Status::InvalidArgument(error);
  }
  if (load::Resolve(&result.target, &error)) return result;
  return Status::Unavailable("cannot connect to " + result.target.Authority() + ": " + error);
}

std::string RequestBytes(const LoadTarget& target, const EncodedCall& call) {
  if (target.target.protocol == load::Protocol::kGrpc) return call.body;
  std::string head = "POST " + target.path_prefix + call.path +
                     " HTTP/1.1\r\nHost: " + target.target.Authority() +
                     "\r\nUser-Agent: nereid\r\n";
  if (!target.target.token.empty()) {
    head += "Authorization: Bearer " + target.target.token + "\r\n";
  }
  if (call.json_size == 0) {
    head += "Content-Type: application/json\r\n";
  } else {
    head += "Content-Type: application/octet-stream\r\nInference-Header-Content-Length: " +
            std::to_string(call.json_size) + "\r\n";
  }
  return head + "Content-Length: " + std::to_string(call.body.size()) + "\r\n\r\n" + call.body;
}

}  // namespace nereid::app::tools
