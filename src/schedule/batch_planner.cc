// SPDX-License-Identifier: Apache-2.0
#include "schedule/batch_planner.h"

namespace nereid::schedule {

base::Status BatchPlanner::CheckReschedule(const request::InferenceRequest& /*request*/,
                                           uint64_t /*now_ns*/) {
  return base::Status::InvalidArgument(
      "Request is released with TRITONSERVER_REQUEST_RELEASE_RESCHEDULE, while the model is not "
      "configured to handle such a flag.");
}

}  // namespace nereid::schedule
