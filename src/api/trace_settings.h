// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace nereid::api {

class InferenceService;

/// The `trace` extension: which requests leave traces, and where they are written.
struct TraceSettings {
  /// Bits request::kTraceTimestamps and kTraceTensors; 0: OFF.
  uint32_t level = 0;
  /// One request in so many; 0: none.
  uint32_t rate = 1000;
  /// Traces that are still to be made; -1: any number.
  int32_t count = -1;
  /// Traces in a numbered file; 0: all in one file.
  uint32_t log_frequency = 0;
  /// "": nothing is written.
  std::string file;

  bool operator==(const TraceSettings&) const = default;
};

/// What a client wants otherwise. A field without a value stays; one whose value is empty goes back
/// to the wider setting: a model's to the server's, the server's to that of the command line.
struct TraceChanges {
  std::optional<std::optional<uint32_t>> level;
  std::optional<std::optional<uint32_t>> rate;
  std::optional<std::optional<int32_t>> count;
  std::optional<std::optional<uint32_t>> log_frequency;

  /// Sets the field of that key from its text; nothing for null. A key that there is not changes
  /// nothing. INVALID_ARGUMENT where the text is no number, or one out of range.
  base::Status SetNumber(std::string_view key, const std::optional<std::string_view>& text);
  /// Names that there are not are passed over; a list of such alone changes nothing.
  /// INVALID_ARGUMENT for OFF next to another level.
  base::Status SetLevel(std::span<const std::string> names);
};

/// OFF, or TIMESTAMPS and TENSORS.
std::vector<std::string_view> TraceLevelNames(uint32_t level);

/// Why no trace can be made with these settings, as wires say it; "" if they can. A level of OFF is
/// no reason: who sets it wants none.
std::string_view TraceDefect(const TraceSettings& settings);

/// UNSUPPORTED: what every wire says about `trace_file`.
base::Status TraceFileIsFixed();

/// INVALID_ARGUMENT unless `model` is empty or can be asked.
base::Status CheckTracedModel(InferenceService& service, const std::string& model);

}  // namespace nereid::api
