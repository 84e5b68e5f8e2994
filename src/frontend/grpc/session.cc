// SPDX-License-Identifier: Apache-2.0
#include "frontend/grpc/session.h"

#include <nghttp2/nghttp2.h>

#include <algorithm>
#include <array>
#include <random>
#include <string>
#include <utility>

#include "frontend/grpc/exception_guard.h"
#include "frontend/grpc/method_table.h"
#include "frontend/grpc/server_context.h"

namespace nereid::frontend::grpc {
namespace {

// Windows large enough that a client need not wait for us at 1 MiB per call.
constexpr uint32_t kStreamWindow = uint32_t{4} << 20;
constexpr int32_t kConnectionWindow = int32_t{16} << 20;
constexpr uint32_t kMaxReceivedFrame = uint32_t{1} << 20;
constexpr size_t kDefaultFrame = 16384;
constexpr size_t kMaxSentFrame = size_t{128} << 10;
// Enough to keep a socket busy; the rest waits where it is.
constexpr size_t kFullQueue = size_t{512} << 10;
constexpr uint32_t kControlBurst = 2000, kControlPerSecond = 100;
constexpr uint32_t kResetsPerSecond = 200, kResetBurst = 1000;
// Frames that wait in nghttp2 for a client that does not read.
constexpr size_t kMostQueuedFrames = 4096;
// A head of so many times the metadata that may be is not decoded to its end.
constexpr size_t kHopelessHead = 2;
constexpr int kTicksOfStall = 4;

nghttp2_nv Header(std::string_view name, std::string_view value, bool copy_value = false) {
  const auto bytes = [](std::string_view text) {
    return reinterpret_cast<uint8_t*>(const_cast<char*>(text.data()));
  };
  uint8_t flags = NGHTTP2_NV_FLAG_NO_COPY_NAME;
  if (!copy_value) flags |= NGHTTP2_NV_FLAG_NO_COPY_VALUE;
  return {bytes(name), bytes(value), name.size(), value.size(), flags};
}

// The first headers of every answer.
nghttp2_nv StatusOk() { return Header(":status", "200"); }
nghttp2_nv GrpcContent() { return Header("content-type", "application/grpc"); }
nghttp2_nv AcceptedEncodings() { return Header("grpc-accept-encoding", "identity,deflate,gzip"); }

uint64_t TickNs(const GrpcOptions& options) {
  const auto stall = std::max(options.stall_timeout, std::chrono::milliseconds(kTicksOfStall));
  return static_cast<uint64_t>(stall.count()) * 1'000'000 / kTicksOfStall;
}

// Any number in [0, 1): it only spreads connections that came together.
double Jitter() {
  thread_local std::minstd_rand random(std::random_device{}());
  return std::uniform_real_distribution<double>()(random);
}

std::string_view CodeText(int code) {
  static constexpr std::string_view kCodes[] = {"0", "1",  "2",  "3",  "4",  "5",  "6",  "7", "8",
                                                "9", "10", "11", "12", "13", "14", "15", "16"};
  return code >= 0 && code <= 16 ? kCodes[code] : kCodes[2];
}

}  // namespace

// What nghttp2 calls. Exceptions must not pass through it: where there may be one, the connection
// ends.
struct SessionCallbacks {
  static Session& Of(void* user_data) { return *static_cast<Session*>(user_data); }
  static Call* FindCall(nghttp2_session* session, int32_t stream) {
    return static_cast<Call*>(nghttp2_session_get_stream_user_data(session, stream));
  }

  static int OnBeginFrame(nghttp2_session*, const nghttp2_frame_hd* header, void* user_data) {
    Session& self = Of(user_data);
    self.frame_left_ = header->type == NGHTTP2_DATA ? header->length : 0;
    self.bulk_ = 0;
    self.CountFrame(header->type, header->length, header->flags);
    return 0;
  }

  static int OnBeginHeaders(nghttp2_session*, const nghttp2_frame* frame, void* user_data) {
    if (frame->headers.cat == NGHTTP2_HCAT_REQUEST) {
      Of(user_data).head_.Clear();
    } else {
      Of(user_data).trailers_size_ = 0;
    }
    return 0;
  }

