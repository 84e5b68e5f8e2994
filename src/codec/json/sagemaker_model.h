// SPDX-License-Identifier: Apache-2.0
// The JSON of SageMaker's contract for containers of multi-model endpoints.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace nereid::codec::json {

struct SagemakerModel {
  std::string name;
  std::string url;  // the path of a directory
};

/// Reads the request body {"model_name": string, "url": string} of POST /models. Returns
/// INVALID_ARGUMENT or INTERNAL, like the other decoders, for anything else.
base::Result<SagemakerModel> DecodeSagemakerLoad(std::string_view json);

/// Returns {"modelName": …, "modelUrl": …}.
std::string EncodeSagemakerModel(const SagemakerModel& model);

/// Returns {"models": […]}, with "nextPageToken" unless it is empty.
std::string EncodeSagemakerModels(const std::vector<SagemakerModel>& models,
                                  std::string_view next_page_token);

}  // namespace nereid::codec::json
