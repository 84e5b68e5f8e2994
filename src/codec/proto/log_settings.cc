// SPDX-License-Identifier: Apache-2.0
#include "codec/proto/log_settings.h"

#include <optional>
#include <string>

#include "grpc_service.pb.h"

namespace nereid::codec::proto {
namespace {

using base::Status;

Status ReadLogSetting(const std::string& key,
                      const inference::LogSettingsRequest::SettingValue& value,
                      api::LogChanges* changes) {
  if (key == "log_file") return api::LogFileIsFixed();
  if (key == "log_verbose_level") {
    if (!value.has_uint32_param()) {
      return Status::InvalidArgument("expect int32 for 'log_verbose_level'");
    }
    changes->verbose_level = value.uint32_param();
    return Status::Ok();
  }
  if (key == "log_format") {
    if (!value.has_string_param()) return Status::InvalidArgument("expect string for 'log_format'");
    changes->format = api::FindLogFormat(value.string_param());
    if (changes->format) return Status::Ok();
    return Status::InvalidArgument("invalid argument for log_format, got: " + value.string_param());
  }
  std::optional<bool>* const level = key == "log_info"      ? &changes->info
                                     : key == "log_warning" ? &changes->warning
                                     : key == "log_error"   ? &changes->error
                                                            : nullptr;
  if (level == nullptr) return Status::Ok();
  if (!value.has_bool_param()) return Status::InvalidArgument("expect boolean for '" + key + "'");
  *level = value.bool_param();
  return Status::Ok();
}

}  // namespace

base::Result<api::LogChanges> DecodeLogChanges(const inference::LogSettingsRequest& message) {
  api::LogChanges changes;
  for (const auto& [key, value] : message.settings()) {
    NEREID_RETURN_IF_ERROR(ReadLogSetting(key, value, &changes));
  }
  return changes;
}

void EncodeLogSettings(const api::LogSettings& settings, inference::LogSettingsResponse* message) {
  auto& map = *message->mutable_settings();
  map["log_file"].set_string_param(settings.file);
  map["log_info"].set_bool_param(settings.info);
  map["log_warning"].set_bool_param(settings.warning);
  map["log_error"].set_bool_param(settings.error);
  map["log_verbose_level"].set_uint32_param(settings.verbose_level);
  map["log_format"].set_string_param(std::string(api::LogFormatName(settings.format)));
}

}  // namespace nereid::codec::proto