  static int OnHeader(nghttp2_session*, const nghttp2_frame* frame, const uint8_t* name,
                      size_t name_size, const uint8_t* value, size_t value_size, uint8_t,
                      void* user_data) {
    if (frame->hd.type != NGHTTP2_HEADERS) return 0;
    const bool is_request = frame->headers.cat == NGHTTP2_HCAT_REQUEST;
    const bool bearable = Guarded("a call", false, [&] {
      return Of(user_data).CountHeader(is_request, {reinterpret_cast<const char*>(name), name_size},
                                       {reinterpret_cast<const char*>(value), value_size});
    });
    // The stream is reset, and what follows is decoded but not looked at.
    return bearable ? 0 : NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE;
  }

  static int OnFrame(nghttp2_session* session, const nghttp2_frame* frame, void* user_data) {
    return Guarded<int>("a connection", NGHTTP2_ERR_CALLBACK_FAILURE, [&] {
      Session& self = Of(user_data);
      const int32_t stream = frame->hd.stream_id;
      if (frame->hd.type == NGHTTP2_SETTINGS) self.received_preface_ = true;
      if (frame->hd.type == NGHTTP2_HEADERS && frame->headers.cat == NGHTTP2_HCAT_REQUEST) {
        self.OpenCall(stream);
      }
      if ((frame->hd.type == NGHTTP2_HEADERS || frame->hd.type == NGHTTP2_DATA) &&
          (frame->hd.flags & NGHTTP2_FLAG_END_STREAM) != 0) {
        if (Call* call = FindCall(session, stream)) call->ReceiveEnd();
      }
      return 0;
    });
  }

  static int FromConsume(int result) {
    return result == NGHTTP2_ERR_NOMEM ? NGHTTP2_ERR_CALLBACK_FAILURE : 0;
  }

  static int OnDataChunk(nghttp2_session* session, uint8_t, int32_t stream, const uint8_t* data,
                         size_t size, void* user_data) {
    Session& self = Of(user_data);
    Call* const call = FindCall(session, stream);
    self.frame_left_ -= std::min(self.frame_left_, size);
    if (call != nullptr) {
      const std::string_view bytes(reinterpret_cast<const char*>(data), size);
      const bool taken = Guarded("a connection", false, [&] {
        call->ReceiveData(bytes);
        return true;
      });
      if (!taken) return NGHTTP2_ERR_CALLBACK_FAILURE;
      self.bulk_ = std::min(self.frame_left_, call->missing());
    }
    // The bytes are used: they lie in the message's own buffer now.
    if (call != nullptr && call->WantsLess()) {
      call->withheld += size;
      return FromConsume(nghttp2_session_consume_connection(session, size));
    }
    return FromConsume(nghttp2_session_consume(session, stream, size));
  }

  static int OnStreamClose(nghttp2_session* session, int32_t stream, uint32_t error,
                           void* user_data) {
    Session& self = Of(user_data);
    Call* const call = FindCall(session, stream);
    if (call == nullptr) return 0;
    if (error == NGHTTP2_NO_ERROR) self.resets_.Earn();
    nghttp2_session_set_stream_user_data(session, stream, nullptr);
    return Guarded<int>("a connection", NGHTTP2_ERR_CALLBACK_FAILURE, [&] {
      self.CloseCall(call);
      return 0;
    });
  }

  static int OnFrameSent(nghttp2_session* session, const nghttp2_frame* frame, void* user_data) {
    const bool is_reset = frame->hd.type == NGHTTP2_RST_STREAM;
    Of(user_data).CountSent(frame->hd.type, is_reset ? frame->rst_stream.error_code : 0);
    const bool ends = (frame->hd.type == NGHTTP2_HEADERS || frame->hd.type == NGHTTP2_DATA) &&
                      (frame->hd.flags & NGHTTP2_FLAG_END_STREAM) != 0;
    // An answer before the request's end: the rest of the request is not wanted.
    if (ends && nghttp2_session_get_stream_remote_close(session, frame->hd.stream_id) == 0) {
      nghttp2_submit_rst_stream(session, NGHTTP2_FLAG_NONE, frame->hd.stream_id, NGHTTP2_NO_ERROR);
    }
    return 0;
  }

  static ssize_t ReadData(nghttp2_session*, int32_t, uint8_t*, size_t length, uint32_t* flags,
                          nghttp2_data_source* source, void* user_data) {
    Call& call = *static_cast<Call*>(source->ptr);
    const size_t size = std::min(length, call.unsent());
    if (size == 0 && !call.outcome().has_value()) {
      call.waiting_for_data = true;
      return NGHTTP2_ERR_DEFERRED;
    }
    *flags |= NGHTTP2_DATA_FLAG_NO_COPY;
    if (size == call.unsent() && call.outcome().has_value()) {
      *flags |= NGHTTP2_DATA_FLAG_EOF | NGHTTP2_DATA_FLAG_NO_END_STREAM;
      const bool sent = Guarded("a connection", false, [&] {
        Of(user_data).SendTrailers(call);
        return true;
      });
      if (!sent) return NGHTTP2_ERR_CALLBACK_FAILURE;
    }
    return static_cast<ssize_t>(size);
  }

