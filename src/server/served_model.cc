// SPDX-License-Identifier: Apache-2.0
#include "server/served_model.h"

#include <algorithm>

#include "ensemble/ensemble_model.h"
#include "server/residency/model_facts.h"

namespace nereid::server {

namespace {

/// How often a version looks whether the sequences of its predecessors have ended.
constexpr uint64_t kWatchPeriodNs = 200'000'000;

constexpr const char* kMainMemory = "CPU";

/// Returns the bytes of main memory in a backend's report.
uint64_t MainMemoryOf(const telemetry::ModelStatistics& statistics) {
  uint64_t bytes = 0;
  for (const telemetry::MemoryUsage& usage : statistics.memory_usage) {
    if (usage.type == kMainMemory) bytes += usage.byte_size;
  }
  return bytes;
}

}  // namespace

void ServedModel::Succeed(const std::shared_ptr<LoadedModel>& predecessor) {
  auto replaced = std::static_pointer_cast<ServedModel>(predecessor);
  std::vector<Predecessors::Version> all = replaced->predecessors_.List();
  // An update of instances has the same model, with its sequences.
  const bool has_sequences = replaced->config().sequence_batching().has_value();
  if (has_sequences && replaced->model_ != model_) {
    model::ModelVersion* const model = replaced->model_.get();
    all.insert(all.begin(), {std::move(replaced), model});
  }
  if (all.empty()) return;
  predecessors_.Add(std::move(all));
  WatchPredecessors();
}

void ServedModel::WatchPredecessors() {
  timers_.Schedule(clock_.NowNs() + kWatchPeriodNs, [weak = weak_from_this()] {
    const std::shared_ptr<ServedModel> self = weak.lock();
    if (self != nullptr && self->predecessors_.DropFinished()) self->WatchPredecessors();
  });
}

std::shared_ptr<ServedModel> ServedModel::FindSequenceOwner(const request::RequestFields& request,
                                                            int64_t version) const {
  if (!request.ContinuesSequence()) return nullptr;
  // A sequence that was begun again with the same id is here.
  if (model_->HasSequence(request.correlation_id)) return nullptr;
  return predecessors_.FindOwner(request.correlation_id, version);
}

std::vector<std::shared_ptr<ServedModel>> ServedModel::Replaced() const {
  std::vector<std::shared_ptr<ServedModel>> replaced;
  for (Predecessors::Version& version : predecessors_.List()) {
    replaced.push_back(std::move(version.served));
  }
  return replaced;
}

void ServedModel::Activate() {
  if (!update_) return;
  model_->ApplyUpdate(std::move(*update_));
  update_.reset();
}

void ServedModel::OnRemoved(const LoadedModel* successor) {
  if (successor != nullptr) return;  // it leads the open sequences to their end
  model_->EndIdleSequences();
  predecessors_.DropAll();
}

telemetry::ModelStatistics ServedModel::Statistics() const {
  telemetry::ModelStatistics statistics = model_->Statistics();
  const bool is_measured = belongings_.charge != nullptr;
  // The report of a backend says more: it names each kind of memory.
  if (is_measured && MainMemoryOf(statistics) == 0) {
    statistics.memory_usage.push_back({kMainMemory, 0, belongings_.charge->bytes()});
  }
  return statistics;
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

base::Result<std::shared_ptr<model::ModelVersion>> ServedModelLoader::Measure(
    const model::ModelSource& source, ServedModel::Belongings* belongings) const {
  base::Result<std::shared_ptr<model::ModelVersion>> made = base::Status::Internal("not made");
  const uint64_t grown = accounts_->Measure([&] { made = Make(source); });
  if (!made.ok()) return made;
  const uint64_t least =
      std::max(DirectoryBytes(source.version_directory), MainMemoryOf((*made)->Statistics()));
  belongings->charge = accounts_->Charge(source.name, source.version, grown, least);
  return made;
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
  ServedModel::Belongings belongings{nullptr, source.origin};
  NEREID_ASSIGN_OR_RETURN(auto model,
                          accounts_ == nullptr ? Make(from) : Measure(from, &belongings));
  const uint64_t load_ns = base::SteadyClock().NowNs() - begin_ns;
  return Own(new ServedModel(std::move(model), std::move(belongings), load_ns, environment_.timers,
                             environment_.clock),
             std::move(on_destroyed));
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
  return std::shared_ptr<ServedModel>(
      served, [&reaper = reaper_, on_destroyed = std::move(on_destroyed)](ServedModel* object) {
        reaper.Post([object, on_destroyed] {
          delete object;
          on_destroyed();
        });
      });
}

}  // namespace nereid::server
