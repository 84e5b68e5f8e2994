// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "base/clock.h"
#include "curl/http_client.h"

namespace nereid::repository::storage {

/// What a store uses of the process and the network. The parts must not be null.
struct StoreContext {
  std::shared_ptr<curl::HttpClient> http;
  /// Returns the value of an environment variable or null, like getenv.
  std::function<const char*(const char* name)> environment;
  const base::Clock* clock;

  /// Returns the value of an environment variable; empty if it is not set.
  std::string Variable(const char* name) const {
    const char* const value = environment(name);
    return value == nullptr ? std::string() : std::string(value);
  }
};

/// Returns time-outs for servers of credentials that are near or are not there at all, such as the
/// metadata server of a virtual machine.
inline curl::HttpTimeouts MetadataTimeouts() {
  return {.connect_ms = 1000, .stall_secs = 2, .total_ms = 5000};
}

/// Returns time-outs for servers of credentials in the Internet.
inline curl::HttpTimeouts TokenTimeouts() {
  return {.connect_ms = 5000, .stall_secs = 10, .total_ms = 20'000};
}

}  // namespace nereid::repository::storage
