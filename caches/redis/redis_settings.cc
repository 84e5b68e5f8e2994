// SPDX-License-Identifier: Apache-2.0
#include "redis/redis_settings.h"

#include "nereid/backend/log.h"
#include "settings.h"

namespace nereid::caches {
namespace {

constexpr const char* kNames[] = {
    "host",           "port",       "user",         "password",    "db",   "connect_timeout",
    "socket_timeout", "pool_size",  "wait_timeout", "tls_enabled", "cert", "key",
    "cacert",         "cacert_dir", "sni"};
constexpr const char* kTlsNames[] = {"cert", "key", "cacert", "cacert_dir", "sni"};
constexpr uint64_t kDayMs = uint64_t{24} * 60 * 60 * 1000;

void ReadText(const Settings& from, const char* name, std::string* value) {
  if (const auto found = from.find(name); found != from.end()) *value = found->second;
}

Error ReadMilliseconds(const Settings& from, const char* name, std::chrono::milliseconds* value) {
  auto number = static_cast<uint64_t>(value->count());
  NEREID_BACKEND_TRY(ReadNumber(from, name, 0, kDayMs, &number));
  *value = std::chrono::milliseconds(number);
  return {};
}

Error ReadTls(const Settings& from, RedisSettings::Tls* tls) {
  for (const char* name : kTlsNames) tls->enabled = tls->enabled || from.count(name) > 0;
  if (const auto enabled = from.find("tls_enabled"); enabled != from.end()) {
    if (enabled->second != "true" && enabled->second != "false") {
      return Error::InvalidArgument("setting 'tls_enabled' is '" + enabled->second +
                                    "', but must be true or false");
    }
    tls->enabled = enabled->second == "true";
  }
  ReadText(from, "cert", &tls->cert);
  ReadText(from, "key", &tls->key);
  ReadText(from, "cacert", &tls->cacert);
  ReadText(from, "cacert_dir", &tls->cacert_dir);
  ReadText(from, "sni", &tls->sni);
  if (tls->cert.empty() != tls->key.empty()) {
    return Error::InvalidArgument("settings 'cert' and 'key' must be given together");
  }
  return {};
}

void ReadCredential(const Settings& from, const char* name, const char* variable,
                    const Environment& environment, std::string* value) {
  if (const char* text = environment(variable); text != nullptr) *value = text;
  ReadText(from, name, value);
}

}  // namespace

Error ReadRedisSettings(const char* json, const Environment& environment, RedisSettings* settings) {
  Settings from;
  NEREID_BACKEND_TRY(ReadSettings(json, &from));
  NEREID_BACKEND_TRY(CheckNames(from, kNames));
  ReadText(from, "host", &settings->host);
  if (settings->host.empty() || from.count("port") == 0) {
    return Error::InvalidArgument(
        "Failed to initialize RedisCache, didn't specify address. Must at a minimum specify 'host' "
        "and 'port': --cache-config=redis,host=<name> --cache-config=redis,port=<number>");
  }
  // As in Triton, a text that is no port is found when the client connects: to no port.
  uint64_t port = 0;
  if (const Error read = ReadNumber(from, "port", 1, UINT16_MAX, &port); !read.ok()) {
    NEREID_BACKEND_LOG(WARN, "the redis cache: " + read.message());
  }
  settings->port = static_cast<uint16_t>(port);
  ReadCredential(from, "user", "TRITONCACHE_REDIS_USERNAME", environment, &settings->user);
  ReadCredential(from, "password", "TRITONCACHE_REDIS_PASSWORD", environment, &settings->password);
  NEREID_BACKEND_TRY(ReadNumber(from, "db", 0, INT32_MAX, &settings->db));
  NEREID_BACKEND_TRY(ReadNumber(from, "pool_size", 1, 1024, &settings->pool_size));
  NEREID_BACKEND_TRY(ReadMilliseconds(from, "connect_timeout", &settings->connect_timeout));
  NEREID_BACKEND_TRY(ReadMilliseconds(from, "socket_timeout", &settings->socket_timeout));
  NEREID_BACKEND_TRY(ReadMilliseconds(from, "wait_timeout", &settings->wait_timeout));
  return ReadTls(from, &settings->tls);
}

}  // namespace nereid::caches
