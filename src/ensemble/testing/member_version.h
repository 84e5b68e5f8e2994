// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>

#include "model/model_version.h"
#include "request/testing/make_model.h"

namespace nereid::ensemble {

/// A member of an ensemble that is ready and has no statistics. Its content is not known. Tests
/// derive from it and say what it does with requests.
class MemberVersion : public model::ModelVersion {
 public:
  /// `text` is the configuration.
  explicit MemberVersion(const std::string& text) : identity_(request::MakeModel(text)) {}

  const request::ModelIdentity& identity() const override { return *identity_; }
  std::shared_ptr<const request::ModelIdentity> shared_identity() const { return identity_; }
  base::Status CheckReady() override { return base::Status::Ok(); }
  telemetry::ModelStatistics Statistics() const override { return {}; }
  base::Result<model::InstanceUpdate> PrepareUpdate(const config::ModelConfig&) override {
    return base::Status::Unsupported("fake");
  }
  void ApplyUpdate(model::InstanceUpdate) override {}

 private:
  const std::shared_ptr<const request::ModelIdentity> identity_;
};

}  // namespace nereid::ensemble
