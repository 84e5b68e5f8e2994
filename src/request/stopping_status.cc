// SPDX-License-Identifier: Apache-2.0
#include "request/stopping_status.h"

namespace nereid::request {

base::Status StoppingStatus() {
  return base::Status::Unavailable(
      "Server is stopping, scheduler for model has stopped accepting new inference requests");
}

}  // namespace nereid::request
