// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "model/model.h"
#include "repository/loaded_model.h"
#include "server/model_reaper.h"

namespace nereid::server {

/// A model in the repository's table.
class ServedModel final : public repository::LoadedModel {
 public:
  explicit ServedModel(std::unique_ptr<model::Model> model) : model_(std::move(model)) {}

  void StopAccepting() override { model_->StopAccepting(); }
  base::Status CheckReady() override { return model_->CheckReady(); }
  model::Model& model() { return *model_; }

  static std::shared_ptr<ServedModel> From(std::shared_ptr<repository::LoadedModel> loaded) {
    return std::static_pointer_cast<ServedModel>(std::move(loaded));
  }

 private:
  std::unique_ptr<model::Model> model_;
};

/// Loads ServedModels, and sees to it that they are destroyed by the reaper.
class ServedModelLoader final : public repository::ModelLoader {
 public:
  /// The reaper must outlive every model that was loaded.
  ServedModelLoader(model::ModelEnvironment environment, ModelReaper& reaper)
      : environment_(std::move(environment)), reaper_(reaper) {}

  base::Result<std::shared_ptr<repository::LoadedModel>> Load(
      const repository::VersionSource& source, std::function<void()> on_destroyed) override;

 private:
  const model::ModelEnvironment environment_;
  ModelReaper& reaper_;
};

}  // namespace nereid::server
