// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/status.h"

namespace nereid::base {

/// Returns the same failure as INTERNAL: a check that serves both the data of clients and that of
/// models cannot know whose fault it has found. Success stays success.
inline Status AsInternal(const Status& status) {
  return status.ok() ? status : Status::Internal(status.message());
}

}  // namespace nereid::base
