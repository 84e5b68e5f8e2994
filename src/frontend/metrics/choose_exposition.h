// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

#include "telemetry/exposition.h"

namespace nereid::frontend::metrics {

/// Returns the format that a client prefers. `accept` is the field Accept of its request (RFC 9110,
/// section 12.5.1). OpenMetrics has to be named, in a version that the server has (1.0.0 or
/// 0.0.1, or none), with at least the weight of text/plain; in all other cases the format is
/// Prometheus' text.
telemetry::Exposition ChooseExposition(std::string_view accept);

}  // namespace nereid::frontend::metrics
