// SPDX-License-Identifier: Apache-2.0
#include "repository/load_steps.h"

#include <new>
#include <utility>

#include "base/duration.h"
#include "base/log.h"
#include "base/parse_number.h"
#include "layout/advice.h"
#include "model_config.pb.h"
#include "repository/ensemble_links.h"
#include "repository/load_advice.h"

namespace nereid::repository {

using base::Status;

namespace {

/// How often the files of a model are read until they are the same before and after.
constexpr int kMaxReads = 3;

/// Returns "version 1 is at UNAVAILABLE state: Internal: …;\n" for each version that failed; "" if
/// none did.
std::string FailureText(const LoadedVersions& loaded) {
  std::string text;
  for (const auto& [version, model] : loaded) {
    if (model.ok()) continue;
    text += "version " + std::to_string(version) +
            " is at UNAVAILABLE state: " + model.status().ToString() + ";\n";
  }
  return text;
}

Status LoadFailure(const ModelId& id, const std::string& reason) {
  return Status::InvalidArgument("load failed for model '" + ToText(id) + "': " + reason);
}

/// Applies the model's own limit of its load, if it has one.
Status SetTimeout(const ModelId& id, const config::ModelConfig& config, LoadRun* run) {
  constexpr const char* kParameter = "load_timeout_secs";
  const std::string* text = config.FindParameter(kParameter);
  if (text == nullptr) return Status::Ok();
  const auto seconds = base::ParseWhole<uint32_t>(*text);
  if (!seconds) {
    return LoadFailure(id, std::string("parameter '") + kParameter +
                               "' must be a whole number of seconds, got '" + *text + "'\n");
  }
  run->SetTimeout(base::Duration::Seconds(*seconds).ns());
  return Status::Ok();
}

/// Returns the overrides without the contents of their files, which nobody reads again.
std::shared_ptr<const LoadOverrides> WithoutContents(
    const std::shared_ptr<const LoadOverrides>& overrides) {
  if (overrides == nullptr || overrides->files.empty()) return overrides;
  LoadOverrides kept;
  kept.config = overrides->config;
  for (const LoadOverrides::File& file : overrides->files) kept.files.push_back({file.path, ""});
  return std::make_shared<const LoadOverrides>(std::move(kept));
}

Status Stopping(const ModelId& id) {
  return Status::Unavailable("the server is stopping: '" + ToText(id) + "' is not loaded");
}

/// Returns the versions of a load whose files were changed. Versions that were made count as never
/// loaded, so a model that arrives slowly does not make the server unready.
LoadedVersions TornVersions(LoadedVersions made) {
  const Status torn = Status::Unavailable("its files were changed while they were read");
  for (auto& [version, model] : made) {
    if (!model.ok()) model = torn;
  }
  return made;
}

}  // namespace

Status TornFailure(const ModelId& id) {
  return LoadFailure(id, "its files are changed while they are read\n");
}

LoadSteps::LoadSteps(PollOptions poll, const SettleOptions& settle,
                     const ModelRepositories& repositories, LoadStates& states,
                     VersionSwitch& served, VersionMaker& maker, LoadGate& gate, LoadBoard& board)
    : poll_(std::move(poll)),
      settle_(settle),
      repositories_(repositories),
      states_(states),
      served_(served),
      maker_(maker),
      gate_(gate),
      board_(board) {}

base::Result<LoadOutcome> LoadSteps::Load(const ModelId& id, const LoadJob& job) {
  const LoadGate::Pass pass = gate_.Enter(ToText(id));
  if (!pass) {
    states_.SetResult(id, Stopping(id));
    return Stopping(id);
  }
  const auto run = board_.Begin(id);
  auto loaded = LoadWithinMemory(id, job, *run);
  const auto is = [&](LoadOutcome outcome) { return loaded.ok() && *loaded == outcome; };
  const bool is_torn = is(LoadOutcome::kTorn);
  const Status result = is_torn ? TornFailure(id) : loaded.status();
  states_.SetResult(id, result);
  if (is(LoadOutcome::kUnchanged) || is(LoadOutcome::kNoModel)) {
    board_.EndUnchanged(id);
  } else {
    board_.End(id, result);
  }
  return loaded;
}

base::Result<LoadOutcome> LoadSteps::LoadWithinMemory(const ModelId& id, const LoadJob& job,
                                                      LoadRun& run) {
  try {
    return LoadBehindGate(id, job, run);
  } catch (const std::bad_alloc&) {
    LOG_ERROR_OF(.model = id.name) << "failed to load '" << id << "': out of memory";
    return Status::Unavailable("load failed for model '" + ToText(id) + "': out of memory\n");
  }
}

base::Result<LoadOutcome> LoadSteps::LoadBehindGate(const ModelId& id, const LoadJob& given,
                                                    LoadRun& run) {
  const LoadJob job = WithKeptOverrides(id, given);
  // A load without effect does not mark a member as wanted that was loaded for an ensemble.
  if (IsCurrent(id, job)) return LoadOutcome::kUnchanged;
  for (int reads = 1;; ++reads) {
    NEREID_ASSIGN_OR_RETURN(const ReadGuard guard, AwaitStill(id, job, reads == 1, run));
    // Without a settle time the last reading counts, as it is: the files of a model that writes
    // into its own directory change whenever it is loaded.
    const bool is_last = reads == kMaxReads;
    const bool accepts_all = is_last && settle_.settle_ns == 0;
    auto loaded = LoadOnce(id, job, accepts_all ? ReadGuard() : guard,
                           reads == 1 ? job.scanned.get() : nullptr, run);
    if (!loaded.ok() || *loaded != LoadOutcome::kTorn) return loaded;
    // Files that a scan has accepted are looked at again by the following scans.
    if (is_last || (job.accepted != nullptr && settle_.settle_ns > 0)) return loaded;
  }
}

base::Result<ReadGuard> LoadSteps::AwaitStill(const ModelId& id, const LoadJob& job, bool is_first,
                                              LoadRun& run) {
  const bool is_local = job.Overrides().files.empty() && !IsUrl(job.directory.path);
  if (!is_local) return ReadGuard();  // nobody changes the files, or the storage's copy of them
  const bool was_accepted = is_first && job.accepted != nullptr;
  const auto must_end = [&] { return gate_.IsClosed() || !run.Check().ok(); };
  if (!was_accepted) run.SetPosition({.stage = LoadStage::kSettling, .path = job.directory.path});
  if (!was_accepted && !WaitUntilStill(job.directory.path, settle_, must_end)) {
    if (gate_.IsClosed()) return Stopping(id);
    return LoadFailure(id, run.Check().message() + "\n");
  }
  auto guard = ReadGuard::Begin(job.directory.path, was_accepted ? job.accepted : nullptr);
  if (guard.ok() || guard.status().code() == base::StatusCode::kNotFound) {
    return guard.ok() ? std::move(guard).value() : ReadGuard();  // the poll reports the error
  }
  LOG_ERROR_OF(.model = id.name) << "Poll failed for model directory '" << id
                                 << "': " << guard.status().message();
  return PollFailure(ToText(id), Status::Internal(guard.status().message()));
}

bool LoadSteps::IsTorn(const ModelId& id, const ReadGuard& guard) const {
  // Files that a model adds while it is loaded are told from those of a copy by the settle time.
  const std::string changed = guard.FindChange(/*with_additions=*/settle_.settle_ns > 0);
  if (changed.empty()) return false;
  LOG_WARNING_OF(.model = id.name)
      << "the files of model '" << id << "' were changed while they were read: '" << changed
      << "'; they are read again";
  return true;
}

base::Result<LoadOutcome> LoadSteps::LoadOnce(const ModelId& id, const LoadJob& job,
                                              const ReadGuard& guard, const FileState* scanned,
                                              LoadRun& run) {
  run.SetPosition({.stage = LoadStage::kReading, .path = job.directory.path});
  auto polled = PollModel(job.directory, poll_, job.Overrides(), scanned);
  if (!polled.ok()) {
    if (IsTorn(id, guard)) return LoadOutcome::kTorn;
    const std::string advice =
        job.Overrides().empty() ? AdviceOnPoll(job.directory, poll_) : std::string();
    const std::string reason = layout::WithAdvice(polled.status().message(), advice);
    LOG_ERROR_OF(.model = id.name) << "Poll failed for model directory '" << id << "': " << reason;
    run.SetReason(reason);
    // Without overrides the fault lies in the files of the server.
    const bool is_clients =
        !job.Overrides().empty() && polled.status().code() == base::StatusCode::kInvalidArgument;
    return PollFailure(ToText(id),
                       is_clients ? Status::InvalidArgument(reason) : Status::Internal(reason));
  }
  NameIgnored(id, *polled);
  if (IsLeftOut(id, job, *polled)) {
    if (IsTorn(id, guard)) return LoadOutcome::kTorn;
    LOG_WARNING_OF(.model = id.name)
        << "the directory '" << id << "' of the model repository is no model: it has neither a "
        << "configuration nor a model file, and there is no backend '"
        << polled->basis.config->backend() << "'";
    Retire(id);  // it may have been a model without a version before
    return LoadOutcome::kNoModel;
  }
  if (job.is_wanted) states_.SetWanted(id);
  polled->basis.overrides = WithoutContents(job.overrides);
  board_.SetTags(id, polled->basis.config->metric_tags());
  NEREID_RETURN_IF_ERROR(SetTimeout(id, *polled->basis.config, &run));
  if (polled->versions.empty()) {
    return IsTorn(id, guard) ? base::Result(LoadOutcome::kTorn) : NoVersion(id, *polled, run);
  }
  NEREID_RETURN_IF_ERROR(Link(id, job, &*polled));
  // Agents may write into the directory, and give the model files of their own.
  return MakeAndSwitch(id, *polled, polled->agents == nullptr ? guard : ReadGuard(), run);
}

LoadJob LoadSteps::WithKeptOverrides(const ModelId& id, const LoadJob& job) const {
  LoadJob kept = job;
  if (job.is_wanted || job.again || job.overrides != nullptr) return kept;
  // While nothing serves, the files of the overrides do not exist any more.
  if (!HasReadyVersion(served_.Table()->FindVersions(id))) return kept;
  kept.overrides = states_.BasisOf(id).overrides;
  if (kept.overrides != nullptr) {
    LOG_INFO_OF(.model = id.name)
        << "model '" << id << "', a member of the loaded ensemble, keeps the overrides of its own "
        << "load; load it by its name to use the files of the repository";
  }
  return kept;
}

bool LoadSteps::IsCurrent(const ModelId& id, const LoadJob& job) const {
  if (job.again) return false;
  if (!HasReadyVersion(served_.Table()->FindVersions(id))) return false;
  const LoadBasis basis = states_.BasisOf(id);
  if (job.overrides != nullptr) {
    if (job.overrides != basis.overrides) return false;
    if (!job.overrides->files.empty()) return true;  // the repository's files do not count
  }
  const auto files = poll_.storage->ReadState(job.directory.path);
  return files.ok() && basis.files == *files;
}

bool LoadSteps::IsLeftOut(const ModelId& id, const LoadJob& job, const PolledModel& polled) const {
  if (!job.is_found || HasReadyVersion(served_.Table()->FindVersions(id))) return false;
  return IsNoModel(polled.directory, *polled.basis.config, polled.basis.configured,
                   poll_.backend_directory);
}

void LoadSteps::NameIgnored(const ModelId& id, const PolledModel& polled) {
  std::set<std::string> names;
  for (const auto& [name, reason] : polled.ignored) names.insert(name);
  std::set<std::string> named = names;
  {
    const base::MutexLock lock(mutex_);
    named.swap(ignored_[id]);
    if (names.empty()) ignored_.erase(id);
  }
  for (const auto& [name, reason] : polled.ignored) {
    if (named.contains(name)) continue;
    LOG_WARNING_OF(.model = id.name)
        << "ignore version directory '" << name << "' which " << reason;
  }
}

Status LoadSteps::NoVersion(const ModelId& id, const PolledModel& polled, LoadRun& run) {
  // From now on the model is in the table without a version, which makes the server unready.
  served_.AddModel(id);
  const std::string reason = layout::WithAdvice(
      "at least one version must be available under the version policy of model '" +
          polled.directory.name + "'",
      AdviceOnNoVersion(polled.directory.name, polled.directory.path, *polled.written,
                        polled.basis.configured));
  LOG_ERROR_OF(.model = id.name) << "failed to load model '" << id << "': " << reason;
  run.SetReason(reason);
  return LoadFailure(id, reason + "\n");
}

Status LoadSteps::Link(const ModelId& id, const LoadJob& job, PolledModel* polled) {
  const config::ModelConfigPtr config = polled->basis.config;
  if (!config->is_ensemble()) {
    states_.ForgetEnsemble(id);
    return Status::Ok();
  }
  // The same table is used for the whole link: names must not be resolved differently in between.
  const auto table = served_.Table();
  const MemberIds members = states_.ResolveMembers(id, *config, *table);
  states_.RememberEnsemble(id, {job, config, members});
  EnsembleSurroundings surroundings{*table};
  surroundings.resolve = [&](const ModelId& caller, const std::string& name) {
    return caller == id ? members.at(name) : states_.Resolve(caller, name, *table);
  };
  surroundings.failure_of = [this](const ModelId& member) { return states_.ResultOf(member); };
  surroundings.config_of = [this](const ModelId& member) { return ConfigOfUnserved(member); };
  auto linked = LinkEnsemble(id, *config, surroundings);
  if (linked.ok()) {
    polled->basis.config = std::move(linked).value();
    return Status::Ok();
  }
  LOG_ERROR_OF(.model = id.name) << "failed to load '" << id << "': " << linked.status().message();
  if (polled->agents != nullptr) polled->agents->LoadFail();
  // The version that serves was created for members that no longer exist.
  Retire(id);
  return LoadFailure(id, linked.status().message() + "\n");
}

config::ModelConfigPtr LoadSteps::ConfigOfUnserved(const ModelId& id) const {
  if (auto config = states_.EnsembleConfig(id)) return config;
  // The model exists but does not serve: it is represented by an empty configuration.
  const bool exists =
      served_.Table()->FindVersions(id) != nullptr || repositories_.Find(id.name).ok();
  return exists ? config::ModelConfig::Create({}) : nullptr;
}

base::Result<LoadOutcome> LoadSteps::MakeAndSwitch(const ModelId& id, const PolledModel& polled,
                                                   const ReadGuard& guard, LoadRun& run) {
  const uint64_t generation = next_generation_++;
  served_.BeginLoading(id, polled.versions, generation);
  VersionMaker::Made made = maker_.Make(id, polled, states_.BasisOf(id), generation, run);
  if (IsTorn(id, guard)) {
    made.versions = TornVersions(std::move(made.versions));
    served_.NoteFailure(id, made.versions, generation);
    return LoadOutcome::kTorn;
  }
  const std::string failures = FailureText(made.versions);
  if (!failures.empty()) {
    served_.NoteFailure(id, made.versions, generation);
    made.versions.clear();  // destroys the new versions before the agents are told
    if (polled.agents != nullptr) polled.agents->LoadFail();
    return LoadFailure(id, failures);
  }
  served_.Replace(id, made.versions, generation);
  for (const auto& [version, model] : made.versions) (*model)->Activate();
  LOG_INFO_OF(.model = id.name) << "successfully loaded '" << id << "'";
  if (polled.agents != nullptr) polled.agents->LoadComplete();
  SetBasis(id, polled.basis, polled.agents);
  return made.outcome;
}

void LoadSteps::Retire(const ModelId& id) {
  {
    const base::MutexLock lock(mutex_);
    ignored_.erase(id);
  }
  if (served_.Retire(id)) SetBasis(id, {}, nullptr);
}

void LoadSteps::SetBasis(const ModelId& id, LoadBasis basis,
                         std::shared_ptr<agent::AgentChain> agents) {
  const auto before = states_.SetBasis(id, std::move(basis), std::move(agents));
  if (before != nullptr) before->Unload();
}

}  // namespace nereid::repository
