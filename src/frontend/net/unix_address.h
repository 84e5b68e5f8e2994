// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

namespace nereid::frontend::net {

// How an address of the command line names a Unix socket; clients of gRPC use the same names.
inline constexpr std::string_view kUnixPrefix = "unix:";                   // then the path
inline constexpr std::string_view kUnixAbstractPrefix = "unix-abstract:";  // then the name

/// Returns whether an address of the command line is a Unix socket, which has no port.
constexpr bool IsUnixAddress(std::string_view address) {
  return address.starts_with(kUnixPrefix) || address.starts_with(kUnixAbstractPrefix);
}

struct UnixName {
  std::string_view name;  // the path, or the abstract name
  bool is_abstract = false;
};

/// Returns the name in the address of a Unix socket. A path may also be written as in a URI:
/// "unix:///run/a.sock" is "/run/a.sock".
constexpr UnixName UnixNameOf(std::string_view address) {
  if (address.starts_with(kUnixAbstractPrefix)) {
    return {address.substr(kUnixAbstractPrefix.size()), true};
  }
  address.remove_prefix(kUnixPrefix.size());
  if (address.starts_with("///")) address.remove_prefix(2);
  return {address, false};
}

}  // namespace nereid::frontend::net
