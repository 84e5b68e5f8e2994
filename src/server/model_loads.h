// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "api/load_control.h"
#include "repository/model_lifecycle.h"

namespace nereid::server {

/// The loads of the server's models, as clients see them. With namespacing, a name shows the load
/// that runs if there is one, and a cancellation applies to every model of the name. Thread-safe.
class ModelLoads final : public api::LoadControl {
 public:
  /// `lifecycle` must outlive this object.
  explicit ModelLoads(repository::ModelLifecycle& lifecycle) : lifecycle_(lifecycle) {}

  base::Result<api::ModelLoads> Get(const std::string& model) const override;
  base::Status Cancel(const std::string& model) override;

 private:
  repository::ModelLifecycle& lifecycle_;
};

}  // namespace nereid::server
