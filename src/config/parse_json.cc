// SPDX-License-Identifier: Apache-2.0
#include <google/protobuf/util/json_util.h>

#include "config/parse.h"
#include "config/utf8.h"
#include "model_config.pb.h"

namespace nereid::config {
namespace {

namespace pb = google::protobuf;

constexpr size_t kMaxJsonBytes = size_t{32} << 20;

base::Status Invalid(const std::string& reason) {
  return base::Status::InvalidArgument("failed to parse the model configuration as JSON: " +
                                       reason);
}

}  // namespace

base::Result<ModelConfigPtr> ParseModelConfigJson(std::string_view json) {
  if (json.size() > kMaxJsonBytes) {
    return Invalid(std::to_string(json.size()) + " bytes, more than the " +
                   std::to_string(kMaxJsonBytes) + " allowed");
  }
  // Protobuf takes "null" and the like for an empty message.
  const size_t first = json.find_first_not_of(" \t\r\n");
  if (first == std::string_view::npos || json[first] != '{') return Invalid("expected an object");
  pb::util::JsonParseOptions options;
  options.ignore_unknown_fields = false;
  options.case_insensitive_enum_parsing = true;
  inference::ModelConfig proto;
  const pb::util::Status status =
      pb::util::JsonStringToMessage({json.data(), json.size()}, &proto, options);
  if (!status.ok()) return Invalid(std::string(status.message()));
  if (const auto field = FindInvalidUtf8(proto)) {
    return Invalid("the value of '" + *field + "' is not valid UTF-8");
  }
  return ModelConfig::Create(std::move(proto));
}

}  // namespace nereid::config
