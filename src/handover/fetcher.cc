// SPDX-License-Identifier: Apache-2.0
#include "handover/fetcher.h"

#include <utility>

#include "base/log.h"

namespace nereid::handover {

using base::Status;
using base::StatusCode;

namespace {

constexpr size_t kMaxErrorText = 1024;

/// Returns the error of a replica's answer with another status than 200.
Status ErrorOf(const curl::HttpResponse& response) {
  std::string text = response.body.substr(0, kMaxErrorText);
  switch (response.status) {
    case 400:
      return Status::InvalidArgument(std::move(text));
    case 404:
      return Status::NotFound(std::move(text));
    case 501:
      return Status::Unsupported(std::move(text));
    case 503:
      return Status::Unavailable(std::move(text));
    default:
      return Status::Internal("status " + std::to_string(response.status));
  }
}

}  // namespace

base::Result<curl::HttpResponse> Fetcher::Post(const std::string& url, std::string_view path,
                                               std::string body) {
  curl::HttpRequest request;
  request.method = "POST";
  request.url = url + std::string(path);
  request.fields = {{"Authorization", "Bearer " + settings_.secret},
                    {"Content-Type", "application/octet-stream"}};
  request.body = std::move(body);
  request.timeouts = {.connect_ms = 1'000, .stall_secs = 5, .total_ms = 0};
  request.max_body = kMaxSequenceBytes;
  request.use_proxy = false;
  curl::HttpReceiver receiver;
  receiver.is_cancelled = settings_.is_stopping;
  auto response = client_.Send(request, receiver);
  if (!response.ok()) {
    peers_.NoteUnreachable(url);
  } else if (response->status == 401 || response->status == 403) {
    Warn("replica " + url + " refuses to hand sequences over (status " +
         std::to_string(response->status) +
         "): it must have the same --sequence-handover-token-file, and with --auth-file a role "
         "manage for that token");
  }
  return response;
}

void Fetcher::Warn(const std::string& text) {
  uint64_t left_out = 0;
  if (!warnings_.Admit(clock_.NowNs(), &left_out)) return;
  LOG_WARNING << text << (left_out > 0 ? " (" + std::to_string(left_out) + " more)" : "");
}

Status Fetcher::Fetch(const SequenceKey& key, bool needs_slot) {
  const uint64_t until_ns = clock_.NowNs() + kMaxNs;
  do {
    if (sequences_.Serves(key)) return Status::Ok();
    if (settings_.is_leaving(key)) continue;
    auto status = FetchOnce(key, needs_slot);
    // Two replicas may hand the sequence over meanwhile: one was asked before it had the sequence,
    // the other one after it had given it away.
    if (status && status->code() == StatusCode::kNotFound) status = FetchOnce(key, needs_slot);
    if (status) return *status;
  } while (clock_.NowNs() < until_ns && settings_.pause(kPauseNs));
  return Status::Unavailable(Named(key) +
                             " could not be fetched from another replica, which has not completed "
                             "its last request: send the request again");
}

std::optional<Status> Fetcher::FetchOnce(const SequenceKey& key, bool needs_slot) {
  bool is_busy = false;
  Status status = Status::NotFound(Named(key) + " is not known to any replica");
  for (const std::string& url : peers_.Urls()) {
    auto answer = Post(url, kClaimPath, Encode(Claim{settings_.secret, settings_.replica, key}));
    if (!answer.ok()) continue;
    if (answer->status == 200) return Accept(url, key, answer->body, needs_slot);
    const Status error = ErrorOf(*answer);
    if (error.code() == StatusCode::kUnavailable) is_busy = true;
    // It has the sequence, but cannot give it.
    if (error.code() == StatusCode::kInvalidArgument || error.code() == StatusCode::kUnsupported) {
      status = error;
    }
  }
  if (is_busy) return std::nullopt;
  return status;
}

std::optional<Status> Fetcher::Accept(const std::string& url, const SequenceKey& key,
                                      std::string_view bytes, bool needs_slot) {
  auto sequence = DecodeSequence(bytes);
  if (!sequence.ok()) {
    Warn("replica " + url +
         " sends a sequence that this server cannot read: " + sequence.status().message());
    return Status::Unavailable(
        Named(key) + " could not be fetched from another replica: " + sequence.status().message());
  }
  if (sequence->key != key) {
    (void)Settle(url, sequence->hold, /*takes=*/false);
    return Status::Unavailable(Named(key) + " could not be fetched: a replica sent another one");
  }
  auto put = sequences_.Put(*sequence, needs_slot);
  if (!put.ok()) {
    (void)Settle(url, sequence->hold, /*takes=*/false);
    if (put.status().code() == StatusCode::kAlreadyExists) return Status::Ok();
    return put.status();
  }
  const Status taken = Settle(url, sequence->hold, /*takes=*/true);
  // Only now nobody else serves it.
  const bool is_here = (*put)->Settle(/*serves=*/taken.ok());
  if (taken.ok() && is_here) return Status::Ok();
  if (taken.ok()) return Status::NotFound(Named(key) + " has ended");
  // The other replica serves it again, or it has ended.
  if (taken.code() == StatusCode::kNotFound) return std::nullopt;
  Warn(Named(key) + " may be lost: replica " + url + " does not say whether it has given it (" +
       taken.message() + ")");
  return Status::Unavailable(Named(key) +
                             " could not be fetched from another replica: " + taken.message());
}

Status Fetcher::Settle(const std::string& url, const std::string& hold, bool takes) {
  const Settlement settlement{settings_.secret, hold, takes};
  Status status;
  for (int i = 0; i < kMaxSettlements; ++i) {
    auto answer = Post(url, kSettlePath, Encode(settlement));
    status = !answer.ok()            ? answer.status()
             : answer->status == 200 ? Status::Ok()
                                     : ErrorOf(*answer);
    // A definite answer, or a hold that ends by itself.
    if (status.ok() || status.code() == StatusCode::kNotFound || !takes) break;
    if (!settings_.pause(kPauseNs)) break;
  }
  return status;
}

Status Fetcher::Offer(std::vector<SequenceKey> keys, size_t turn) {
  const std::vector<std::string> urls = peers_.Urls();
  if (urls.empty()) return Status::Unavailable("no replica is known");
  handover::Offer offer{settings_.secret, settings_.replica, std::move(keys)};
  if (offer.keys.size() > kMaxOffered) offer.keys.resize(kMaxOffered);
  const std::string& url = urls[turn % urls.size()];
  NEREID_ASSIGN_OR_RETURN(const curl::HttpResponse answer, Post(url, kOfferPath, Encode(offer)));
  return answer.status == 200 ? Status::Ok() : ErrorOf(answer).WithPrefix("replica " + url + ": ");
}

}  // namespace nereid::handover
