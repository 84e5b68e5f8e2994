// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "triton/core/tritonserver.h"

/// The definition behind the opaque C type: the metrics page as it stood when it was asked for, in
/// Prometheus' text format.
struct TRITONSERVER_Metrics {
  std::string text;
};
