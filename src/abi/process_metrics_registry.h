// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "telemetry/metrics.h"

namespace nereid::abi {

/// The registry of the process, in which TRITONSERVER_MetricFamily* stand. It is one for all
/// servers: a plug-in makes its metrics without naming a server, and keeps them over a server's
/// end. Any thread.
const std::shared_ptr<telemetry::Registry>& ProcessRegistry();

}  // namespace nereid::abi