  static int SendData(nghttp2_session* session, nghttp2_frame*, const uint8_t* frame_header,
                      size_t length, nghttp2_data_source* source, void* user_data) {
    Session& self = Of(user_data);
    if (self.queue_.pending() >= kFullQueue) return NGHTTP2_ERR_WOULDBLOCK;
    Call& call = *static_cast<Call*>(source->ptr);
    const bool moved = Guarded("a connection", false, [&] {
      self.queue_.Copy({reinterpret_cast<const char*>(frame_header), 9});
      call.MoveUnsent(length, &self.queue_);
      return true;
    });
    if (!moved) return NGHTTP2_ERR_CALLBACK_FAILURE;
    if (call.withheld == 0 || call.WantsLess()) return 0;
    return FromConsume(
        nghttp2_session_consume_stream(session, call.stream(), std::exchange(call.withheld, 0)));
  }

  // Frames above the default size need a larger buffer in nghttp2: only for those with much to say.
  static ssize_t ReadLength(nghttp2_session* session, uint8_t, int32_t stream,
                            int32_t connection_window, int32_t stream_window,
                            uint32_t max_frame_size, void*) {
    const Call* call = FindCall(session, stream);
    const size_t wish =
        call != nullptr && call->unsent() > kDefaultFrame ? kMaxSentFrame : kDefaultFrame;
    return std::max<int64_t>(1, std::min<int64_t>({connection_window, stream_window, max_frame_size,
                                                   static_cast<int64_t>(wish)}));
  }

  static nghttp2_session_callbacks* Make() {
    nghttp2_session_callbacks* callbacks = nullptr;
    if (nghttp2_session_callbacks_new(&callbacks) != 0) return nullptr;
    nghttp2_session_callbacks_set_on_begin_frame_callback(callbacks, OnBeginFrame);
    nghttp2_session_callbacks_set_on_begin_headers_callback(callbacks, OnBeginHeaders);
    nghttp2_session_callbacks_set_on_header_callback(callbacks, OnHeader);
    nghttp2_session_callbacks_set_on_frame_recv_callback(callbacks, OnFrame);
    nghttp2_session_callbacks_set_on_data_chunk_recv_callback(callbacks, OnDataChunk);
    nghttp2_session_callbacks_set_on_stream_close_callback(callbacks, OnStreamClose);
    nghttp2_session_callbacks_set_on_frame_send_callback(callbacks, OnFrameSent);
    nghttp2_session_callbacks_set_send_data_callback(callbacks, SendData);
    nghttp2_session_callbacks_set_data_source_read_length_callback(callbacks, ReadLength);
    return callbacks;
  }

