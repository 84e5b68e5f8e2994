// SPDX-License-Identifier: Apache-2.0
#include "server/rollout_watch.h"

#include <exception>

#include "request/forwarding_sink.h"
#include "request/inference_response.h"
#include "request/response_factory.h"
#include "rollout/shadow_request.h"

namespace nereid::server {
namespace {

using base::StatusCode;
using rollout::Outcome;

Outcome OutcomeOfResponse(StatusCode code) {
  if (code == StatusCode::kOk) return Outcome::kSuccess;
  return code == StatusCode::kCancelled ? Outcome::kCancelled : Outcome::kFailure;
}

Outcome OutcomeOfRefusal(StatusCode code) {
  switch (code) {
    case StatusCode::kInvalidArgument:
    case StatusCode::kNotFound:
    case StatusCode::kUnsupported:
    case StatusCode::kAlreadyExists:
      return Outcome::kInvalid;
    default:
      return OutcomeOfResponse(code);
  }
}

/// The innermost wrapper of the front end's sink.
class OutcomeSink final : public request::ForwardingSink {
 public:
  OutcomeSink(std::shared_ptr<request::ResponseSink> next,
              std::shared_ptr<rollout::Rollout> rollout, int64_t version, uint64_t start_ns,
              std::shared_ptr<rollout::ShadowPair> pair, const base::Clock& clock)
      : ForwardingSink(std::move(next)),
        rollout_(std::move(rollout)),
        version_(version),
        start_ns_(start_ns),
        pair_(std::move(pair)),
        clock_(clock) {}

  void Send(std::unique_ptr<request::InferenceResponse> response, bool final) noexcept override {
    try {
      if (response != nullptr) Look(*response);
      // Before the client has the answer: its next request must not see a version that is rolled
      // back because of this one.
      if (final) {
        const uint64_t now_ns = clock_.NowNs();
        rollout_->OnEnd(version_, OutcomeOfResponse(error_), now_ns - start_ns_, now_ns);
      }
    } catch (const std::exception&) {
      // No memory: the request is missing from the counts.
    }
    ForwardingSink::Send(std::move(response), final);
  }

 private:
  void Look(request::InferenceResponse& response) {
    if (!response.error().ok()) error_ = response.error().code();
    if (pair_ == nullptr) return;
    if (auto answer = rollout::ShareAnswer(response)) pair_->SetExpected(*std::move(answer));
    pair_.reset();
  }

  const std::shared_ptr<rollout::Rollout> rollout_;
  const int64_t version_;
  const uint64_t start_ns_;
  std::shared_ptr<rollout::ShadowPair> pair_;
  const base::Clock& clock_;
  // No lock: the responses of one request are sent one at a time.
  StatusCode error_ = StatusCode::kOk;
};

}  // namespace

void RolloutWatch::OnBound(request::InferenceRequest& request) {
  request::ResponseFactory& factory = *request.response_factory();
  factory.WrapSink(std::make_shared<OutcomeSink>(factory.shared_sink(), rollout_, version_,
                                                 request.times.start_ns, pair_, clock_));
}

void RolloutWatch::OnRefused(const base::Status& error) {
  rollout_->OnEnd(version_, OutcomeOfRefusal(error.code()), 0, clock_.NowNs());
}

}  // namespace nereid::server
