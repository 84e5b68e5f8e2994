// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

namespace nereid::config {

/// The only metric family whose histogram buckets a configuration may choose (model_metrics). It
/// measures the milliseconds until the first response of a request.
inline constexpr std::string_view kFirstResponseFamily = "nv_inference_first_response_histogram_ms";

}  // namespace nereid::config
