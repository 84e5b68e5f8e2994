// SPDX-License-Identifier: Apache-2.0
#include "codec/proto/trace_settings.h"

#include <string>
#include <string_view>
#include <vector>

#include "grpc_service.pb.h"

namespace nereid::codec::proto {
namespace {

using base::Status;

Status ReadTraceSetting(const std::string& key,
                        const inference::TraceSettingRequest::SettingValue& value,
                        api::TraceChanges* changes) {
  if (key == "trace_file") return api::TraceFileIsFixed();
  const bool is_level = key == "trace_level";
  if (!is_level && key != "trace_rate" && key != "trace_count" && key != "log_frequency") return {};
  if (is_level && value.value().empty()) {
    changes->level = std::optional<uint32_t>();
    return {};
  }
  if (is_level) {
    return changes->SetLevel(std::vector<std::string>(value.value().begin(), value.value().end()));
  }
  if (value.value().empty()) return changes->SetNumber(key, std::nullopt);
  if (value.value_size() != 1) {
    return Status::InvalidArgument("expect only 1 value for '" + key + "'");
  }
  return changes->SetNumber(key, value.value(0));
}

}  // namespace

base::Result<std::optional<api::TraceChanges>> DecodeTraceChanges(
    const inference::TraceSettingRequest& message) {
  std::optional<api::TraceChanges> changes;
  for (const auto& [key, value] : message.settings()) {
    if (!changes) changes.emplace();
    NEREID_RETURN_IF_ERROR(ReadTraceSetting(key, value, &*changes));
  }
  return changes;
}

void EncodeTraceSettings(const api::TraceSettings& settings,
                         inference::TraceSettingResponse* message) {
  auto& map = *message->mutable_settings();
  for (const std::string_view name : api::TraceLevelNames(settings.level)) {
    map["trace_level"].add_value(std::string(name));
  }
  map["trace_rate"].add_value(std::to_string(settings.rate));
  map["trace_count"].add_value(std::to_string(settings.count));
  if (settings.mode == api::TraceMode::kTriton) {
    map["log_frequency"].add_value(std::to_string(settings.log_frequency));
    map["trace_file"].add_value(settings.file);
  }
  map["trace_mode"].add_value(std::string(api::TraceModeName(settings.mode)));
  for (const auto& [name, value] : settings.options) map[name].add_value(value);
}

}  // namespace nereid::codec::proto
