// SPDX-License-Identifier: Apache-2.0
#include "backend/backend_model.h"

#include "abi/error.h"
#include "base/log.h"

namespace nereid::backend {

base::Status BackendModel::Initialize() {
  const auto initialize = backend_->entry_points().model_initialize;
  if (initialize != nullptr) {
    initializing_ = true;
    base::Status status = abi::TakeStatus(initialize(handle()));
    initializing_ = false;
    NEREID_RETURN_IF_ERROR(status);
  }
  initialized_ = true;
  return base::Status::Ok();
}

BackendModel::~BackendModel() {
  const auto finalize = backend_->entry_points().model_finalize;
  if (!initialized_ || finalize == nullptr) return;
  const base::Status status = abi::TakeStatus(finalize(handle()));
  if (!status.ok()) {
    LOG_ERROR << "failed finalizing model '" << description_.name << "': " << status.message();
  }
}

}  // namespace nereid::backend
