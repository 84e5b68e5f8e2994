// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "base/result.h"
#include "config/model_config.h"
#include "tensor/shape.h"

namespace nereid::request {

/// Returns the shape that clients see of an output with `model_shape`: reverses the configured
/// reshape, if the output has one. Returns INTERNAL, because the model is wrong, for a shape with
/// negative dimensions, too many elements, or one that does not fit the reshape.
base::Result<tensor::Shape> ClientShape(const config::ModelConfig& config,
                                        std::string_view output_name,
                                        std::span<const int64_t> model_shape);

}  // namespace nereid::request
