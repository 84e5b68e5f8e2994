// SPDX-License-Identifier: Apache-2.0
#include "backend/backend_model.h"

#include "abi/error.h"
#include "base/log.h"

namespace nereid::backend {

base::Status BackendModel::Initialize(Completion complete) {
  const auto initialize = backend_->entry_points().model_initialize;
  if (initialize != nullptr) {
    complete_ = std::move(complete);
    base::Status status = abi::TakeStatus(initialize(handle()));
    complete_ = nullptr;
    NEREID_RETURN_IF_ERROR(status);
  }
  initialized_ = true;
  return base::Status::Ok();
}

base::Status BackendModel::PrepareThreads(int threads) {
  const auto prepare = backend_->entry_points().prepare_threads;
  if (prepare == nullptr) return base::Status::Unsupported("the backend has a fixed number");
  return abi::TakeStatus(prepare(handle(), static_cast<uint32_t>(threads)));
}

bool BackendModel::InstancesShare() {
  const auto share = backend_->entry_points().instances_share;
  return share != nullptr && share(handle());
}

base::Status BackendModel::Complete(std::string_view json) {
  if (complete_ == nullptr) {
    return base::Status::Unsupported("the configuration of model '" + description_.name +
                                     "' can only be set while the model is initialized");
  }
  NEREID_ASSIGN_OR_RETURN(std::string read, complete_(json));
  SetConfigJson(std::move(read));
  completed_ = true;
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
