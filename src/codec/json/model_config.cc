// SPDX-License-Identifier: Apache-2.0
#include "codec/json/model_config.h"

#include "config/describe/describe.h"

namespace nereid::codec::json {

std::string EncodeModelConfig(const config::ModelConfig& config) {
  return config::DescribeModelConfigJson(config);
}

}  // namespace nereid::codec::json
