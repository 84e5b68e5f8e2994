// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "telemetry/metrics.h"

namespace nereid::abi {

/// Returns the metrics registry of the process, which holds the metrics made with the C API. All
/// servers of a process share it: a plug-in creates metrics without naming a server, and keeps them
/// when a server ends. May be called from any thread.
const std::shared_ptr<telemetry::Registry>& ProcessRegistry();

}  // namespace nereid::abi
