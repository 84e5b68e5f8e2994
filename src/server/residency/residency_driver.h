// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "base/blocking_workers.h"
#include "base/clock.h"
#include "base/mutex.h"
#include "server/residency/model_accounts.h"
#include "server/residency/residency_planner.h"
#include "server/residency/waiting_requests.h"

namespace nereid::server {

/// What the orders of a planner do. Called without a lock, from several threads.
class ResidencyWork {
 public:
  virtual ~ResidencyWork() = default;
  /// Loads a model with the models that it calls. Blocks.
  virtual base::Status LoadModel(const std::string& model) = 0;
  /// Removes a model from service. Blocks.
  virtual void EvictModel(const std::string& model) = 0;
  /// Returns the gate of a model; null for an unknown model.
  virtual std::shared_ptr<ModelGate> FindGate(const std::string& model) const = 0;
  virtual ModelUses ReadUses() const = 0;
  /// Submits a request to its model, which is in memory.
  virtual base::Status SubmitNow(std::unique_ptr<request::InferenceRequest>& request,
                                 ServerPhase::Value refused_from) = 0;
};

/// The numbers of a server's residency, for its metrics. The counters never go back.
struct ResidencyNumbers {
  uint64_t budget_bytes = 0;
  uint64_t held_bytes = 0;
  uint64_t most_bytes = 0;  // that were held at one time
  uint64_t waiting = 0;     // requests
  uint64_t waits = 0;       // requests that had to wait
  uint64_t wait_ns = 0;     // of all waits that have ended
  uint64_t refusals = 0;
  uint64_t loads = 0;
  uint64_t failed_loads = 0;
  uint64_t evictions = 0;
};

/// Tells a ResidencyPlanner what happens, and carries out its orders. Thread-safe.
///
/// One thread ("residency") runs the planner. Loads and evictions run on threads of their own
/// ("model-residency").
///
/// Locks: mutex_ guards the planner and the requests that wait. Nothing of ResidencyWork, no
/// request and no call of a client runs while it is held. The lock of ModelAccounts is taken before
/// it.
class ResidencyDriver {
 public:
  /// `work` and `clock` must outlive the object.
  ResidencyDriver(ResidencyPlanner::Settings settings, ResidencyWork& work,
                  const base::Clock& clock);
  ~ResidencyDriver() { Stop(); }

  base::Status Start();
  /// Refuses the requests that wait, and all that would wait from now on.
  void BeginStop();
  /// Waits for the loads and evictions in progress and ends the threads.
  void Stop();

  /// Lets a request wait until its model is in memory. It is refused by its sink then, or
  /// submitted. UNAVAILABLE if it cannot wait; the caller keeps it.
  base::Status Wait(std::unique_ptr<request::InferenceRequest>& request,
                    ServerPhase::Value refused_from);
  /// Waits until a model is in memory and returns a pass for it. Blocks.
  base::Result<ModelGate::Pass> Await(const std::string& model);
  /// Loads a model for a client, also if it is in memory. Blocks. CANCELLED if `is_abandoned`
  /// returns true before the load begins.
  base::Status LoadFor(const std::string& model, const std::function<bool()>& is_abandoned);

  // See ResidencyPlanner.
  void Know(const std::string& model, ResidencyPlanner::Facts facts);
  void Forget(const std::string& model, const base::Status& reason);
  void Hold(const std::string& model, const ModelAccounts::Holding& holding);
  bool IsResident(const std::string& model) const;

  ResidencyNumbers Numbers() const;

 private:
  void Run();
  /// Carries out all that the planner orders at this moment.
  void Advance() NEREID_REQUIRES(mutex_);
  void CarryOut(ResidencyPlanner::Action action) NEREID_REQUIRES(mutex_);
  void Serve(const std::string& model, const std::vector<Ticket>& tickets) NEREID_REQUIRES(mutex_);
  void Refuse(const std::vector<Ticket>& tickets, const base::Status& status)
      NEREID_REQUIRES(mutex_);
  /// Refuses the requests that were cancelled or whose time is over, or all of them in a stop.
  void RefuseEnded(uint64_t now_ns) NEREID_REQUIRES(mutex_);
  void Load(const std::string& model);
  void Evict(const std::string& model);
  /// Adds a waiter and wakes the thread.
  base::Status Admit(Waiter* waiter, uint64_t bytes, uint64_t expires_ns) NEREID_REQUIRES(mutex_);
  base::Status WaitFor(const std::string& model, const std::shared_ptr<WaitingCall>& call,
                       bool is_load, const std::function<bool()>& is_abandoned);
  /// Ends the wait of a waiter: counts it and takes it out.
  Waiter Take(Ticket ticket) NEREID_REQUIRES(mutex_);
  void Wake() NEREID_REQUIRES(mutex_);

  const ResidencyPlanner::Settings settings_;
  ResidencyWork& work_;
  const base::Clock& clock_;
  mutable base::Mutex mutex_;
  base::ConditionVariable changed_;    // for the thread
  base::ConditionVariable call_done_;  // for the calls that wait
  ResidencyPlanner planner_ NEREID_GUARDED_BY(mutex_);
  Waiters waiters_ NEREID_GUARDED_BY(mutex_);
  ResidencyNumbers numbers_ NEREID_GUARDED_BY(mutex_);
  Ticket next_ticket_ NEREID_GUARDED_BY(mutex_) = 1;
  bool is_woken_ NEREID_GUARDED_BY(mutex_) = false;
  bool is_closing_ NEREID_GUARDED_BY(mutex_) = false;
  bool is_stopping_ NEREID_GUARDED_BY(mutex_) = false;
  base::BlockingWorkers workers_{"model-residency", 4};
  std::thread thread_;
};

}  // namespace nereid::server
