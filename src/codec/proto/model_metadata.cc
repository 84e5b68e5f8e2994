// SPDX-License-Identifier: Apache-2.0
#include "codec/proto/model_metadata.h"

#include <cstdint>
#include <string>

#include "grpc_service.pb.h"

namespace nereid::codec::proto {
namespace {

void SetTensor(const api::TensorMetadata& from,
               inference::ModelMetadataResponse::TensorMetadata* to) {
  to->set_name(from.name);
  to->set_datatype(from.datatype);
  for (const int64_t dim : from.shape) to->add_shape(dim);
}

}  // namespace

void EncodeModelMetadata(const api::ModelMetadata& metadata,
                         inference::ModelMetadataResponse* message) {
  message->set_name(metadata.name);
  for (const std::string& version : metadata.versions) message->add_versions(version);
  message->set_platform(metadata.platform);
  for (const auto& tensor : metadata.inputs) SetTensor(tensor, message->add_inputs());
  for (const auto& tensor : metadata.outputs) SetTensor(tensor, message->add_outputs());
}

}  // namespace nereid::codec::proto
