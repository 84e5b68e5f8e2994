// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "base/result.h"
#include "config/model_config.h"
#include "tensor/shape.h"

namespace nereid::request {

/// The shape that clients see of an output that the model made with `model_shape`: the reverse of
/// the configuration's reshape, where the output has one. INVALID_ARGUMENT for a shape with
/// negative dimensions, with too many elements, or that the reshape does not fit.
base::Result<tensor::Shape> ClientShape(const config::ModelConfig& config,
                                        std::string_view output_name,
                                        std::span<const int64_t> model_shape);

}  // namespace nereid::request
