// SPDX-License-Identifier: Apache-2.0
#include "frontend/grpc/session.h"

#include <nghttp2/nghttp2.h>

#include <algorithm>
#include <array>
#include <random>
#include <string>
#include <utility>

#include "base/clock.h"
#include "frontend/grpc/begin_access_record.h"
#include "frontend/grpc/call.h"
#include "frontend/grpc/response_headers.h"
#include "frontend/grpc/server_context.h"

namespace nereid::frontend::grpc {
namespace {

// Windows large enough that a client need not wait for the server at 1 MiB per call.
constexpr uint32_t kStreamWindow = uint32_t{4} << 20;
constexpr int32_t kConnectionWindow = int32_t{16} << 20;
constexpr uint32_t kMaxReceivedFrame = uint32_t{1} << 20;
// Frames that wait in nghttp2 for a client that does not read.
constexpr size_t kMaxQueuedFrames = 4096;

uint64_t TickNs(const GrpcOptions& options) {
  constexpr int kTicks = CallStream::kTicksOfStall;
  const auto stall = std::max(options.stall_timeout, std::chrono::milliseconds(kTicks));
  return static_cast<uint64_t>(stall.count()) * 1'000'000 / kTicks;
}

// Returns any number in [0, 1): it only spreads connections that came together.
double Jitter() {
  thread_local std::minstd_rand random(std::random_device{}());
  return std::uniform_real_distribution<double>()(random);
}

}  // namespace

Session::Session(ServerContext& context, net::EventLoop& loop, Transport& transport)
    : context_(context),
      loop_(loop),
      transport_(transport),
      session_(SessionCallbacks::NewSession(this)),
      limits_(context.options, base::SteadyClock()),
      keep_alive_(context.options.keep_alive, loop.NowNs(), Jitter()),
      next_tick_ns_(loop.NowNs() + TickNs(context.options)) {
  if (session_ == nullptr) return;
  const std::array<nghttp2_settings_entry, 4> settings = {{
      {NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS, context.options.max_concurrent_streams},
      {NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, kStreamWindow},
      {NGHTTP2_SETTINGS_MAX_FRAME_SIZE, kMaxReceivedFrame},
      {NGHTTP2_SETTINGS_MAX_HEADER_LIST_SIZE, context.options.max_metadata_size},
  }};
  nghttp2_submit_settings(session_, NGHTTP2_FLAG_NONE, settings.data(), settings.size());
  nghttp2_session_set_local_window_size(session_, NGHTTP2_FLAG_NONE, 0, kConnectionWindow);
}

Session::~Session() {
  for (const std::shared_ptr<CallStream>& call : calls_) call->Detach();
  nghttp2_session_del(session_);
}

bool Session::Receive(std::string_view bytes) {
  if (session_ == nullptr || phase_ == Phase::kClosing) return false;
  const ssize_t used = nghttp2_session_mem_recv(
      session_, reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size());
  return used >= 0;
}

bool Session::IsOverfull() const {
  return session_ != nullptr &&
         nghttp2_session_get_outbound_queue_size(session_) > kMaxQueuedFrames;
}

bool Session::FillQueue() {
  if (session_ == nullptr) return false;
  while (queue_.pending() < kFullQueue) {
    const uint8_t* data = nullptr;
    const ssize_t size = nghttp2_session_mem_send(session_, &data);
    if (size < 0) return false;
    if (size == 0) break;
    queue_.Copy({reinterpret_cast<const char*>(data), static_cast<size_t>(size)});
  }
  return true;
}

bool Session::Finished() const {
  return session_ == nullptr || phase_ == Phase::kClosing ||
         (nghttp2_session_want_read(session_) == 0 && nghttp2_session_want_write(session_) == 0);
}

bool Session::Upkeep(uint64_t now_ns) {
  if (session_ == nullptr) return false;
  while (true) {
    const KeepAlive::Action action = keep_alive_.Decide(now_ns, !calls_.empty());
    if (action == KeepAlive::Action::kClose) return false;
    if (action == KeepAlive::Action::kNothing) break;
    if (action == KeepAlive::Action::kGoAway) {
      BeginDraining();
    } else {
      nghttp2_submit_ping(session_, NGHTTP2_FLAG_NONE, nullptr);
      transport_.RequestFlush();
    }
  }
  if (now_ns < next_tick_ns_) return true;
  next_tick_ns_ = now_ns + TickNs(context_.options);
  for (const std::shared_ptr<CallStream>& call : calls_) call->Tick();
  return true;
}

void Session::GoAway() {
  if (session_ == nullptr) return;
  BeginDraining();
  // A call that ends stays in the list until its stream is closed.
  for (size_t i = 0; i < calls_.size(); ++i) calls_[i]->EndIfIdle();
}

void Session::BeginDraining() {
  if (phase_ != Phase::kServing) return;
  phase_ = Phase::kDraining;
  nghttp2_submit_goaway(session_, NGHTTP2_FLAG_NONE,
                        nghttp2_session_get_last_proc_stream_id(session_), NGHTTP2_NO_ERROR,
                        nullptr, 0);
  transport_.RequestFlush();
}

void Session::Enforce(ConnectionLimits::Verdict verdict) {
  if (verdict == ConnectionLimits::Verdict::kAllowed || phase_ > Phase::kDraining) return;
  if (verdict == ConnectionLimits::Verdict::kFlood) {
    phase_ = Phase::kEvicting;
    nghttp2_session_terminate_session(session_, NGHTTP2_ENHANCE_YOUR_CALM);
    return;
  }
  // nghttp2_session_terminate_session cannot send a reason, and clients look for these words.
  static constexpr std::string_view kReason = "too_many_pings";
  phase_ = Phase::kClosing;
  nghttp2_submit_goaway(
      session_, NGHTTP2_FLAG_NONE, nghttp2_session_get_last_proc_stream_id(session_),
      NGHTTP2_ENHANCE_YOUR_CALM, reinterpret_cast<const uint8_t*>(kReason.data()), kReason.size());
}

void Session::OpenCall(int32_t stream) {
  if (RefuseByHead(stream)) return;
  CallStatus refusal;
  std::shared_ptr<CallStream> call = context_.make_call(
      CallOrigin{context_, loop_, *this, limits_.incomplete(), stream, head_, FindPeer()},
      &refusal);
  if (call == nullptr) return Refuse(stream, refusal);
  nghttp2_session_set_stream_user_data(session_, stream, call.get());
  call->http2.place = calls_.size();
  calls_.push_back(call);
  call->Begin();
}

const net::Peer* Session::FindPeer() {
  if (context_.options.gate == nullptr || !context_.options.gate->NeedsPeer()) return nullptr;
  if (!peer_) peer_ = transport_.peer();
  return &*peer_;
}

bool Session::RefuseByHead(int32_t stream) {
  if (!head_.is_post || !head_.is_grpc) {
    RecordRefusal(head_.is_post ? 415 : 405);
    SubmitHttpStatus(session_, stream, head_.is_post ? "415" : "405");
    transport_.RequestFlush();
  } else if (head_.size > context_.options.max_metadata_size) {
    Refuse(stream, {kGrpcResourceExhausted,
                    "received metadata size exceeds limit (" + std::to_string(head_.size) +
                        " vs. " + std::to_string(context_.options.max_metadata_size) + ")"});
  } else if (head_.has_too_many_fields) {
    Refuse(stream, {kGrpcResourceExhausted, std::string(api::TooManyFieldsText())});
  } else if (head_.bad_timeout) {
    Refuse(stream, {kGrpcInternal, "the grpc-timeout header is malformed"});
  } else if (!head_.encoding.has_value()) {
    Refuse(stream, {kGrpcUnimplemented, "unknown grpc-encoding '" + head_.unknown_encoding +
                                            "': use identity, deflate or gzip"});
  } else {
    return false;
  }
  return true;
}

// A refused call has no CallStream that could log it.
void Session::RecordRefusal(int status) {
  const uint64_t now_ns = loop_.NowNs();
  const auto record = BeginAccessRecord(context_, *this, head_.path, now_ns);
  if (record != nullptr) record->Write(status, now_ns);
}

void Session::Refuse(int32_t stream, const CallStatus& status) {
  RecordRefusal(status.code);
  SubmitStatusOnly(session_, stream, status);
  transport_.RequestFlush();
}

void Session::CloseCall(CallStream* call) {
  const size_t place = call->http2.place;
  const std::shared_ptr<CallStream> closed = std::move(calls_[place]);
  if (place + 1 != calls_.size()) {
    calls_[place] = std::move(calls_.back());
    calls_[place]->http2.place = place;
  }
  calls_.pop_back();
  closed->Detach();
}

void Session::CallChanged(CallStream& call) {
  CallStream::Http2Stream& stream = call.http2;
  if (stream.headers_sent) {
    if (stream.waiting_for_data) {
      stream.waiting_for_data = false;
      nghttp2_session_resume_data(session_, stream.id);
    }
  } else {
    stream.headers_sent = true;
    if (call.outcome().has_value() && call.unsent() == 0) {
      SubmitStatusOnly(session_, stream.id, *call.outcome(), call.response_metadata.get());
    } else {
      SessionCallbacks::SubmitResponse(session_, call);
    }
  }
  transport_.RequestFlush();
}

void Session::WantsMore(CallStream& call) {
  if (call.http2.withheld == 0 || call.WantsLess()) return;
  nghttp2_session_consume_stream(session_, call.http2.id, std::exchange(call.http2.withheld, 0));
  transport_.RequestFlush();
}

void Session::ResetStream(CallStream& call, uint32_t error_code) {
  nghttp2_submit_rst_stream(session_, NGHTTP2_FLAG_NONE, call.http2.id, error_code);
  transport_.RequestFlush();
}

}  // namespace nereid::frontend::grpc
