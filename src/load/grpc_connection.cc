// SPDX-License-Identifier: Apache-2.0
// gRPC: unary ModelInfer calls over nghttp2, several at once on one connection.
#include <nghttp2/nghttp2.h>
#include <sys/epoll.h>

#include <cerrno>
#include <cstring>
#include <deque>
#include <string_view>
#include <vector>

#include "load/connection.h"

namespace nereid::load {
namespace {

constexpr size_t kChunk = 256 << 10;
// Large enough that no answer waits for a window.
constexpr int32_t kStreamWindow = 16 << 20;
constexpr int32_t kConnectionWindow = 1 << 30;

struct Call {
  explicit Call(Run& run) : caller(run) {}

  Caller caller;
  size_t sent = 0;
  uint64_t sent_ns = 0;
  bool http_ok = false;
  bool grpc_ok = false;
  bool keep = false;
  std::string message;  // grpc-message
  std::string body;     // kept for the first answer alone
};

nghttp2_nv Header(std::string_view name, std::string_view value) {
  return {reinterpret_cast<uint8_t*>(const_cast<char*>(name.data())),
          reinterpret_cast<uint8_t*>(const_cast<char*>(value.data())), name.size(), value.size(),
          NGHTTP2_NV_FLAG_NO_COPY_NAME | NGHTTP2_NV_FLAG_NO_COPY_VALUE};
}

class GrpcConnection final : public Connection {
 public:
  GrpcConnection(Run& run, std::unique_ptr<Link> link)
      : Connection(run, std::move(link)),
        authority_(run.target.Authority()),
        authorization_("Bearer " + run.target.token) {
    for (int i = 0; i < run.streams; ++i) calls_.emplace_back(run);
    nghttp2_session_callbacks* callbacks = nullptr;
    nghttp2_session_callbacks_new(&callbacks);
    nghttp2_session_callbacks_set_on_header_callback(callbacks, OnHeader);
    nghttp2_session_callbacks_set_on_data_chunk_recv_callback(callbacks, OnData);
    nghttp2_session_callbacks_set_on_stream_close_callback(callbacks, OnClose);
    nghttp2_session_client_new(&session_, callbacks, this);
    nghttp2_session_callbacks_del(callbacks);

    const nghttp2_settings_entry settings[] = {
        {NGHTTP2_SETTINGS_ENABLE_PUSH, 0},
        {NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, kStreamWindow},
        {NGHTTP2_SETTINGS_MAX_FRAME_SIZE, 1 << 20}};
    nghttp2_submit_settings(session_, NGHTTP2_FLAG_NONE, settings, std::size(settings));
    nghttp2_session_set_local_window_size(session_, NGHTTP2_FLAG_NONE, 0, kConnectionWindow);
  }

  ~GrpcConnection() override { nghttp2_session_del(session_); }

  bool IsIdle() const override { return under_way_ == 0; }

  void Start(uint64_t due_ns) override {
    for (Call& call : calls_) Submit(call, due_ns);
    Send();
  }

  bool OnEvent(uint32_t epoll_events) override {
    if (epoll_events & ~static_cast<uint32_t>(EPOLLOUT)) Receive();
    Send();
    if (!broken_) return true;
    for (; under_way_ > 0; --under_way_) run_.Failed("connection lost: " + reason_);
    return false;
  }

 private:
  void Break(std::string why) {
    if (!broken_) reason_ = std::move(why);
    broken_ = true;
  }

  void Submit(Call& call, uint64_t due_ns) {
    ++run_.under_way;
    ++under_way_;
    call.caller.Advance();
    call.sent = 0;
    call.http_ok = call.grpc_ok = false;
    call.keep = run_.keeps_output();
    call.message.clear();
    call.body.clear();
    call.sent_ns = due_ns != 0 ? due_ns : NowNs();
    const nghttp2_nv headers[] = {Header(":method", "POST"),
                                  Header(":scheme", run_.target.tls != nullptr ? "https" : "http"),
                                  Header(":path", "/inference.GRPCInferenceService/ModelInfer"),
                                  Header(":authority", authority_),
                                  Header("te", "trailers"),
                                  Header("content-type", "application/grpc"),
                                  Header("user-agent", "nereid"),
                                  Header("authorization", authorization_)};
    const size_t count = std::size(headers) - (run_.target.token.empty() ? 1 : 0);
    nghttp2_data_provider body{};
    body.source.ptr = &call;
    body.read_callback = ReadRequest;
    const int32_t id = nghttp2_submit_request(session_, nullptr, headers, count, &body, &call);
    if (id < 0) Break(nghttp2_strerror(id));
  }

