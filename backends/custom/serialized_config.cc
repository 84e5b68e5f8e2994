// SPDX-License-Identifier: Apache-2.0
#include "custom/serialized_config.h"

#include <google/protobuf/util/json_util.h>

#include "model_config.pb.h"

namespace nereid::custom {

backend::Error SerializeConfig(std::string_view json, std::string* bytes) {
  namespace util = google::protobuf::util;
  util::JsonParseOptions options;
  options.ignore_unknown_fields = true;
  inference::ModelConfig config;
  const util::Status status =
      util::JsonStringToMessage({json.data(), json.size()}, &config, options);
  if (!status.ok()) {
    return backend::Error::Internal("the server sent a model configuration that cannot be read: " +
                                    std::string(status.message()));
  }
  if (!config.SerializeToString(bytes)) {
    return backend::Error::Internal("the model configuration is too large for its protobuf form");
  }
  return {};
}

}  // namespace nereid::custom
