// SPDX-License-Identifier: Apache-2.0
#include "tracing/export_rules.h"

#include <algorithm>

#include "base/utf8.h"
#include "tracing/otlp_message.h"

namespace nereid::tracing {
namespace {

constexpr uint64_t kSecondNs = 1'000'000'000;
constexpr uint64_t kFirstDelayNs = kSecondNs / 2;
constexpr uint32_t kMaxDoublings = 6;
constexpr uint64_t kMaxDelayNs = 30 * kSecondNs;
constexpr uint64_t kMaxAskedSecs = 300;
constexpr size_t kMaxShown = 200;  // bytes of the receiver's text in a message

bool AsksForPatience(int status) {
  return status == 429 || status == 502 || status == 503 || status == 504;
}

}  // namespace

SendOutcome OutcomeOf(const TransportReply& reply) {
  SendOutcome outcome;
  if (reply.status == 0) {
    outcome.reason = reply.failure;
    return outcome;
  }
  if (reply.status >= 200 && reply.status < 300) {
    outcome.kind = SendOutcome::Kind::kDelivered;
    const std::optional<PartialSuccess> partial = DecodeExportResponse(reply.body);
    if (!partial || partial->rejected_spans == 0) return outcome;
    outcome.rejected_spans = partial->rejected_spans;
    outcome.reason = "the receiver rejected " + std::to_string(partial->rejected_spans) +
                     " spans: " + base::ReplaceInvalidUtf8(partial->message.substr(0, kMaxShown));
    return outcome;
  }
  outcome.kind =
      AsksForPatience(reply.status) ? SendOutcome::Kind::kRetry : SendOutcome::Kind::kRefused;
  outcome.reason = "the receiver answered with the HTTP status " + std::to_string(reply.status);
  return outcome;
}

uint64_t RetryDelayNs(uint32_t failures, uint64_t asked_secs, uint64_t random) {
  const uint32_t doublings = std::min(failures == 0 ? 0 : failures - 1, kMaxDoublings);
  const uint64_t whole = std::min(kFirstDelayNs << doublings, kMaxDelayNs);
  const uint64_t delay = whole - random % (whole / 2);
  return std::max(delay, std::min(asked_secs, kMaxAskedSecs) * kSecondNs);
}

}  // namespace nereid::tracing
