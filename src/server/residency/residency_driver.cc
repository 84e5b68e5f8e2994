// SPDX-License-Identifier: Apache-2.0
#include "server/residency/residency_driver.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "base/log.h"
#include "base/threads.h"
#include "request/stopping_status.h"

namespace nereid::server {

using base::Status;
using Order = ResidencyPlanner::Order;
using RequestPtr = std::unique_ptr<request::InferenceRequest>;

namespace {

/// How often the thread looks while the planner waits for models to be idle, and for the clients of
/// waiting requests.
constexpr std::chrono::milliseconds kTick{5};
/// How often a call looks whether its client has gone away.
constexpr std::chrono::milliseconds kLook{100};
constexpr uint64_t kSecondNs = 1'000'000'000;

Status Expired(const Waiter& waiter, uint64_t now_ns, bool is_loading) {
  const uint64_t seconds = (now_ns - waiter.since_ns) / kSecondNs;
  return Status::Unavailable(
      "model '" + waiter.model + "' was not in memory after " + std::to_string(seconds) +
      " s, the time that the request may wait (its own timeout, or --model-wait-secs): " +
      (is_loading ? "a model is being loaded"
                  : "the models within --model-memory-budget are pinned or in use"));
}

/// Submits a request that has waited, or sends the error to its client.
void SubmitWaited(ResidencyWork& work, Waiter waiter) {
  RequestPtr request = std::move(waiter.request);
  Status status;
  if (request->IsCancelled()) {
    status = CancelledWhileWaiting(*request);
  } else {
    // The thread has other requests to submit.
    request->may_run_inline = false;
    status = work.SubmitNow(request, waiter.refused_from);
  }
  if (!status.ok() && request != nullptr) RefuseUnserved(std::move(request), std::move(status));
}

}  // namespace

ResidencyDriver::ResidencyDriver(ResidencyPlanner::Settings settings, ResidencyWork& work,
                                 const base::Clock& clock)
    : settings_(settings), work_(work), clock_(clock), planner_(settings) {}

Status ResidencyDriver::Start() {
  NEREID_ASSIGN_OR_RETURN(thread_, base::StartThread("residency", [this] { Run(); }));
  return Status::Ok();
}

void ResidencyDriver::BeginStop() {
  const base::MutexLock lock(mutex_);
  is_closing_ = true;
  Wake();
}

void ResidencyDriver::Stop() {
  {
    const base::MutexLock lock(mutex_);
    is_closing_ = true;
    is_stopping_ = true;
    Wake();
  }
  if (thread_.joinable()) thread_.join();
  workers_.Stop();
}

void ResidencyDriver::Wake() {
  is_woken_ = true;
  changed_.NotifyOne();
}

// ---- Events ----

void ResidencyDriver::Know(const std::string& model, ResidencyPlanner::Facts facts) {
  const base::MutexLock lock(mutex_);
  planner_.Know(model, std::move(facts));
}

void ResidencyDriver::Forget(const std::string& model, const Status& reason) {
  const base::MutexLock lock(mutex_);
  planner_.Forget(model, reason);
  Wake();
}

void ResidencyDriver::Hold(const std::string& model, const ModelAccounts::Holding& holding) {
  const base::MutexLock lock(mutex_);
  planner_.Held(model, holding.bytes, holding.versions, holding.expected_bytes, clock_.NowNs());
  numbers_.most_bytes = std::max(numbers_.most_bytes, planner_.HeldBytes());
  Wake();
}

bool ResidencyDriver::IsResident(const std::string& model) const {
  const base::MutexLock lock(mutex_);
  return planner_.IsResident(model);
}

ResidencyNumbers ResidencyDriver::Numbers() const {
  const base::MutexLock lock(mutex_);
  ResidencyNumbers numbers = numbers_;
  numbers.budget_bytes = settings_.budget_bytes;
  numbers.held_bytes = planner_.HeldBytes();
  for (const auto& [ticket, waiter] : waiters_) numbers.waiting += waiter.request != nullptr;
  return numbers;
}

Status ResidencyDriver::Admit(Waiter* waiter, uint64_t bytes, uint64_t expires_ns) {
  if (is_closing_) return request::StoppingStatus();
  const Ticket ticket = next_ticket_++;
  NEREID_RETURN_IF_ERROR(
      planner_.Ask(ticket, {waiter->model, bytes, waiter->since_ns, expires_ns, waiter->is_load}));
  waiters_.emplace(ticket, std::move(*waiter));
  Wake();
  return Status::Ok();
}

Status ResidencyDriver::Wait(RequestPtr& request, ServerPhase::Value refused_from) {
  const uint64_t now_ns = clock_.NowNs();
  const uint64_t bytes = request->inputs().ByteSize();
  const uint64_t expires_ns = ExpiryOf(*request, now_ns, settings_.max_wait_ns);
  Waiter waiter{.model = request->model_name, .since_ns = now_ns, .refused_from = refused_from};
  const base::MutexLock lock(mutex_);
  waiter.request = std::move(request);
  Status status = Admit(&waiter, bytes, expires_ns);
  if (status.ok()) {
    ++numbers_.waits;
    return status;
  }
  request = std::move(waiter.request);
  ++numbers_.refusals;
  return LoadErrorForRequest(request->model_name, status);
}

base::Result<ModelGate::Pass> ResidencyDriver::Await(const std::string& model) {
  auto call = std::make_shared<WaitingCall>();
  const Status status = WaitFor(model, call, /*is_load=*/false, {});
  if (!status.ok()) return LoadErrorForRequest(model, status);
  return std::move(call->pass);
}

Status ResidencyDriver::LoadFor(const std::string& model,
                                const std::function<bool()>& is_abandoned) {
  return WaitFor(model, std::make_shared<WaitingCall>(), /*is_load=*/true, is_abandoned);
}

Status ResidencyDriver::WaitFor(const std::string& model, const std::shared_ptr<WaitingCall>& call,
                                bool is_load, const std::function<bool()>& is_abandoned) {
  const uint64_t now_ns = clock_.NowNs();
  // A load has no time limit: the planner refuses it if it finds no room.
  const uint64_t expires_ns = is_load ? 0 : now_ns + settings_.max_wait_ns;
  Waiter waiter{.model = model, .since_ns = now_ns, .call = call, .is_load = is_load};
  base::MutexLock lock(mutex_);
  const Ticket ticket = next_ticket_;
  NEREID_RETURN_IF_ERROR(Admit(&waiter, 0, expires_ns));
  while (!call->is_done) {
    call_done_.WaitFor(lock, kLook);
    if (call->is_done || !is_abandoned) continue;
    lock.Unlock();
    const bool is_gone = is_abandoned();
    lock.Lock();
    if (!is_gone || call->is_done || !planner_.Abandon(ticket)) continue;
    waiters_.erase(ticket);
    return Status::Cancelled("the client went away before the load began");
  }
  return call->status;
}

// ---- The thread ----

void ResidencyDriver::Run() {
  base::MutexLock lock(mutex_);
  while (true) {
    is_woken_ = false;
    Advance();
    if (is_stopping_ && waiters_.empty()) return;
    if (is_woken_) continue;
    if (planner_.IsWaiting() || is_closing_) {
      changed_.WaitFor(lock, kTick);
    } else {
      while (!is_woken_) changed_.Wait(lock);
    }
  }
}

void ResidencyDriver::Advance() {
  while (true) {
    RefuseEnded(clock_.NowNs());
    ModelUses uses;
    {
      // Read after the last actions were carried out, as the planner demands.
      const base::MutexUnlock unlock(mutex_);
      uses = work_.ReadUses();
    }
    ResidencyPlanner::Actions actions = planner_.Step(clock_.NowNs(), uses);
    if (actions.empty()) return;
    for (ResidencyPlanner::Action& action : actions) CarryOut(std::move(action));
  }
}

void ResidencyDriver::CarryOut(ResidencyPlanner::Action action) {
  const std::string& model = action.model;
  switch (action.order) {
    case Order::kServe:
      Serve(model, action.tickets);
      planner_.Served(model);
      return;
    case Order::kRefuse:
      Refuse(action.tickets, action.status);
      return;
    case Order::kOpen:
    case Order::kClose: {
      const base::MutexUnlock unlock(mutex_);
      const auto gate = work_.FindGate(model);
      if (gate == nullptr) return;
      if (action.order == Order::kOpen) {
        gate->Open();
      } else {
        gate->Close();
      }
      return;
    }
    case Order::kLoad: {
      const base::MutexUnlock unlock(mutex_);
      if (!workers_.Run([this, model] { Load(model); })) Load(model);
      return;
    }
    case Order::kEvict: {
      ++numbers_.evictions;
      const base::MutexUnlock unlock(mutex_);
      if (!workers_.Run([this, model] { Evict(model); })) Evict(model);
      return;
    }
  }
}

Waiter ResidencyDriver::Take(Ticket ticket) {
  auto node = waiters_.extract(ticket);
  if (node.empty()) return {};
  Waiter waiter = std::move(node.mapped());
  const uint64_t now_ns = clock_.NowNs();
  if (waiter.request != nullptr) numbers_.wait_ns += now_ns - std::min(now_ns, waiter.since_ns);
  return waiter;
}

void ResidencyDriver::Serve(const std::string& model, const std::vector<Ticket>& tickets) {
  std::vector<Waiter> requests;
  std::vector<std::shared_ptr<WaitingCall>> calls;
  for (const Ticket ticket : tickets) {
    Waiter waiter = Take(ticket);
    // A ticket is either a request or a call.
    if (waiter.request != nullptr) {
      requests.push_back(std::move(waiter));
    } else if (waiter.call != nullptr) {
      calls.push_back(std::move(waiter.call));
    }
  }
  ModelGate::Pass pass;
  std::vector<ModelGate::Pass> passes(calls.size());
  {
    const base::MutexUnlock unlock(mutex_);
    const auto gate = work_.FindGate(model);
    const uint64_t now_ns = clock_.NowNs();
    if (gate != nullptr) pass = ModelGate::Hold(gate, now_ns);
    for (ModelGate::Pass& each : passes) {
      if (gate != nullptr) each = ModelGate::Hold(gate, now_ns);
    }
    for (Waiter& waiter : requests) SubmitWaited(work_, std::move(waiter));
  }
  for (size_t i = 0; i < calls.size(); ++i) {
    calls[i]->pass = std::move(passes[i]);
    calls[i]->is_done = true;
  }
  if (!calls.empty()) call_done_.NotifyAll();
}

void ResidencyDriver::Refuse(const std::vector<Ticket>& tickets, const Status& status) {
  std::vector<RequestPtr> requests;
  for (const Ticket ticket : tickets) {
    Waiter waiter = Take(ticket);
    if (waiter.request != nullptr) {
      ++numbers_.refusals;
      requests.push_back(std::move(waiter.request));
    } else if (waiter.call != nullptr) {
      waiter.call->status = status;
      waiter.call->is_done = true;
      call_done_.NotifyAll();
    }
  }
  const base::MutexUnlock unlock(mutex_);
  for (RequestPtr& request : requests) {
    Status error = LoadErrorForRequest(request->model_name, status);
    RefuseUnserved(std::move(request), std::move(error));
  }
}

void ResidencyDriver::RefuseEnded(uint64_t now_ns) {
  for (const Ticket ticket : planner_.TakeExpired(now_ns)) {
    const auto found = waiters_.find(ticket);
    if (found == waiters_.end()) continue;
    Refuse({ticket}, Expired(found->second, now_ns, planner_.IsLoading()));
  }
  std::vector<Ticket> cancelled;
  std::vector<Ticket> stopped;
  for (const auto& [ticket, waiter] : waiters_) {
    const bool is_cancelled = waiter.request != nullptr && waiter.request->IsCancelled();
    if (!is_cancelled && !is_closing_) continue;
    // A request that the planner has taken already is served or refused in a moment.
    if (planner_.Abandon(ticket)) (is_cancelled ? cancelled : stopped).push_back(ticket);
  }
  for (const Ticket ticket : cancelled) {
    Refuse({ticket}, CancelledWhileWaiting(*waiters_.at(ticket).request));
  }
  if (!stopped.empty()) Refuse(stopped, request::StoppingStatus());
}

void ResidencyDriver::Load(const std::string& model) {
  const Status status = work_.LoadModel(model);
  const base::MutexLock lock(mutex_);
  ++(status.ok() ? numbers_.loads : numbers_.failed_loads);
  planner_.LoadEnded(model, status, clock_.NowNs());
  Wake();
}

void ResidencyDriver::Evict(const std::string& model) {
  LOG_INFO_OF(.model = model) << "evicting '" << model << "': others need its memory";
  work_.EvictModel(model);
  const base::MutexLock lock(mutex_);
  planner_.Retired(model);
  Wake();
}

}  // namespace nereid::server
