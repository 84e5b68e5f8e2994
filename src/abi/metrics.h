// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "triton/core/tritonserver.h"

/// The definition of the opaque C type: one page of metrics in the Prometheus text format, as it
/// was when it was requested.
struct TRITONSERVER_Metrics {
  std::string text;
};
