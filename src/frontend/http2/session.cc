// SPDX-License-Identifier: Apache-2.0
#include "frontend/http2/session.h"

#include <nghttp2/nghttp2.h>

#include <algorithm>
#include <array>
#include <random>
#include <utility>

#include "base/clock.h"
#include "frontend/http2/field.h"

namespace nereid::frontend::http2 {
namespace {

// Windows large enough that a client need not wait for the server at 1 MiB per request.
constexpr uint32_t kStreamWindow = uint32_t{4} << 20;
constexpr int32_t kConnectionWindow = int32_t{16} << 20;
constexpr uint32_t kMaxReceivedFrame = uint32_t{1} << 20;
// Frames that wait in nghttp2 for a client that does not read.
constexpr size_t kMaxQueuedFrames = 4096;

uint64_t TickNs(const SessionOptions& options) {
  constexpr int kTicks = Stream::kTicksOfStall;
  const auto stall = std::max(options.stall_timeout, std::chrono::milliseconds(kTicks));
  return static_cast<uint64_t>(stall.count()) * 1'000'000 / kTicks;
}

uint64_t TicksIn(std::chrono::milliseconds time, uint64_t tick_ns) {
  return (static_cast<uint64_t>(time.count()) * 1'000'000 + tick_ns - 1) / tick_ns;
}

// Returns any number in [0, 1): it only spreads connections that came together.
double Jitter() {
  thread_local std::minstd_rand random(std::random_device{}());
  return std::uniform_real_distribution<double>()(random);
}

}  // namespace

Session::Session(const SessionOptions& options, StreamMaker& maker, net::EventLoop& loop,
                 Transport& transport)
    : options_(options),
      maker_(maker),
      transport_(transport),
      tick_ns_(TickNs(options)),
      session_(SessionCallbacks::NewSession(this)),
      limits_(options, base::SteadyClock()),
      keep_alive_(options.keep_alive, loop.NowNs(), Jitter()),
      next_tick_ns_(loop.NowNs() + tick_ns_) {
  if (session_ == nullptr) return;
  const std::array<nghttp2_settings_entry, 4> settings = {{
      {NGHTTP2_SETTINGS_MAX_CONCURRENT_STREAMS, options.max_concurrent_streams},
      {NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, kStreamWindow},
      {NGHTTP2_SETTINGS_MAX_FRAME_SIZE, kMaxReceivedFrame},
      {NGHTTP2_SETTINGS_MAX_HEADER_LIST_SIZE, options.max_head_size},
  }};
  nghttp2_submit_settings(session_, NGHTTP2_FLAG_NONE, settings.data(), settings.size());
  nghttp2_session_set_local_window_size(session_, NGHTTP2_FLAG_NONE, 0, kConnectionWindow);
}

Session::~Session() {
  for (const std::shared_ptr<Stream>& stream : streams_) stream->Detach();
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
  filled_up_ = false;
  for (size_t frames = 0; !queue_.IsFull() && frames < kFullQueueFrames; ++frames) {
    const uint8_t* data = nullptr;
    const ssize_t size = nghttp2_session_mem_send(session_, &data);
    if (size < 0) return false;
    if (size == 0) return true;
    queue_.Copy({reinterpret_cast<const char*>(data), static_cast<size_t>(size)});
  }
  filled_up_ = true;
  return true;
}

bool Session::Finished() const {
  return session_ == nullptr || phase_ == Phase::kClosing ||
         (nghttp2_session_want_read(session_) == 0 && nghttp2_session_want_write(session_) == 0);
}

bool Session::Upkeep(uint64_t now_ns) {
  if (session_ == nullptr) return false;
  while (true) {
    const KeepAlive::Action action = keep_alive_.Decide(now_ns, !streams_.empty());
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
  next_tick_ns_ = now_ns + tick_ns_;
  for (const std::shared_ptr<Stream>& stream : streams_) stream->Tick();
  return Tick();
}

bool Session::Tick() {
  if (in_head_ && ++head_ticks_ > TicksIn(options_.head_timeout, tick_ns_)) return false;
  if (!streams_.empty() || options_.idle_timeout.count() == 0) {
    idle_ticks_ = 0;
  } else if (++idle_ticks_ > TicksIn(options_.idle_timeout, tick_ns_)) {
    BeginDraining();
  }
  return true;
}

void Session::GoAway() {
  if (session_ == nullptr) return;
  BeginDraining();
  // A stream that ends stays in the list until nghttp2 closes it.
  for (size_t i = 0; i < streams_.size(); ++i) streams_[i]->EndIfIdle();
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

void Session::OpenStream(int32_t id, bool has_body) {
  const std::shared_ptr<Stream> stream = maker_.Make(OpeningOf(id));
  if (stream == nullptr) return transport_.RequestFlush();
  nghttp2_session_set_stream_user_data(session_, id, stream.get());
  stream->notes.place = streams_.size();
  streams_.push_back(stream);
  stream->Begin(has_body);
}

void Session::CloseStream(Stream* stream) {
  idle_ticks_ = 0;
  const size_t place = stream->notes.place;
  const std::shared_ptr<Stream> closed = std::move(streams_[place]);
  if (place + 1 != streams_.size()) {
    streams_[place] = std::move(streams_.back());
    streams_[place]->notes.place = place;
  }
  streams_.pop_back();
  closed->Detach();
}

void Session::StreamChanged(Stream& stream) {
  Stream::Notes& notes = stream.notes;
  if (!notes.head_sent) {
    notes.head_sent = true;
    stream.SubmitResponse(session_, SessionCallbacks::BodyOf(stream));
  } else if (notes.waiting_for_data) {
    notes.waiting_for_data = false;
    nghttp2_session_resume_data(session_, notes.id);
  }
  transport_.RequestFlush();
}

void Session::WantsMore(Stream& stream) {
  if (stream.notes.withheld == 0 || stream.WantsLess()) return;
  nghttp2_session_consume_stream(session_, stream.notes.id,
                                 std::exchange(stream.notes.withheld, 0));
  transport_.RequestFlush();
}

void Session::ResetStream(Stream& stream, uint32_t error_code) {
  nghttp2_submit_rst_stream(session_, NGHTTP2_FLAG_NONE, stream.notes.id, error_code);
  transport_.RequestFlush();
}

void Session::SendContinue(Stream& stream) {
  const nghttp2_nv status = Field(":status", "100", NGHTTP2_NV_FLAG_NONE);
  nghttp2_submit_headers(session_, NGHTTP2_FLAG_NONE, stream.notes.id, nullptr, &status, 1,
                         nullptr);
  transport_.RequestFlush();
}

}  // namespace nereid::frontend::http2
