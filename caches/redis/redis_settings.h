// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>

#include "nereid/backend/error.h"

namespace nereid::caches {

/// The address and options of a Redis server. Defaults equal those of Triton's Redis cache except
/// where a comment says otherwise.
struct RedisSettings {
  std::string host;
  uint16_t port = 0;
  std::string user;  // empty for Redis's default user
  std::string password;
  uint64_t db = 0;
  /// Triton's cache waits without limit by default, so a Redis server that hangs would block every
  /// request of every cached model. 0 means no limit here too.
  std::chrono::milliseconds connect_timeout{1000};
  std::chrono::milliseconds socket_timeout{1000};
  /// The number of connections, and therefore of simultaneous commands. Triton's default is 1,
  /// which makes lookups wait for each other.
  uint64_t pool_size = 16;
  /// How long a command waits for a free connection; 0 means no limit.
  std::chrono::milliseconds wait_timeout{100};

  struct Tls {
    bool enabled = false;
    std::string cert, key;           // PEM files: the client's certificate and key
    std::string cacert, cacert_dir;  // trusted authorities; those of the system if both are empty
    std::string sni;                 // the server name to request (SNI)
  } tls;

  std::string Address() const { return host + ":" + std::to_string(port); }
};

/// Returns the value of an environment variable, or null.
using Environment = std::function<const char*(const char* name)>;

/// Reads --cache-config=redis,…. Host and port are required; unknown settings are refused with
/// INVALID_ARG. If `user` or `password` is absent, TRITONCACHE_REDIS_USERNAME or
/// TRITONCACHE_REDIS_PASSWORD is used. TLS is enabled by `tls_enabled`, or by any other TLS setting
/// if that is absent.
backend::Error ReadRedisSettings(const char* json, const Environment& environment,
                                 RedisSettings* settings);

}  // namespace nereid::caches
