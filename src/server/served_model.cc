// SPDX-License-Identifier: Apache-2.0
#include "server/served_model.h"

#include "base/clock.h"
#include "ensemble/ensemble_model.h"

namespace nereid::server {

void ServedModel::Activate() {
  if (!update_) return;
  model_->ApplyUpdate(std::move(*update_));
  update_.reset();
}

void ServedModel::OnRemoved(const LoadedModel* successor) {
  const auto* next = static_cast<const ServedModel*>(successor);
  // A successor with the same model is an update of instances, which keeps the model's sequences.
  if (next == nullptr || next->model_ != model_) model_->EndIdleSequences();
}

base::Result<ensemble::Member> ServedMembers::Find(const std::string& space,
                                                   const std::string& model,
                                                   int64_t version) const {
  NEREID_ASSIGN_OR_RETURN(auto loaded, table_()->Find(repository::ModelId{model, space}, version));
  auto& served = static_cast<ServedModel&>(*loaded);
  return ensemble::Member{
      std::shared_ptr<const request::ModelIdentity>(std::move(loaded), &served.identity()),
      &served.version()};
}

base::Result<std::shared_ptr<model::ModelVersion>> ServedModelLoader::Make(
    const model::ModelSource& source) const {
  if (source.config->is_ensemble()) {
    NEREID_ASSIGN_OR_RETURN(auto made,
                            ensemble::EnsembleModel::Create(environment_, source, members_));
    return std::shared_ptr<model::ModelVersion>(std::move(made));
  }
  NEREID_ASSIGN_OR_RETURN(auto made, model::Model::Create(environment_, source));
  return std::shared_ptr<model::ModelVersion>(std::move(made));
}

base::Result<std::shared_ptr<repository::LoadedModel>> ServedModelLoader::Load(
    const repository::VersionSource& source, std::function<void()> on_destroyed) {
  model::ModelSource from;
  from.name = source.id.name;
  from.version = source.version;
  from.directory = source.directory;
  from.version_directory = source.version_directory;
  from.config = source.config;
  from.configured = source.configured;
  const uint64_t begin_ns = base::SteadyClock().NowNs();
  NEREID_ASSIGN_OR_RETURN(auto model, Make(from));
  const uint64_t load_ns = base::SteadyClock().NowNs() - begin_ns;
  return Own(new ServedModel(std::move(model), source.origin, load_ns), std::move(on_destroyed));
}

base::Result<std::shared_ptr<repository::LoadedModel>> ServedModelLoader::Update(
    const std::shared_ptr<repository::LoadedModel>& serving,
    const repository::VersionSource& source, std::function<void()> on_destroyed) {
  const std::shared_ptr<ServedModel> served = ServedModel::From(serving);
  NEREID_ASSIGN_OR_RETURN(auto update, served->version().PrepareUpdate(*source.config));
  return Own(new ServedModel(*served, std::move(update)), std::move(on_destroyed));
}

// The deleter runs wherever the last reference is dropped, perhaps on one of the model's own
// threads, so it leaves the destruction to the reaper.
std::shared_ptr<repository::LoadedModel> ServedModelLoader::Own(
    ServedModel* served, std::function<void()> on_destroyed) {
  return std::shared_ptr<repository::LoadedModel>(
      served, [&reaper = reaper_, on_destroyed = std::move(on_destroyed)](ServedModel* object) {
        reaper.Post([object, on_destroyed] {
          delete object;
          on_destroyed();
        });
      });
}

}  // namespace nereid::server
