// SPDX-License-Identifier: Apache-2.0
#include "frontend/grpc/call_stream.h"

#include <nghttp2/nghttp2.h>

#include <chrono>
#include <string>
#include <utility>

#include "api/timeout_text.h"
#include "frontend/grpc/begin_access_record.h"
#include "frontend/grpc/response_headers.h"

namespace nereid::frontend::grpc {
namespace {

/// A message that is being sent, with its part of the bytes that may wait for the client.
struct SentMessage {
  SentMessage(codec::proto::EncodedMessage sent, base::ByteShare its_share)
      : message(std::move(sent)), share(std::move(its_share)) {}

  const codec::proto::EncodedMessage message;
  const base::ByteShare share;
};

}  // namespace

CallStream::CallStream(const CallOrigin& origin, ResponseFraming framing)
    : http2::Stream(origin.opening.id),
      context_(origin.context),
      loop_(origin.loop),
      host_(origin.opening.host),
      inbound_(origin.context.options, origin.head.encoding.value_or(Encoding::kIdentity),
               origin.opening.incomplete, *this),
      framing_(std::move(framing)),
      access_record_(BeginAccessRecord(origin.context, origin.opening.host, origin.head.path,
                                       origin.context.options.access_log ? loop_.NowNs() : 0)) {
  if (origin.head.timeout_ns.has_value()) {
    deadline_ns_ = api::DeadlineAfter(loop_.NowNs(), *origin.head.timeout_ns);
  }
}

void CallStream::Begin(bool) {
  if (deadline_ns_ != 0) loop_.SetTimer(*this, deadline_ns_);
}

void CallStream::ReceiveData(std::string_view data) {
  silent_ticks_ = 0;
  if (access_record_ != nullptr) access_record_->AddReceived(data.size());
  inbound_.Receive(data);
}

void CallStream::Tick() {
  const bool owes_bytes = !finished() && !inbound_.ended() && !WantsLess() && AwaitsBytes();
  const bool owes_reading = outcome_.has_value() && unsent() > 0;
  if (!owes_bytes && !owes_reading) {
    silent_ticks_ = 0;
    return;
  }
  if (++silent_ticks_ <= kTicksOfStall) return;
  silent_ticks_ = 0;
  if (owes_reading) {
    host_.ResetStream(*this, NGHTTP2_CANCEL);
    return;
  }
  const auto seconds =
      std::chrono::duration_cast<std::chrono::seconds>(context_.options.stall_timeout).count();
  End({kGrpcDeadlineExceeded,
       "no more of the request came for " + std::to_string(seconds) + " seconds"});
}

void CallStream::EndIfIdle() {
  if (finished() || inbound_.paused() || inbound_.HasBacklog() || !IsIdle()) return;
  End({kGrpcUnavailable, "Server is stopping"});
}

void CallStream::OnDeadline() {
  deadline_ns_ = 0;
  if (finished()) return;
  if (unsent() == 0) return End({kGrpcDeadlineExceeded, "Deadline Exceeded"});
  // The client's window may never let out what is unsent, and the status comes behind it. A reset
  // needs no window.
  OnCancelled();
  host_.ResetStream(*this, NGHTTP2_CANCEL);
  SetOutcome({kGrpcDeadlineExceeded, ""});
}

bool CallStream::EndIfTooLate() {
  if (deadline_ns_ == 0 || finished() || loop_.NowNs() < deadline_ns_) return false;
  loop_.CancelTimer(*this);
  OnDeadline();
  return true;
}

void CallStream::Detach() {
  if (state() == CallState::kDetached) return;
  if (!finished()) OnCancelled();
  if (access_record_ != nullptr) {
    // A client that did not get all of a good response has cancelled the call.
    const int code = outcome_.has_value() ? outcome_->code : kGrpcCancelled;
    access_record_->Write(code == kGrpcOk && unsent() > 0 ? kGrpcCancelled : code, loop_.NowNs());
  }
  if (deadline_ns_ != 0) loop_.CancelTimer(*this);
  deadline_ns_ = 0;
  inbound_.Detach();
  unsent_.Clear();
  state_.store(CallState::kDetached, std::memory_order_relaxed);
}

void CallStream::SendMessage(codec::proto::EncodedMessage message, base::ByteShare share) {
  if (finished()) return;
  const auto held = std::make_shared<const SentMessage>(std::move(message), std::move(share));
  for (const std::string_view piece : held->message.pieces) unsent_.View(piece, held);
  host_.StreamChanged(*this);
}

void CallStream::End(CallStatus status) {
  if (finished()) return;
  OnCancelled();
  Finish(std::move(status));
}

void CallStream::Finish(CallStatus status) {
  if (finished()) return;
  SetOutcome(std::move(status));
  host_.StreamChanged(*this);
}

void CallStream::SetOutcome(CallStatus status) {
  outcome_ = std::move(status);
  state_.store(CallState::kFinished, std::memory_order_relaxed);
  inbound_.Close();
}

void CallStream::SubmitResponse(nghttp2_session* session, const nghttp2_data_provider& body) {
  if (outcome_.has_value() && unsent() == 0) {
    SubmitStatusOnly(session, notes.id, *outcome_, context_.options.replica,
                     response_metadata.get());
  } else {
    SubmitHeaders(session, notes.id, framing_.encoding(), body, context_.options.replica,
                  response_metadata.get());
  }
}

bool CallStream::SubmitTrailers(nghttp2_session* session) {
  grpc::SubmitTrailers(session, notes.id, *outcome_, response_metadata.get());
  return true;
}

void CallStream::MoveUnsent(size_t size, net::OutQueue* queue) {
  silent_ticks_ = 0;
  if (access_record_ != nullptr) access_record_->AddSent(size);
  unsent_.MoveTo(size, queue);
}

}  // namespace nereid::frontend::grpc
