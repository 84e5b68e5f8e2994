// SPDX-License-Identifier: Apache-2.0
#include "codec/proto/model_config.h"

#include "grpc_service.pb.h"

namespace nereid::codec::proto {

void EncodeModelConfig(const config::ModelConfig& config, inference::ModelConfigResponse* message) {
  *message->mutable_config() = config.proto();
}

}  // namespace nereid::codec::proto
