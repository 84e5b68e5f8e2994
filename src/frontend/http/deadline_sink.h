// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <utility>

#include "request/inference_response.h"
#include "request/response_sink.h"

namespace nereid::frontend::http {

class DeadlineSink;

/// Who takes the answer that went through a DeadlineSink: implemented by Connection.
class AnswerTaker {
 public:
  /// The answer of `sink`, final response included, is there. Any thread.
  virtual void Complete(std::shared_ptr<DeadlineSink> sink) noexcept = 0;

 protected:
  ~AnswerTaker() = default;
};

/// The sink of a request with a deadline. A connection is the sink of its other requests itself;
/// this one can be left behind when the deadline passes before the core is done, so that the
/// connection is free for the next request.
class DeadlineSink final : public request::ResponseSink,
                           public std::enable_shared_from_this<DeadlineSink> {
 public:
  explicit DeadlineSink(std::shared_ptr<AnswerTaker> taker) : taker_(std::move(taker)) {}

  void Send(std::unique_ptr<request::InferenceResponse> response,
            bool final) noexcept override;  // any thread

  // After the final response, on the loop's thread (or after its end):
  std::unique_ptr<request::InferenceResponse> TakeResponse() { return std::move(response_); }
  int response_count() const { return response_count_; }

 private:
  const std::shared_ptr<AnswerTaker> taker_;
  std::unique_ptr<request::InferenceResponse> response_;
  int response_count_ = 0;
};

}  // namespace nereid::frontend::http
