// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "app/options/server_options.h"
#include "base/status.h"

namespace nereid::app {

/// The values of the deprecated --trace-* flags. The settings of --trace-config take precedence.
struct OldTraceFlags {
  std::optional<std::string> file;
  std::optional<uint32_t> rate;
  std::optional<int32_t> count;
  std::optional<uint32_t> log_frequency;
  bool level_off = false;  // one "OFF" among several --trace-level flags turns tracing off
  bool timestamps = false;
  bool tensors = false;
};

/// The state of the parser of one command line. The flags are read from left to right.
struct FlagState {
  ServerOptions options;
  std::set<std::string, std::less<>> given;  // names of flags, and "trace-config <setting>"
  OldTraceFlags old_trace;
  std::optional<bool> old_strict_model_config;
  std::optional<uint64_t> old_response_cache_byte_size;
  std::vector<std::string> warnings;  // one line each
  /// Ports that are out of range, by the option that was to be set: an error only if the service is
  /// on.
  std::map<const int*, base::Status> bad_ports;
  /// The setting of the flag at hand, such as "triton,log-frequency": part of the flag in errors.
  std::string setting;

  bool Given(std::string_view flag) const { return given.contains(flag); }
};

}  // namespace nereid::app
