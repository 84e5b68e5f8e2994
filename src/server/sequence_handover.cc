// SPDX-License-Identifier: Apache-2.0
#include "server/sequence_handover.h"

#include <algorithm>
#include <chrono>
#include <new>
#include <utility>

#include "base/files.h"
#include "base/log.h"
#include "handover/random_name.h"
#include "schedule/sequence/sequence_transfers.h"
#include "server/residency/waiting_requests.h"

namespace nereid::server {

using base::MutexLock;
using base::Status;
using base::StatusCode;
using handover::SequenceKey;
using handover::WaitingRequests;

namespace {

constexpr uint64_t kMaxTokenFile = 4096;
/// How long the sequences of an offer may take until they are offered to the next replica.
constexpr uint64_t kOfferNs = 1'000'000'000;
constexpr uint64_t kPollNs = 10'000'000;
/// How often in a row no replica may be reached until the others are not asked any more.
constexpr size_t kMaxFailedOffers = 10;

/// Whether a request of this model version may wait for its sequence. The scheduler is not asked.
bool MayWait(const request::InferenceRequest& request, ServedModel& served) {
  return !request::IsNone(request.correlation_id) &&
         schedule::CheckTransferable(served.config()).ok();
}

}  // namespace

base::Result<SequenceHandover::Settings> SequenceHandover::ReadSettings(
    const std::vector<std::string>& peers, const std::string& token_file) {
  Settings settings;
  for (const std::string& peer : peers) {
    auto address = handover::ParsePeer(peer);
    if (!address.ok()) return address.status().WithPrefix("--sequence-handover-peers: ");
    settings.peers.push_back(std::move(address).value());
  }
  if (token_file.empty()) {
    return Status::InvalidArgument(
        "--sequence-handover-peers needs --sequence-handover-token-file: the token by which the "
        "replicas know each other");
  }
  auto text = base::ReadFile(token_file, kMaxTokenFile);
  if (!text.ok()) return text.status().WithPrefix("--sequence-handover-token-file: ");
  settings.token = *text;
  const size_t end = settings.token.find_last_not_of(" \t\r\n");
  settings.token.resize(end == std::string::npos ? 0 : end + 1);
  const size_t dot = settings.token.find('.');
  const bool is_visible = std::all_of(settings.token.begin(), settings.token.end(),
                                      [](char c) { return c > ' ' && c <= '~'; });
  constexpr size_t kLeastSecret = 16;
  if (dot == std::string::npos || dot == 0 || settings.token.size() < dot + 1 + kLeastSecret ||
      settings.token.size() > handover::kMaxText || !is_visible) {
    return Status::InvalidArgument(
        "--sequence-handover-token-file: " + token_file +
        " has no token <name>.<secret> with a secret of 16 characters or more; 'nereid token "
        "create' makes one");
  }
  return settings;
}

base::Result<std::unique_ptr<SequenceHandover>> SequenceHandover::Create(
    Settings settings, std::unique_ptr<curl::HttpClient> client, Server server,
    base::TimerQueue& timers, const base::Clock& clock) {
  NEREID_ASSIGN_OR_RETURN(std::string replica, handover::RandomName());
  return std::unique_ptr<SequenceHandover>(
      new SequenceHandover(std::move(settings), std::move(replica), std::move(client),
                           std::move(server), timers, clock));
}

SequenceHandover::SequenceHandover(Settings settings, std::string replica,
                                   std::unique_ptr<curl::HttpClient> client, Server server,
                                   base::TimerQueue& timers, const base::Clock& clock)
    : token_(std::move(settings.token)),
      replica_(std::move(replica)),
      accepts_offers_(std::move(server.accepts_offers)),
      submit_(std::move(server.submit)),
      timers_(timers),
      clock_(clock),
      sequences_(std::move(server.table)),
      client_(std::move(client)),
      peers_(std::move(settings.peers), handover::ResolveHost, clock),
      outbox_(std::make_shared<handover::Outbox>(sequences_, clock)),
      fetcher_(sequences_, peers_, *client_, clock,
               {.secret = token_,
                .replica = replica_,
                .pause = [this](uint64_t ns) { return Pause(ns); },
                .is_stopping = [this] { return IsStopping(); },
                .is_leaving = [this](const SequenceKey& key) { return outbox_->Holds(key); }}) {}

SequenceHandover::~SequenceHandover() { Stop(); }

void SequenceHandover::Stop() {
  {
    MutexLock lock(mutex_);
    is_stopping_ = true;
    stopped_.NotifyAll();
  }
  // Tasks that have begun end soon; the others are discarded.
  workers_.Stop();
  for (const SequenceKey& key : waiting_.Sequences()) {
    Refuse(key, Status::Unavailable("the server stops"));
  }
  outbox_->Clear();
}

bool SequenceHandover::Pause(uint64_t ns) {
  const auto until = std::chrono::steady_clock::now() + std::chrono::nanoseconds(ns);
  MutexLock lock(mutex_);
  while (!is_stopping_ && stopped_.WaitUntil(lock, until)) {
  }
  return !is_stopping_;
}

bool SequenceHandover::IsStopping() const {
  MutexLock lock(mutex_);
  return is_stopping_;
}

Status SequenceHandover::CheckRunning() const {
  return IsStopping() ? Status::Unavailable("the server stops") : Status::Ok();
}

// ---- Sequences of other replicas ----

std::optional<Status> SequenceHandover::TakeOver(RequestPtr& request, ServedModel& served,
                                                 ServerPhase::Value refused_from) {
  using Entry = WaitingRequests::Entry;
  if (!MayWait(*request, served)) return std::nullopt;
  model::ModelVersion& version = served.version();
  const SequenceKey key{served.config().name(), version.identity().version,
                        request->correlation_id};
  const int origin = static_cast<int>(refused_from);
  Entry entry = waiting_.Join(key, request, origin);
  if (entry == Entry::kAlone) {
    const bool is_known = !request->ContinuesSequence() || version.HasSequence(key.id);
    if (is_known || IsStopping()) return std::nullopt;
    entry = waiting_.Enter(key, request, origin);
  }
  if (entry == Entry::kFull) {
    return Status::Unavailable(request->LogPrefix() +
                               "too many requests wait for sequences of other replicas");
  }
  if (entry == Entry::kFirst) BeginFetch(key, /*needs_slot=*/false);
  return Status::Ok();
}

void SequenceHandover::BeginFetch(const SequenceKey& key, bool needs_slot) {
  bool has_begun = false;
  try {
    has_begun = workers_.Run([this, key, needs_slot] {
      while (!ResumeWaiting(key, Fetch(key, needs_slot))) {
      }
    });
  } catch (const std::bad_alloc&) {
    // As if there were no thread.
  }
  if (!has_begun) {
    Refuse(key, Status::Unavailable(handover::Named(key) +
                                    " could not be fetched from another replica: too many are "
                                    "being fetched, or the server stops"));
  }
}

Status SequenceHandover::Fetch(const SequenceKey& key, bool needs_slot) {
  try {
    return fetcher_.Fetch(key, needs_slot);
  } catch (const std::bad_alloc&) {
    return Status::Unavailable("out of memory");
  }
}

bool SequenceHandover::ResumeWaiting(const SequenceKey& key, const Status& fetched) {
  return waiting_.Resume(key, [this, &fetched](WaitingRequests::Waiting waiting) {
    Resume(std::move(waiting), fetched);
  });
}

void SequenceHandover::Refuse(const SequenceKey& key, const Status& why) {
  while (!ResumeWaiting(key, why)) {
  }
}

void SequenceHandover::Resume(WaitingRequests::Waiting waiting, const Status& fetched) {
  RequestPtr& request = waiting.request;
  // Its thread is no event loop's, and has other sequences to fetch.
  request->may_run_inline = false;
  // A request with START does not need what could not be fetched. If nobody has the sequence, the
  // scheduler refuses the request with its own text.
  const bool is_refused =
      !fetched.ok() && fetched.code() != StatusCode::kNotFound && request->ContinuesSequence();
  Status status;
  try {
    status = is_refused ? fetched.WithPrefix(request->LogPrefix())
                        : submit_(request, static_cast<ServerPhase::Value>(waiting.origin));
  } catch (const std::bad_alloc&) {
    status = Status::Unavailable("out of memory");
  }
  if (!status.ok() && request != nullptr) RefuseUnserved(std::move(request), std::move(status));
}

Status SequenceHandover::Offer(std::string_view body) {
  NEREID_RETURN_IF_ERROR(CheckRunning());
  NEREID_ASSIGN_OR_RETURN(const handover::Offer offer, handover::DecodeOffer(body));
  if (offer.replica == replica_) return Status::NotFound("the offer is this server's own");
  if (!accepts_offers_()) {
    return Status::Unavailable("the server leaves, too, and takes no sequences");
  }
  for (const SequenceKey& key : offer.keys) {
    if (sequences_.Serves(key)) continue;
    RequestPtr none;
    const auto entry = waiting_.Enter(key, none, 0);
    if (entry == WaitingRequests::Entry::kFirst) BeginFetch(key, /*needs_slot=*/true);
  }
  return Status::Ok();
}

// ---- Sequences of this server ----

bool SequenceHandover::IsFromReplica(std::string_view body) const {
  return handover::IsSameSecret(handover::SecretOf(body), token_);
}

base::Result<std::string> SequenceHandover::Claim(std::string_view body) {
  NEREID_RETURN_IF_ERROR(CheckRunning());
  NEREID_ASSIGN_OR_RETURN(const handover::Claim claim, handover::DecodeClaim(body));
  if (claim.replica == replica_) return Status::NotFound("the question is this server's own");
  // The sequence has just come for these requests. Without them it would look idle.
  if (waiting_.Has(claim.key) && sequences_.Serves(claim.key)) {
    return Status::Unavailable(handover::Named(claim.key) + " has requests that are not completed");
  }
  auto bytes = outbox_->Claim(claim.key);
  if (bytes.ok()) {
    timers_.Schedule(clock_.NowNs() + handover::Outbox::kHoldNs, [outbox = std::weak_ptr(outbox_)] {
      if (const auto alive = outbox.lock()) alive->Expire();
    });
  }
  return bytes;
}

Status SequenceHandover::Settle(std::string_view body) {
  NEREID_ASSIGN_OR_RETURN(const handover::Settlement settlement, handover::DecodeSettlement(body));
  return outbox_->Settle(settlement.hold, settlement.takes);
}

void SequenceHandover::OfferAll(uint64_t deadline_ns) {
  size_t failed = 0;
  for (size_t turn = 0; failed < kMaxFailedOffers; ++turn) {
    std::vector<SequenceKey> keys = sequences_.List(handover::kMaxOffered);
    if (keys.empty()) {
      // Those that are held may come back.
      if (outbox_->IsEmpty() || clock_.NowNs() >= deadline_ns || !Pause(kPollNs)) return;
      continue;
    }
    if (turn == 0) LOG_INFO << "Handing the open sequences over to other replicas";
    const Status offered = fetcher_.Offer(std::move(keys), turn);
    failed = offered.ok() ? 0 : failed + 1;
    const uint64_t now_ns = clock_.NowNs();
    const uint64_t next_ns = offered.ok() ? now_ns + kOfferNs : now_ns + 10 * kPollNs;
    while (clock_.NowNs() < std::min(next_ns, deadline_ns) && !sequences_.List(1).empty()) {
      if (!Pause(kPollNs)) return;
    }
    if (clock_.NowNs() >= deadline_ns) break;
  }
  LOG_WARNING << "Some open sequences were not handed over: no other replica has taken them";
}

}  // namespace nereid::server