  static nghttp2_option* MakeOptions() {
    nghttp2_option* option = nullptr;
    if (nghttp2_option_new(&option) != 0) return nullptr;
    nghttp2_option_set_no_auto_window_update(option, 1);
    // Else each connection keeps as many streams that are over as may be open, 1 MiB of them, for
    // priorities that refer to them.
    nghttp2_option_set_no_closed_streams(option, 1);
    // The session counts resets itself, more generously; this one stands behind it.
    nghttp2_option_set_stream_reset_rate_limit(option, 100000, 10000);
    return option;
  }
};

Session::Session(ServerContext& context, LoopServices& loop, Transport& transport)
    : context_(context),
      loop_(loop),
      transport_(transport),
      control_frames_(kControlBurst, kControlPerSecond, loop.NowNs()),
      resets_(context.options.max_concurrent_streams + kResetBurst, kResetsPerSecond, loop.NowNs()),
      strikes_(context.options.keep_alive),
      keep_alive_(context.options.keep_alive, loop.NowNs(), Jitter()),
      next_tick_ns_(loop.NowNs() + TickNs(context.options)) {
  static nghttp2_session_callbacks* const callbacks = SessionCallbacks::Make();
  static nghttp2_option* const option = SessionCallbacks::MakeOptions();
  if (callbacks == nullptr || option == nullptr ||
      nghttp2_session_server_new2(&session_, callbacks, this, option) != 0) {
    session_ = nullptr;
    return;
  }
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
  for (const std::shared_ptr<Call>& call : calls_) call->Detach();
  nghttp2_session_del(session_);
}

bool Session::Receive(std::string_view bytes) {
  if (session_ == nullptr || ending_) return false;
  const ssize_t used = nghttp2_session_mem_recv(
      session_, reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size());
  return used >= 0;
}

bool Session::IsOverfull() const {
  return session_ != nullptr &&
         nghttp2_session_get_outbound_queue_size(session_) > kMostQueuedFrames;
}

bool Session::Upkeep(uint64_t now_ns) {
  if (session_ == nullptr) return false;
  while (true) {
    const KeepAlive::Action action = keep_alive_.Decide(now_ns, !calls_.empty());
    if (action == KeepAlive::Action::kClose) return false;
    if (action == KeepAlive::Action::kNothing) break;
    if (action == KeepAlive::Action::kGoAway) {
      TakeNoMoreCalls();
    } else {
      nghttp2_submit_ping(session_, NGHTTP2_FLAG_NONE, nullptr);
      transport_.RequestFlush();
    }
  }
  if (now_ns < next_tick_ns_) return true;
  next_tick_ns_ = now_ns + TickNs(context_.options);
  for (const std::shared_ptr<Call>& call : calls_) call->Tick();
  return true;
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
  return session_ == nullptr || ending_ ||
         (nghttp2_session_want_read(session_) == 0 && nghttp2_session_want_write(session_) == 0);
}

void Session::GoAway() {
  if (session_ == nullptr) return;
  TakeNoMoreCalls();
  // A call that ends stays in the list until its stream is closed.
  for (size_t i = 0; i < calls_.size(); ++i) calls_[i]->EndIfIdle();
}

void Session::TakeNoMoreCalls() {
  if (going_away_) return;
  going_away_ = true;
  nghttp2_submit_goaway(session_, NGHTTP2_FLAG_NONE,
                        nghttp2_session_get_last_proc_stream_id(session_), NGHTTP2_NO_ERROR,
                        nullptr, 0);
  transport_.RequestFlush();
}

bool Session::CountFrame(uint8_t type, size_t length, uint8_t flags) {
  const auto now = [this] { return loop_.NowNs(); };
  bool allowed = true;
  switch (type) {
    case NGHTTP2_HEADERS:
      control_frames_.Earn();
      break;
    case NGHTTP2_DATA:
      if (length > 0) {
        control_frames_.Earn();
      } else if ((flags & NGHTTP2_FLAG_END_STREAM) == 0) {
        allowed = control_frames_.Allow(now);
      }
      break;
    case NGHTTP2_RST_STREAM:
      allowed = resets_.Allow(now);
      break;
    case NGHTTP2_WINDOW_UPDATE:
    case NGHTTP2_CONTINUATION:  // bounded by nghttp2
      break;
    case NGHTTP2_PING:
      if ((flags & NGHTTP2_FLAG_ACK) == 0) CountPing();
      allowed = control_frames_.Allow(now);
      break;
    default:
      allowed = control_frames_.Allow(now);
  }
  Calm(allowed);
  return allowed;
}

void Session::Calm(bool allowed) {
  if (allowed || going_away_) return;
  going_away_ = true;
  nghttp2_session_terminate_session(session_, NGHTTP2_ENHANCE_YOUR_CALM);
}

void Session::CountPing() {
  if (strikes_.Allow(loop_.NowNs(), !calls_.empty()) || going_away_) return;
  static constexpr std::string_view kReason = "too_many_pings";  // clients look for these words
  going_away_ = ending_ = true;
  nghttp2_submit_goaway(
      session_, NGHTTP2_FLAG_NONE, nghttp2_session_get_last_proc_stream_id(session_),
      NGHTTP2_ENHANCE_YOUR_CALM, reinterpret_cast<const uint8_t*>(kReason.data()), kReason.size());
}

bool Session::CountHeader(bool is_request, std::string_view name, std::string_view value) {
  const size_t limit = context_.options.max_metadata_size;
  if (is_request) {
    head_.Add(name, value, limit);
    return head_.size <= limit * kHopelessHead;
  }
  trailers_size_ += name.size() + value.size();
  return trailers_size_ <= limit * kHopelessHead;
}

void Session::CountSent(uint8_t type, uint32_t error_code) {
  if (type == NGHTTP2_HEADERS || type == NGHTTP2_DATA) {
    strikes_.DataSent();
    keep_alive_.DataSent();
  } else if (type == NGHTTP2_RST_STREAM && error_code != NGHTTP2_NO_ERROR) {
    // The client provoked it, by a wrong frame or by what it asked for: as good as its own reset.
    Calm(resets_.Allow([this] { return loop_.NowNs(); }));
  }
}

void Session::OpenCall(int32_t stream) {
  if (RefusesHead(stream)) return;
  CallStatus refusal;
  std::shared_ptr<Call> call =
      MakeCall(CallOrigin{context_, loop_, *this, stream, head_}, &refusal);
  if (call == nullptr) {
    Refuse(stream, refusal);
    return;
  }
  nghttp2_session_set_stream_user_data(session_, stream, call.get());
  call->place = calls_.size();
  calls_.push_back(call);
  call->Begin();
}

bool Session::RefusesHead(int32_t stream) {
  if (!head_.is_post) {
    RefuseHttp(stream, "405");
  } else if (!head_.is_grpc) {
    RefuseHttp(stream, "415");
  } else if (head_.size > context_.options.max_metadata_size) {
    Refuse(stream, {kGrpcResourceExhausted,
                    "received metadata size exceeds limit (" + std::to_string(head_.size) +
                        " vs. " + std::to_string(context_.options.max_metadata_size) + ")"});
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

void Session::CloseCall(Call* call) {
  const size_t place = call->place;
  const std::shared_ptr<Call> closed = std::move(calls_[place]);
  if (place + 1 != calls_.size()) {
    calls_[place] = std::move(calls_.back());
    calls_[place]->place = place;
  }
  calls_.pop_back();
  closed->Detach();
}

void Session::Refuse(int32_t stream, const CallStatus& status) {
  const std::string text = PercentEncode(status.message);
  const std::array<nghttp2_nv, 5> headers = {
      StatusOk(), GrpcContent(), Header("grpc-status", CodeText(status.code)), AcceptedEncodings(),
      Header("grpc-message", text, /*copy_value=*/true)};
  nghttp2_submit_response(session_, stream, headers.data(), headers.size() - (text.empty() ? 1 : 0),
                          nullptr);
  transport_.RequestFlush();
}

void Session::RefuseHttp(int32_t stream, std::string_view status) {
  const nghttp2_nv header = Header(":status", status, /*copy_value=*/true);
  nghttp2_submit_response(session_, stream, &header, 1, nullptr);
  transport_.RequestFlush();
}

void Session::CallChanged(Call& call) {
  if (call.headers_sent) {
    if (call.waiting_for_data) {
      call.waiting_for_data = false;
      nghttp2_session_resume_data(session_, call.stream());
    }
  } else {
    call.headers_sent = true;
    if (call.outcome().has_value() && call.unsent() == 0) {
      Refuse(call.stream(), *call.outcome());
    } else {
      SendHeaders(call);
    }
  }
  transport_.RequestFlush();
}

bool Session::CountIncomplete(size_t before, size_t now) {
  incomplete_ += now - before;  // modulo 2^64
  const auto& budget = context_.options.receive_budget;
  return now <= before || budget == nullptr || incomplete_ == now ||
         incomplete_ <= budget->limit() / 2;
}

void Session::WantsMore(Call& call) {
  if (call.withheld == 0 || call.WantsLess()) return;
  nghttp2_session_consume_stream(session_, call.stream(), std::exchange(call.withheld, 0));
  transport_.RequestFlush();
}

void Session::SendHeaders(Call& call) {
  const std::array<nghttp2_nv, 4> headers = {
      StatusOk(), GrpcContent(), AcceptedEncodings(),
      Header("grpc-encoding", EncodingName(call.response_encoding()))};
  const bool encoded = call.response_encoding() != Encoding::kIdentity;
  nghttp2_data_provider provider = {};
  provider.source.ptr = &call;
  provider.read_callback = SessionCallbacks::ReadData;
  nghttp2_submit_response(session_, call.stream(), headers.data(),
                          headers.size() - (encoded ? 0 : 1), &provider);
}

void Session::SendTrailers(Call& call) {
  const std::string text = PercentEncode(call.outcome()->message);
  const std::array<nghttp2_nv, 2> trailers = {Header("grpc-status", CodeText(call.outcome()->code)),
                                              Header("grpc-message", text, /*copy_value=*/true)};
  nghttp2_submit_trailer(session_, call.stream(), trailers.data(), text.empty() ? 1 : 2);
}

void Session::ResetStream(Call& call, uint32_t error_code) {
  nghttp2_submit_rst_stream(session_, NGHTTP2_FLAG_NONE, call.stream(), error_code);
  transport_.RequestFlush();
}

}  // namespace nereid::frontend::grpc
