// SPDX-License-Identifier: Apache-2.0
#include "server/routed_submission.h"

#include <exception>
#include <utility>

#include "base/clock.h"
#include "rollout/shadow_request.h"
#include "rollout/split.h"
#include "server/rollout_watch.h"

namespace nereid::server {
namespace {

using base::Status;
using RequestPtr = std::unique_ptr<request::InferenceRequest>;

/// A copy that is ready to be sent.
struct ShadowCopy {
  std::shared_ptr<ServedModel> served;
  std::shared_ptr<rollout::ShadowPair> pair;
  RequestPtr request;
};

bool CanShadow(ServedModel& served) {
  return !served.config().decoupled() && !served.version().HasSequences();
}

/// Returns the version that gets the copy of a request; null if there is none.
std::shared_ptr<ServedModel> FindShadow(const repository::ModelTable& table,
                                        const rollout::Rollout& rollout, ServedModel& primary) {
  const int64_t version = rollout.shadow()->rule().target.version;
  if (version == primary.identity().version || !CanShadow(primary)) return nullptr;
  const auto id = table.Resolve(rollout.model());
  if (!id.ok()) return nullptr;
  auto found = table.Find(*id, version);
  if (!found.ok()) return nullptr;
  auto shadow = ServedModel::From(std::move(found).value());
  return CanShadow(*shadow) ? std::move(shadow) : nullptr;
}

ShadowCopy MakeCopy(const repository::ModelTable& table, const rollout::Rollout& rollout,
                    ServedModel& primary, request::InferenceRequest& request) {
  ShadowCopy copy;
  rollout::ShadowTraffic& traffic = *rollout.shadow();
  if (!traffic.IsSelected(rollout::RandomPoint())) return copy;
  copy.served = FindShadow(table, rollout, primary);
  if (copy.served == nullptr) {
    // A request that the shadow version itself answers needs no copy.
    if (primary.identity().version != traffic.rule().target.version) traffic.CountDropped();
    return copy;
  }
  copy.pair = traffic.Begin();
  if (copy.pair != nullptr) copy.request = rollout::CopyForShadow(request, copy.pair);
  return copy;
}

ShadowCopy TryMakeCopy(const repository::ModelTable& table, const rollout::Rollout& rollout,
                       ServedModel& primary, request::InferenceRequest& request) {
  try {
    return MakeCopy(table, rollout, primary, request);
  } catch (const std::exception&) {
    return {};  // no memory
  }
}

Status Submit(std::shared_ptr<ServedModel> served, SharedSubmission& shared, RequestPtr& request,
              std::shared_ptr<RolloutWatch> watch) {
  model::ModelVersion& version = served->version();
  const request::ModelIdentity* const facts = &served->identity();
  std::shared_ptr<const request::ModelIdentity> identity(std::move(served), facts);
  if (request->shared_tensors != nullptr) {
    return shared.Submit(std::move(identity), version, request, std::move(watch));
  }
  if (watch == nullptr) return model::Submit(std::move(identity), version, request);
  return model::Submit(std::move(identity), version, request, *watch);
}

/// A copy that is refused has no answer, and its pair counts as dropped.
void Send(ShadowCopy copy) {
  try {
    copy.request->times.start_ns = base::SteadyClock().NowNs();
    model::ModelVersion& version = copy.served->version();
    std::shared_ptr<const request::ModelIdentity> identity(copy.served, &copy.served->identity());
    (void)model::Submit(std::move(identity), version, copy.request);
  } catch (const std::exception&) {
    // No memory.
  }
}

}  // namespace

Status SubmitRouted(const repository::ModelTable& table,
                    const std::shared_ptr<rollout::Rollout>& rollout,
                    std::shared_ptr<ServedModel> served, bool may_shadow, SharedSubmission& shared,
                    RequestPtr& request) {
  ShadowCopy copy;
  if (may_shadow && rollout != nullptr && rollout->shadow() != nullptr) {
    copy = TryMakeCopy(table, *rollout, *served, *request);
  }
  std::shared_ptr<RolloutWatch> watch;
  if (rollout != nullptr) {
    watch = std::make_shared<RolloutWatch>(rollout, served->identity().version,
                                           std::move(copy.pair), base::SteadyClock());
  }
  const Status status = Submit(std::move(served), shared, request, std::move(watch));
  if (status.ok() && copy.request != nullptr) Send(std::move(copy));
  return status;
}

}  // namespace nereid::server
