// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>

#include "nereid/backend/error.h"

namespace nereid::caches {

/// How to reach Redis. Times are as in Triton's cache except where a comment says otherwise.
struct RedisSettings {
  std::string host;
  uint16_t port = 0;
  std::string user;  // "" = Redis's default user
  std::string password;
  uint64_t db = 0;
  /// Triton's cache waits for ever unless told otherwise: a Redis that hangs would stop every
  /// request of every cached model. 0 still means for ever.
  std::chrono::milliseconds connect_timeout{1000};
  std::chrono::milliseconds socket_timeout{1000};
  /// Connections, and so commands at a time. Triton's default is 1, which makes look-ups queue.
  uint64_t pool_size = 16;
  /// How long a command waits for one of them.
  std::chrono::milliseconds wait_timeout{100};

  struct Tls {
    bool enabled = false;
    std::string cert, key;           // files in PEM: what we show
    std::string cacert, cacert_dir;  // what we trust; the system's authorities if both are empty
    std::string sni;                 // the name to ask for
  } tls;

  std::string Address() const { return host + ":" + std::to_string(port); }
};

/// Looks a variable up in the environment; null if it is not set.
using Environment = std::function<const char*(const char* name)>;

/// Reads --cache-config=redis,…: host and port are needed, unknown settings are refused. Where
/// `user` or `password` is not given, TRITONCACHE_REDIS_USERNAME and TRITONCACHE_REDIS_PASSWORD
/// count. `tls_enabled`, or any other setting of TLS, turns it on.
backend::Error ReadRedisSettings(const char* json, const Environment& environment,
                                 RedisSettings* settings);

}  // namespace nereid::caches
