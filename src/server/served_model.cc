// SPDX-License-Identifier: Apache-2.0
#include "server/served_model.h"

namespace nereid::server {

base::Result<std::shared_ptr<repository::LoadedModel>> ServedModelLoader::Load(
    const repository::VersionSource& source, std::function<void()> on_destroyed) {
  model::ModelSource from;
  from.name = source.name;
  from.version = source.version;
  from.directory = source.directory;
  from.version_directory = source.version_directory;
  from.config = source.config;
  NEREID_ASSIGN_OR_RETURN(auto model, model::Model::Create(environment_, from));
  return std::shared_ptr<repository::LoadedModel>(
      new ServedModel(std::move(model)),
      [&reaper = reaper_, on_destroyed = std::move(on_destroyed)](ServedModel* served) {
        reaper.Post([served, on_destroyed] {
          delete served;
          on_destroyed();
        });
      });
}

}  // namespace nereid::server
