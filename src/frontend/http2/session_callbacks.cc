// SPDX-License-Identifier: Apache-2.0
// What nghttp2 calls. Exceptions must not pass through its C code: a function that may throw is
// guarded, and ends the connection if it throws.
//
// Flow control. nghttp2 does not enlarge windows by itself (no_auto_window_update): each received
// byte is given back here. The connection's window always gets it back at once, so that one stream
// never blocks the others. The window of the stream gets it back unless the stream wants less; then
// the bytes are withheld, and given back when the stream has caught up (Session::WantsMore), or
// when its client has read what was unsent (SendData).
#include <nghttp2/nghttp2.h>

#include <algorithm>
#include <utility>

#include "frontend/http2/exception_guard.h"
#include "frontend/http2/session.h"

namespace nereid::frontend::http2 {
namespace {

constexpr size_t kFrameHeaderSize = 9;
constexpr size_t kDefaultFrame = 16384;
constexpr size_t kMaxSentFrame = size_t{128} << 10;

Session& SessionOf(void* user_data) { return *static_cast<Session*>(user_data); }

// Returns a stream; null if it was refused or is closed.
Stream* FindStream(nghttp2_session* session, int32_t id) {
  return static_cast<Stream*>(nghttp2_session_get_stream_user_data(session, id));
}

bool EndsStream(const nghttp2_frame& frame) {
  return (frame.hd.type == NGHTTP2_HEADERS || frame.hd.type == NGHTTP2_DATA) &&
         (frame.hd.flags & NGHTTP2_FLAG_END_STREAM) != 0;
}

// Returns the value of a field without the blanks around it.
std::string_view WithoutBlanks(std::string_view value) {
  constexpr std::string_view kBlanks = " \t";
  value.remove_prefix(std::min(value.find_first_not_of(kBlanks), value.size()));
  return value.substr(0, value.find_last_not_of(kBlanks) + 1);
}

// Only lack of memory is an error: a stream that is closed already has no window.
int FromConsume(int result) {
  return result == NGHTTP2_ERR_NOMEM ? NGHTTP2_ERR_CALLBACK_FAILURE : 0;
}

// Chooses the size of a DATA frame. Frames above the default size need a larger buffer in nghttp2:
// only streams with much to send get them.
ssize_t ReadLength(nghttp2_session* session, uint8_t, int32_t id, int32_t connection_window,
                   int32_t stream_window, uint32_t max_frame_size, void*) {
  const Stream* stream = FindStream(session, id);
  const size_t wanted =
      stream != nullptr && stream->unsent() > kDefaultFrame ? kMaxSentFrame : kDefaultFrame;
  return std::max<int64_t>(1, std::min<int64_t>({connection_window, stream_window, max_frame_size,
                                                 static_cast<int64_t>(wanted)}));
}

// Says how many bytes of a stream the next DATA frame carries. The bytes themselves are moved by
// SendData, without a copy into nghttp2's buffer.
ssize_t ReadData(nghttp2_session* session, int32_t, uint8_t*, size_t length, uint32_t* flags,
                 nghttp2_data_source* source, void*) {
  Stream& stream = *static_cast<Stream*>(source->ptr);
  const size_t unsent = stream.unsent();
  const bool is_complete = stream.is_complete();
  if (unsent == 0 && !is_complete) {
    stream.notes.waiting_for_data = true;  // Session::StreamChanged resumes
    return NGHTTP2_ERR_DEFERRED;
  }
  *flags |= NGHTTP2_DATA_FLAG_NO_COPY;
  if (length >= unsent && is_complete) {
    *flags |= NGHTTP2_DATA_FLAG_EOF;
    const bool sent = Guarded("HTTP/2: a connection", false, [&] {
      // The trailers, if there are any, end the stream, and not this frame.
      if (stream.SubmitTrailers(session)) *flags |= NGHTTP2_DATA_FLAG_NO_END_STREAM;
      return true;
    });
    if (!sent) return NGHTTP2_ERR_CALLBACK_FAILURE;
  }
  return static_cast<ssize_t>(std::min(length, unsent));
}

}  // namespace

// The callbacks that use a session's private members.
struct SessionEvents {
  static int OnBeginFrame(nghttp2_session*, const nghttp2_frame_hd* header, void* user_data) {
    Session& self = SessionOf(user_data);
    self.frame_left_ = header->type == NGHTTP2_DATA ? header->length : 0;
    self.bulk_ = 0;
    if (header->type != NGHTTP2_CONTINUATION) self.in_head_ = false;
    self.Enforce(self.limits_.FrameReceived(header->type, header->length, header->flags,
                                            !self.streams_.empty()));
    return 0;
  }

