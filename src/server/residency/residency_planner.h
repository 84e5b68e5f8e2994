// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/status.h"
#include "server/residency/resident_models.h"
#include "server/residency/wait_line.h"

namespace nereid::server {

/// Decides which models are in memory, within a budget of bytes. A pure object: it has no lock, no
/// thread and no clock. Events tell it what happened, and Step() returns what to do.
///
/// Rules:
/// - One load at a time, of one model with the members that it calls and that are absent. It begins
///   when the bytes in memory and the expected size fit into the budget. The size is known only
///   after the first load, so the budget is exceeded by one model at most.
/// - The models take turns in the order of their oldest waiting request.
/// - ChooseVictim says which models are evicted. A victim is closed first: new requests for it
/// wait.
///   It is evicted when its requests in flight have ended. So a model that is always busy cannot
///   keep others out, and no request in flight loses its model.
/// - A model stays at least as long as its load took, so at most half of the time is spent on
/// loads.
class ResidencyPlanner {
 public:
  struct Settings {
    uint64_t budget_bytes = 0;
    uint64_t min_residence_ns = 0;
    /// A request waits this long at most for room.
    uint64_t max_wait_ns = uint64_t{60} * 1'000'000'000;
    /// A model that is still busy after this time is open again.
    uint64_t max_drain_ns = uint64_t{10} * 1'000'000'000;
    WaitLine::Limits line;
  };

  /// What is known of a model before it is in memory.
  struct Facts {
    uint64_t expected_bytes = 0;  // used until the first load shows the size
    bool is_pinned = false;
    std::set<std::string> members = {};  // the models that an ensemble calls
  };
  enum class Order {
    kLoad,    // load the model; tell LoadEnded
    kClose,   // new requests for the model must Ask
    kOpen,    // new requests may use the model
    kEvict,   // remove the model from memory; tell Retired, then Held
    kServe,   // submit these requests to the model; tell Served
    kRefuse,  // answer these requests with the status
  };
  struct Action {
    Order order;
    std::string model;
    std::vector<Ticket> tickets = {};
    base::Status status = {};
  };
  using Actions = std::vector<Action>;

  explicit ResidencyPlanner(Settings settings) : settings_(settings), line_(settings.line) {}

  // ---- Events ----

  /// A model is in the repositories, or its files have changed.
  void Know(const std::string& model, Facts facts);
  /// A model was unloaded by name or deleted. Requests that wait for it get `reason`.
  void Forget(const std::string& model, const base::Status& reason);
  /// A request came for a model that is not open. Returns UNAVAILABLE if the line is full, and the
  /// reason if the model cannot be loaded; the request does not wait then.
  base::Status Ask(Ticket ticket, WaitLine::Waiting waiting);
  /// A request was cancelled. Returns false if it does not wait.
  bool Abandon(Ticket ticket) { return line_.Remove(ticket); }
  /// Removes the requests that have expired.
  std::vector<Ticket> TakeExpired(uint64_t now_ns) { return line_.TakeExpired(now_ns); }
  /// The load of kLoad has ended. Held was told of the loaded versions before.
  void LoadEnded(const std::string& model, const base::Status& result, uint64_t now_ns);
  /// The versions of the model that exist, serving or not, and their bytes. `expected_bytes` is the
  /// size to expect from the next load.
  void Held(const std::string& model, uint64_t bytes, size_t objects, uint64_t expected_bytes,
            uint64_t now_ns);
  /// The model of kEvict was removed from the table; it may not be destroyed yet.
  void Retired(const std::string& model);
  /// The requests of kServe were submitted.
  void Served(const std::string& model);

  /// Returns what to do. Called until it returns nothing, after an event and, while IsWaiting(),
  /// every few milliseconds. `uses` must be newer than the execution of the last actions.
  Actions Step(uint64_t now_ns, const ModelUses& uses);

  // ---- Facts ----

  /// Returns whether Step has to be called though nothing happens.
  bool IsWaiting() const;
  /// Returns the bytes of all models in memory.
  uint64_t HeldBytes() const { return server::HeldBytes(models_); }
  size_t Waiting() const { return line_.size(); }
  bool IsLoading() const { return loading_.has_value(); }
  bool IsDraining() const;
  bool IsResident(const std::string& model) const;
  /// Returns whether the model and its members are expected to fit without an eviction.
  bool HasRoomFor(const std::string& model) const;

 private:
  struct Load {
    std::string root;
    std::set<std::string> models;  // the root and all models that it calls
    uint64_t begin_ns = 0;
    Ticket last = UINT64_MAX;  // requests that came later may need another load
  };

  void FinishDrains(uint64_t now_ns, const ModelUses& uses, Actions* actions);
  void EvictForgotten(uint64_t now_ns, Actions* actions);
  void ServeResident(Actions* actions);
  void StartNext(uint64_t now_ns, const ModelUses& uses, Actions* actions);
  /// Begins to evict models until `bytes` are free or being freed, or all others must stay.
  void Free(uint64_t bytes, const VictimRules& rules, const ModelUses& uses, Actions* actions);
  /// Begins to evict a model and the ensembles that call it.
  void StartDrain(const std::string& name, uint64_t now_ns, Actions* actions);
  void OpenReady(Actions* actions);
  void Refuse(const std::string& name, const base::Status& status, Actions* actions);

  const Settings settings_;
  WaitLine line_;
  ResidentModels models_;
  std::optional<Load> loading_;
  Ticket latest_ = 0;  // of all tickets
  Actions pending_;    // of events, for the next Step
};

}  // namespace nereid::server