  /// Sends nghttp2's frames, as far as the socket accepts them.
  void Send() {
    while (!broken_) {
      if (out_sent_ == out_.size() && !FillOut()) return;
      const ssize_t n = link_->Send(out_.data() + out_sent_, out_.size() - out_sent_);
      if (n < 0) {
        if (errno != EAGAIN) Break(std::strerror(errno));
        return;
      }
      out_sent_ += static_cast<size_t>(n);
    }
  }

  /// Collects frames, so that a small request is one system call. Returns false if there is none.
  bool FillOut() {
    out_.clear();
    out_sent_ = 0;
    while (out_.size() < kChunk) {
      const uint8_t* frame = nullptr;
      const ssize_t n = nghttp2_session_mem_send(session_, &frame);
      if (n < 0) Break(nghttp2_strerror(static_cast<int>(n)));
      if (n <= 0) break;
      out_.append(reinterpret_cast<const char*>(frame), static_cast<size_t>(n));
    }
    return !out_.empty();
  }

  void Receive() {
    static std::vector<uint8_t> buffer(kChunk);
    while (!broken_) {
      const ssize_t n = link_->Receive(buffer.data(), buffer.size());
      if (n < 0 && errno == EAGAIN) return;
      if (n <= 0) return Break(n == 0 ? "closed by the server" : std::strerror(errno));
      const ssize_t read =
          nghttp2_session_mem_recv(session_, buffer.data(), static_cast<size_t>(n));
      if (read < 0) return Break(nghttp2_strerror(static_cast<int>(read)));
      if (static_cast<size_t>(n) < buffer.size()) return;
    }
  }

  void Finish(Call& call, uint32_t error_code) {
    --under_way_;
    if (call.http_ok && call.grpc_ok && call.keep) {
      call.grpc_ok = run_.KeepOutput(call.body, 0);
    }
    if (call.http_ok && call.grpc_ok) {
      run_.Answered(call.sent_ns, NowNs());
    } else {
      run_.Failed("call failed: " +
                  (call.message.empty() ? nghttp2_http2_strerror(error_code) : call.message));
    }
    if (!run_.sending || broken_) return;
    // After a GOAWAY every new stream would be closed at once, endlessly.
    if (nghttp2_session_check_request_allowed(session_) == 0) {
      return Break("the server takes no more calls");
    }
    Submit(call, 0);
  }

  // ---- nghttp2's callbacks; `user` is the connection, the stream's data its Call
  // -----------------

  static ssize_t ReadRequest(nghttp2_session*, int32_t, uint8_t* out, size_t room, uint32_t* flags,
                             nghttp2_data_source* source, void*) {
    Call& call = *static_cast<Call*>(source->ptr);
    const std::string& request = call.caller.request();
    const size_t n = std::min(room, request.size() - call.sent);
    std::memcpy(out, request.data() + call.sent, n);
    call.sent += n;
    if (call.sent == request.size()) *flags |= NGHTTP2_DATA_FLAG_EOF;
    return static_cast<ssize_t>(n);
  }

  static int OnHeader(nghttp2_session* session, const nghttp2_frame* frame, const uint8_t* name,
                      size_t name_size, const uint8_t* value, size_t value_size, uint8_t, void*) {
    auto* call =
        static_cast<Call*>(nghttp2_session_get_stream_user_data(session, frame->hd.stream_id));
    if (call == nullptr) return 0;
    const std::string_view key(reinterpret_cast<const char*>(name), name_size);
    const std::string_view text(reinterpret_cast<const char*>(value), value_size);
    if (key == ":status") call->http_ok = text == "200";
    if (key == "grpc-status") call->grpc_ok = text == "0";
    if (key == "grpc-message") call->message = text;
    return 0;
  }

  static int OnData(nghttp2_session* session, uint8_t, int32_t stream, const uint8_t* data,
                    size_t size, void*) {
    auto* call = static_cast<Call*>(nghttp2_session_get_stream_user_data(session, stream));
    if (call != nullptr && call->keep) {
      call->body.append(reinterpret_cast<const char*>(data), size);
    }
    return 0;
  }

  static int OnClose(nghttp2_session* session, int32_t stream, uint32_t error_code, void* user) {
    auto* call = static_cast<Call*>(nghttp2_session_get_stream_user_data(session, stream));
    if (call != nullptr) static_cast<GrpcConnection*>(user)->Finish(*call, error_code);
    return 0;
  }

  const std::string authority_;
  const std::string authorization_;
  nghttp2_session* session_ = nullptr;
  std::deque<Call> calls_;  // nghttp2 and the calls themselves keep pointers into it
  int under_way_ = 0;
  bool broken_ = false;
  std::string reason_;
  std::string out_;
  size_t out_sent_ = 0;
};

}  // namespace

std::unique_ptr<Connection> MakeGrpcConnection(Run& run, std::unique_ptr<Link> link) {
  return std::make_unique<GrpcConnection>(run, std::move(link));
}

}  // namespace nereid::load
