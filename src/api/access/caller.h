// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace nereid::api {

/// A header field (HTTP) or an entry of the metadata (gRPC) that the server needs.
struct HeaderField {
  std::string name;  // as received
  std::string value;
  bool is_forwarded = false;  // becomes a parameter of the inference request
};

/// The field that carries a bearer token.
inline constexpr std::string_view kAuthorization = "authorization";

/// What a front end knows about who asks. Views; they are valid during the decision.
struct Caller {
  std::span<const HeaderField> fields = {};  // those that FieldFilter has kept
  /// Of a verified client certificate, in the form of RFC 2253; empty if there is none.
  std::string_view tls_subject = {};
  /// The user and the group of the process at the other end of a Unix socket.
  std::optional<uint32_t> uid = {};
  std::optional<uint32_t> gid = {};
};

/// Returns the caller that has sent `fields`. `peer` is what the network knows about it (a
/// frontend::net::Peer, which is on a higher layer); null if it was not asked.
template <typename Peer>
Caller MakeCaller(std::span<const HeaderField> fields, const Peer* peer) {
  if (peer == nullptr) return {.fields = fields};
  return {.fields = fields, .tls_subject = peer->tls_subject, .uid = peer->uid, .gid = peer->gid};
}

}  // namespace nereid::api
