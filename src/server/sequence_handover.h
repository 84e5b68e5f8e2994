// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "api/sequence_handover.h"
#include "base/blocking_workers.h"
#include "base/clock.h"
#include "base/mutex.h"
#include "base/result.h"
#include "base/timer_queue.h"
#include "curl/http_client.h"
#include "handover/fetcher.h"
#include "handover/outbox.h"
#include "handover/peers.h"
#include "handover/waiting_requests.h"
#include "request/inference_request.h"
#include "server/model_sequences.h"
#include "server/server_phase.h"

namespace nereid::server {

/// Continues sequences of other replicas of the server, and gives its own to them (decision 0020).
/// A request for a sequence that this server does not know waits until the sequence has been
/// fetched; then it is submitted, also if nobody has the sequence: the scheduler then says so.
/// Thread-safe.
class SequenceHandover final : public api::SequenceHandover {
 public:
  using RequestPtr = std::unique_ptr<request::InferenceRequest>;
  /// Submits a request that has waited, as InferenceServer::Infer does, but lets it not wait again.
  using SubmitRequest =
      std::function<base::Status(RequestPtr& request, ServerPhase::Value refused_from)>;

  struct Settings {
    std::vector<handover::PeerAddress> peers;
    std::string token;  // of all replicas
  };
  /// What it uses of the server.
  struct Server {
    ModelSequences::GetTable table;
    SubmitRequest submit;
    /// Returns whether the server takes the sequences of replicas that stop: it does not stop
    /// itself.
    std::function<bool()> accepts_offers;
  };

  /// The sequences that wait for a thread that fetches them, and those threads.
  static constexpr size_t kMaxWaiting = 4096;
  static constexpr size_t kThreads = 8;

  /// Returns the settings of the flags. INVALID_ARGUMENT for a malformed address, or if the file
  /// cannot be read or has no token <name>.<secret>.
  static base::Result<Settings> ReadSettings(const std::vector<std::string>& peers,
                                             const std::string& token_file);

  /// `timers` and `clock` must outlive the object. INTERNAL without random bytes.
  static base::Result<std::unique_ptr<SequenceHandover>> Create(
      Settings settings, std::unique_ptr<curl::HttpClient> client, Server server,
      base::TimerQueue& timers, const base::Clock& clock = base::SteadyClock());
  ~SequenceHandover() override;

  /// Takes the request and lets it wait, if it continues a sequence that `served` does not know and
  /// that another replica may have, or if requests of its sequence wait. Returns nothing if it need
  /// not wait, OK if it does, and UNAVAILABLE if it should and too many others do.
  std::optional<base::Status> TakeOver(RequestPtr& request, ServedModel& served,
                                       ServerPhase::Value refused_from);

  /// Refuses further messages, and ends what is in progress. The requests that wait are submitted.
  void Stop();

  bool IsFromReplica(std::string_view body) const override;
  base::Result<std::string> Claim(std::string_view body) override;
  base::Status Settle(std::string_view body) override;
  base::Status Offer(std::string_view body) override;
  void OfferAll(uint64_t deadline_ns) override;

 private:
  SequenceHandover(Settings settings, std::string replica, std::unique_ptr<curl::HttpClient> client,
                   Server server, base::TimerQueue& timers, const base::Clock& clock);

  /// Has a sequence fetched that nothing has waited for before.
  void BeginFetch(const handover::SequenceKey& key, bool needs_slot);
  base::Status Fetch(const handover::SequenceKey& key, bool needs_slot);
  /// Resumes the requests that wait for the sequence; see WaitingRequests::Resume.
  bool ResumeWaiting(const handover::SequenceKey& key, const base::Status& fetched);
  /// Refuses all requests that wait for the sequence.
  void Refuse(const handover::SequenceKey& key, const base::Status& why);
  void Resume(handover::WaitingRequests::Waiting waiting, const base::Status& fetched);
  /// Waits; false when the server stops.
  bool Pause(uint64_t ns);
  bool IsStopping() const;
  base::Status CheckRunning() const;

  const std::string token_;
  const std::string replica_;
  const std::function<bool()> accepts_offers_;
  const SubmitRequest submit_;
  base::TimerQueue& timers_;
  const base::Clock& clock_;
  mutable base::Mutex mutex_;
  base::ConditionVariable stopped_;
  bool is_stopping_ NEREID_GUARDED_BY(mutex_) = false;

  ModelSequences sequences_;
  const std::unique_ptr<curl::HttpClient> client_;
  handover::Peers peers_;
  /// Shared with the timers that end its holds.
  const std::shared_ptr<handover::Outbox> outbox_;
  handover::WaitingRequests waiting_;
  handover::Fetcher fetcher_;
  base::BlockingWorkers workers_{"sequence-fetch", kThreads, kMaxWaiting};
};

}  // namespace nereid::server
