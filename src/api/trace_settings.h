// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"

namespace nereid::api {

/// Where traces go: into files in Triton's format, or to a receiver of OpenTelemetry's spans.
enum class TraceMode : uint8_t { kTriton, kOpenTelemetry };

/// The settings of the `trace` extension: which requests are traced, and where traces are written.
struct TraceSettings {
  /// Bits request::kTraceTimestamps and kTraceTensors; 0: OFF.
  uint32_t level = 0;
  /// One request in `rate` is traced; 0: none.
  uint32_t rate = 1000;
  /// Traces that may still be made; -1: no limit.
  int32_t count = -1;
  /// Traces per numbered file; 0: all in one file.
  uint32_t log_frequency = 0;
  /// Mode triton; "": nothing is written.
  std::string file;
  /// Fixed while the server runs.
  TraceMode mode = TraceMode::kTriton;
  /// The options of the mode that clients are shown: names and values. A name may occur several
  /// times.
  std::vector<std::pair<std::string, std::string>> options = {};

  bool operator==(const TraceSettings&) const = default;
};

/// The changes that a client asks for. A field without a value stays. A field whose value is empty
/// returns to the wider setting: a model's to the server's, the server's to the command line's.
struct TraceChanges {
  std::optional<std::optional<uint32_t>> level;
  std::optional<std::optional<uint32_t>> rate;
  std::optional<std::optional<int32_t>> count;
  std::optional<std::optional<uint32_t>> log_frequency;

  /// Sets the field `key` from its text; null clears it. Ignores unknown keys. Returns
  /// INVALID_ARGUMENT if the text is not a number or out of range.
  base::Status SetNumber(std::string_view key, const std::optional<std::string_view>& text);
  /// Sets the level from the names OFF, TIMESTAMPS and TENSORS. Ignores other names; a list of only
  /// such names changes nothing. Returns INVALID_ARGUMENT for OFF together with another name.
  base::Status SetLevel(std::span<const std::string> names);
};

/// Returns "OFF", or those of "TIMESTAMPS" and "TENSORS" that are on.
std::vector<std::string_view> TraceLevelNames(uint32_t level);

/// Returns "triton" or "opentelemetry".
std::string_view TraceModeName(TraceMode mode);

/// Returns why no trace can be made with these settings, in Triton's words, or "" if traces can be
/// made or the level is OFF.
std::string_view TraceDefect(const TraceSettings& settings);

/// Returns the UNSUPPORTED error of every protocol for a change of `trace_file`.
base::Status TraceFileIsFixed();

/// Reads the changes that a client asks for. Returns nothing if it only asks for the settings.
using ReadTraceChanges = std::function<base::Result<std::optional<TraceChanges>>()>;

/// Holds the trace settings of a server and of its models. Thread-safe.
class TraceControl {
 public:
  /// Returns the settings of a model or, if the name is empty, of the server.
  virtual TraceSettings Settings(const std::string& model) const = 0;

  /// Changes settings and returns the new ones. Returns INVALID_ARGUMENT, and changes nothing, if a
  /// level is on but no trace could be made with the result.
  virtual base::Result<TraceSettings> Change(const std::string& model,
                                             const TraceChanges& changes) = 0;

 protected:
  ~TraceControl() = default;
};

}  // namespace nereid::api
