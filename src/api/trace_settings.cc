// SPDX-License-Identifier: Apache-2.0
#include "api/trace_settings.h"

#include <limits>

#include "base/parse_number.h"
#include "request/trace.h"

namespace nereid::api {
namespace {

using base::Status;

// Returns the number, or nothing if `text` is not one. A number that exceeds 64 bits becomes the
// largest or smallest int64_t, which the caller reports as out of range.
std::optional<int64_t> ParseInteger(std::string_view text) {
  if (const auto number = base::ParseWhole<int64_t>(text)) return number;
  const std::string_view digits = text.substr(text.starts_with('-') ? 1 : 0);
  if (digits.empty() || digits.find_first_not_of("0123456789") != digits.npos) return std::nullopt;
  return text == digits ? std::numeric_limits<int64_t>::max() : std::numeric_limits<int64_t>::min();
}

template <typename Number>
Status SetField(std::string_view key, const std::optional<std::string_view>& text, Number min,
                std::optional<std::optional<Number>>* field) {
  if (!text) {
    *field = std::optional<Number>();
    return {};
  }
  constexpr Number kMax = std::numeric_limits<Number>::max();
  const std::optional<int64_t> number = ParseInteger(*text);
  const std::string subject = "Unable to parse '" + std::string(key) + "'";
  if (!number) return Status::InvalidArgument(subject + ", got: " + std::string(*text));
  if (*number < int64_t{min} && min < 0) {
    return Status::InvalidArgument(subject + ". Expecting value >= -1, got:" + std::string(*text));
  }
  if (*number < int64_t{min} || *number > int64_t{kMax}) {
    return Status::InvalidArgument(subject + ", value is out of range [ " + std::to_string(min) +
                                   ", " + std::to_string(kMax) + " ], got: " + std::string(*text));
  }
  *field = std::optional<Number>(static_cast<Number>(*number));
  return {};
}

}  // namespace

Status TraceChanges::SetNumber(std::string_view key, const std::optional<std::string_view>& text) {
  if (key == "trace_rate") return SetField<uint32_t>(key, text, 0, &rate);
  if (key == "trace_count") return SetField<int32_t>(key, text, -1, &count);
  if (key == "log_frequency") return SetField<uint32_t>(key, text, 0, &log_frequency);
  return {};
}

Status TraceChanges::SetLevel(std::span<const std::string> names) {
  uint32_t bits = 0;
  bool known = false;
  for (const std::string& name : names) {
    if (name == "OFF" && names.size() > 1) {
      return Status::InvalidArgument("Expect only one trace level 'OFF' is specified");
    }
    known = known || name == "OFF" || name == "TIMESTAMPS" || name == "TENSORS";
    if (name == "TIMESTAMPS") bits |= request::kTraceTimestamps;
    if (name == "TENSORS") bits |= request::kTraceTensors;
  }
  if (known) level = std::optional<uint32_t>(bits);
  return {};
}

std::vector<std::string_view> TraceLevelNames(uint32_t level) {
  std::vector<std::string_view> names;
  if ((level & request::kTraceTimestamps) != 0) names.emplace_back("TIMESTAMPS");
  if ((level & request::kTraceTensors) != 0) names.emplace_back("TENSORS");
  if (names.empty()) names.emplace_back("OFF");
  return names;
}

std::string_view TraceModeName(TraceMode mode) {
  return mode == TraceMode::kTriton ? "triton" : "opentelemetry";
}

std::string_view TraceDefect(const TraceSettings& settings) {
  if (settings.level == 0) return {};
  if (settings.rate == 0) return "sample rate must be non-zero";
  if (settings.mode == TraceMode::kTriton && settings.file.empty()) {
    return "trace file name is not given";
  }
  return {};
}

Status TraceFileIsFixed() {
  return Status::Unsupported("trace file location can not be updated through network protocol");
}

}  // namespace nereid::api
