// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "base/clock.h"
#include "frontend/http/body_receiver.h"
#include "frontend/http/exchange.h"
#include "frontend/http/http_options.h"
#include "frontend/http/refusal.h"
#include "frontend/http/request_body.h"
#include "frontend/http/request_parser.h"

namespace nereid::frontend::http {

/// Makes requests of the bytes that a client sends (RFC 9112). Checks the limits of the head and of
/// the body, decides about "100 Continue", and keeps the bytes of further requests that the client
/// sends ahead (pipelining). Knows no socket. Not thread-safe.
///
/// A compressed body stays as it came: the endpoint inflates it, after it has checked that the
/// model exists, and on another thread if the body is large.
class RequestReader {
 public:
  /// A client that has sent so many bytes ahead is not read before it has got replies.
  static constexpr size_t kMaxAhead = size_t{64} << 10;

  /// Returns the largest body of the request whose head has come.
  using BodyLimitSource = std::function<BodyLimit()>;

  /// Fills `request`. `take_memory` is asked for memory of large bodies, and `limit_body` for their
  /// limit beside that of `options`; null: there is none. The other arguments must outlive the
  /// reader.
  RequestReader(const HttpServerOptions& options, const base::Clock& clock,
                ReceivedRequest* request, BodyMemorySource take_memory = nullptr,
                BodyLimitSource limit_body = nullptr)
      : options_(options),
        clock_(clock),
        request_(*request),
        limit_body_(std::move(limit_body)),
        body_(options.receive_budget, std::move(take_memory)) {}

  enum class Result {
    kNeedsInput,  // the request is not complete, or none has begun
    kComplete,    // the request is complete
    kRefused,     // refusal() has the reply; where the next request begins is unknown
  };

  /// Reads the bytes that were kept, then `input`, up to the end of one request, and keeps the
  /// rest. Not in a body that is received directly.
  Result Read(std::string_view input);
  /// Keeps `input` for later calls of Read.
  void Keep(std::string_view input) { ahead_.append(input); }

  /// Returns whether the rest of the body has a known length, and is to be received directly into
  /// the request's buffer, with the following two functions instead of Read.
  bool WantsBody() const { return phase_ == Phase::kBody; }
  /// Sets `*room` to space for bytes of the body: at most `max`, which is not 0.
  Result MakeBodyRoom(size_t max, std::span<char>* room);
  /// Adds the `size` bytes of the body that were received into that space.
  Result AddBody(size_t size);

  bool has_kept() const { return !ahead_.empty(); }
  bool IsFarAhead() const { return ahead_.size() >= kMaxAhead; }
  /// Returns whether no byte of a request has come yet.
  bool IsIdle() const { return phase_ == Phase::kIdle; }
  bool IsInHead() const { return phase_ == Phase::kHead; }

  /// Returns whether the client has made progress since the last call: the head or the body has
  /// begun, or kMinProgress of the body have come. The client's timeout starts again then.
  bool TakeProgress() { return std::exchange(has_progress_, false); }
  /// Returns whether the client waits for "100 Continue"; true only once for a request.
  bool TakeContinueWish() { return std::exchange(wants_continue_, false); }
  /// Returns whether a large body, or one of unknown length, has begun; true only once for a
  /// request.
  bool TakeLargeBody() { return std::exchange(has_large_body_, false); }

  const Refusal& refusal() const { return refusal_; }

  /// Drops all bytes, those that were kept too, and the request at hand. Returns the memory of the
  /// body, which may take long to free.
  memory::HostBuffer Drop();

 private:
  enum class Phase { kIdle, kHead, kBody, kChunkedBody };

  // Each removes the bytes that it has read from `input`. No result: continue with the rest.
  std::optional<Result> BeginHead(std::string_view* input);
  std::optional<Result> ReadHead(std::string_view* input);
  std::optional<Result> ReadChunks(std::string_view* input);
  std::optional<Result> BeginBody(std::string_view* input);
  Result BeginKnownBody(uint64_t size, std::string_view* input);
  bool Parse(std::string_view* input, std::optional<Result>* result);
  void NoteBodyProgress();
  Result Complete();
  Result Refuse(Refusal refusal);
  Refusal RefusalOfLongLine() const;
  Refusal RefusalOfMalformed(const boost::system::error_code& error) const;

  const HttpServerOptions& options_;
  const base::Clock& clock_;
  ReceivedRequest& request_;
  const BodyLimitSource limit_body_;
  Phase phase_ = Phase::kIdle;
  std::optional<RequestParser> parser_;
  std::string ahead_;    // input that is not parsed yet
  BodyReceiver body_;    // in kBody and kChunkedBody: the body so far
  size_t progress_ = 0;  // of the body, when has_progress_ was last set
  bool has_progress_ = false;
  bool wants_continue_ = false;
  bool has_large_body_ = false;
  Refusal refusal_;
};

}  // namespace nereid::frontend::http