  static int OnBeginHeaders(nghttp2_session*, const nghttp2_frame* frame, void* user_data) {
    Session& self = SessionOf(user_data);
    self.in_head_ = true;
    self.head_ticks_ = 0;
    if (frame->headers.cat != NGHTTP2_HCAT_REQUEST) {
      self.limits_.BeginTrailers();
      return 0;
    }
    return Guarded<int>("HTTP/2: a request", NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE, [&] {
      self.maker_.BeginHead(self.OpeningOf(frame->hd.stream_id));
      return 0;
    });
  }

  static int OnHeader(nghttp2_session*, const nghttp2_frame* frame, const uint8_t* name,
                      size_t name_size, const uint8_t* value, size_t value_size, uint8_t,
                      void* user_data) {
    if (frame->hd.type != NGHTTP2_HEADERS) return 0;
    Session& self = SessionOf(user_data);
    const bool may_go_on = Guarded("HTTP/2: a request", false, [&] {
      if (frame->headers.cat != NGHTTP2_HCAT_REQUEST) {
        return self.limits_.MayReadTrailer(name_size + value_size);
      }
      return self.limits_.MayReadHead(
          self.maker_.AddField({reinterpret_cast<const char*>(name), name_size},
                               WithoutBlanks({reinterpret_cast<const char*>(value), value_size})));
    });
    // This code resets the stream alone. nghttp2 goes on decoding, because HPACK's table is shared
    // by all streams, but no longer calls this function for the stream.
    return may_go_on ? 0 : NGHTTP2_ERR_TEMPORAL_CALLBACK_FAILURE;
  }

  static int OnFrame(nghttp2_session* session, const nghttp2_frame* frame, void* user_data) {
    return Guarded<int>("HTTP/2: a connection", NGHTTP2_ERR_CALLBACK_FAILURE, [&] {
      Session& self = SessionOf(user_data);
      const int32_t id = frame->hd.stream_id;
      if (frame->hd.type == NGHTTP2_SETTINGS) self.received_preface_ = true;
      if (frame->hd.type == NGHTTP2_HEADERS) {
        self.in_head_ = false;
        if (frame->headers.cat == NGHTTP2_HCAT_REQUEST) self.OpenStream(id, !EndsStream(*frame));
      }
      if (EndsStream(*frame)) {
        if (Stream* stream = FindStream(session, id)) stream->ReceiveEnd();
      }
      return 0;
    });
  }

  static int OnDataChunk(nghttp2_session* session, uint8_t, int32_t id, const uint8_t* data,
                         size_t size, void* user_data) {
    Session& self = SessionOf(user_data);
    Stream* const stream = FindStream(session, id);
    self.frame_left_ -= std::min(self.frame_left_, size);
    if (stream != nullptr) {
      const std::string_view bytes(reinterpret_cast<const char*>(data), size);
      const bool taken = Guarded("HTTP/2: a connection", false, [&] {
        stream->ReceiveData(bytes);
        return true;
      });
      if (!taken) return NGHTTP2_ERR_CALLBACK_FAILURE;
      self.bulk_ = std::min(self.frame_left_, stream->missing());
      if (stream->WantsLess()) {
        stream->notes.withheld += size;
        return FromConsume(nghttp2_session_consume_connection(session, size));
      }
    }
    return FromConsume(nghttp2_session_consume(session, id, size));
  }

  static int OnStreamClose(nghttp2_session* session, int32_t id, uint32_t error, void* user_data) {
    Session& self = SessionOf(user_data);
    Stream* const stream = FindStream(session, id);
    if (stream == nullptr) return 0;
    self.limits_.StreamClosed(error);
    nghttp2_session_set_stream_user_data(session, id, nullptr);
    return Guarded<int>("HTTP/2: a connection", NGHTTP2_ERR_CALLBACK_FAILURE, [&] {
      self.CloseStream(stream);
      return 0;
    });
  }

