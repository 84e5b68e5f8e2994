// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "api/metadata.h"

namespace inference {
class ModelMetadataResponse;
}  // namespace inference

namespace nereid::codec::proto {

/// Fills the message of a model's metadata.
void EncodeModelMetadata(const api::ModelMetadata& metadata,
                         inference::ModelMetadataResponse* message);

}  // namespace nereid::codec::proto