  static int OnFrameSent(nghttp2_session* session, const nghttp2_frame* frame, void* user_data) {
    Session& self = SessionOf(user_data);
    const uint8_t type = frame->hd.type;
    if (type == NGHTTP2_HEADERS || type == NGHTTP2_DATA) {
      self.has_replied_ = true;
      self.keep_alive_.DataSent();
    }
    self.Enforce(self.limits_.FrameSent(
        type, type == NGHTTP2_RST_STREAM ? frame->rst_stream.error_code : 0));
    // A response before the request's end: RFC 9113, 8.1 lets a server reset the stream with
    // NO_ERROR then, so that the client stops sending.
    if (EndsStream(*frame) &&
        nghttp2_session_get_stream_remote_close(session, frame->hd.stream_id) == 0) {
      nghttp2_submit_rst_stream(session, NGHTTP2_FLAG_NONE, frame->hd.stream_id, NGHTTP2_NO_ERROR);
    }
    return 0;
  }

  static int SendData(nghttp2_session* session, nghttp2_frame*, const uint8_t* frame_header,
                      size_t length, nghttp2_data_source* source, void* user_data) {
    Session& self = SessionOf(user_data);
    if (self.queue_.IsFull()) return NGHTTP2_ERR_WOULDBLOCK;
    Stream& stream = *static_cast<Stream*>(source->ptr);
    const bool moved = Guarded("HTTP/2: a connection", false, [&] {
      self.queue_.Copy({reinterpret_cast<const char*>(frame_header), kFrameHeaderSize});
      if (length > 0) stream.MoveUnsent(length, &self.queue_);
      return true;
    });
    if (!moved) return NGHTTP2_ERR_CALLBACK_FAILURE;
    if (stream.notes.withheld == 0 || stream.WantsLess()) return 0;
    return FromConsume(nghttp2_session_consume_stream(session, stream.notes.id,
                                                      std::exchange(stream.notes.withheld, 0)));
  }
};

namespace {

nghttp2_session_callbacks* MakeCallbacks() {
  nghttp2_session_callbacks* callbacks = nullptr;
  if (nghttp2_session_callbacks_new(&callbacks) != 0) return nullptr;
  nghttp2_session_callbacks_set_on_begin_frame_callback(callbacks, SessionEvents::OnBeginFrame);
  nghttp2_session_callbacks_set_on_begin_headers_callback(callbacks, SessionEvents::OnBeginHeaders);
  nghttp2_session_callbacks_set_on_header_callback(callbacks, SessionEvents::OnHeader);
  nghttp2_session_callbacks_set_on_frame_recv_callback(callbacks, SessionEvents::OnFrame);
  nghttp2_session_callbacks_set_on_data_chunk_recv_callback(callbacks, SessionEvents::OnDataChunk);
  nghttp2_session_callbacks_set_on_stream_close_callback(callbacks, SessionEvents::OnStreamClose);
  nghttp2_session_callbacks_set_on_frame_send_callback(callbacks, SessionEvents::OnFrameSent);
  nghttp2_session_callbacks_set_send_data_callback(callbacks, SessionEvents::SendData);
  nghttp2_session_callbacks_set_data_source_read_length_callback(callbacks, ReadLength);
  return callbacks;
}

nghttp2_option* MakeOptions() {
  nghttp2_option* option = nullptr;
  if (nghttp2_option_new(&option) != 0) return nullptr;
  nghttp2_option_set_no_auto_window_update(option, 1);
  // Otherwise each connection keeps as many closed streams as may be open, 1 MiB of them, for
  // priorities that refer to them.
  nghttp2_option_set_no_closed_streams(option, 1);
  // nghttp2 would reset the stream of a field whose value begins or ends with a blank (RFC 9113,
  // section 8.2.1). gRPC permits a receiver to remove them, and OnHeader does so, for REST too.
  nghttp2_option_set_no_rfc9113_leading_and_trailing_ws_validation(option, 1);
  // ConnectionLimits counts resets, more generously; this limit stands behind it.
  nghttp2_option_set_stream_reset_rate_limit(option, 100000, 10000);
  return option;
}

}  // namespace

nghttp2_session* SessionCallbacks::NewSession(Session* session) {
  static nghttp2_session_callbacks* const callbacks = MakeCallbacks();
  static nghttp2_option* const option = MakeOptions();
  nghttp2_session* created = nullptr;
  if (callbacks == nullptr || option == nullptr ||
      nghttp2_session_server_new2(&created, callbacks, session, option) != 0) {
    return nullptr;
  }
  return created;
}

nghttp2_data_provider SessionCallbacks::BodyOf(Stream& stream) {
  nghttp2_data_provider body = {};
  body.source.ptr = &stream;
  body.read_callback = ReadData;
  return body;
}

}  // namespace nereid::frontend::http2
