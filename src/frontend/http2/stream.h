// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nghttp2/nghttp2.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>

#include "frontend/http2/incomplete_bytes.h"
#include "frontend/net/out_queue.h"
#include "frontend/net/peer.h"

namespace nereid::frontend::http2 {

class Stream;

/// The connection of a stream, as the stream sees it. Session implements it. Event loop thread
/// only.
class StreamHost {
 public:
  /// `stream` has bytes to send, or its response is complete.
  virtual void StreamChanged(Stream& stream) = 0;
  /// `stream` takes bytes again after WantsLess().
  virtual void WantsMore(Stream& stream) = 0;
  /// Ends the stream at once with RST_STREAM. `error_code` is HTTP/2's.
  virtual void ResetStream(Stream& stream, uint32_t error_code) = 0;
  /// Tells a client that waits for it to send the body of its request ("100 Continue").
  virtual void SendContinue(Stream& stream) = 0;
  /// Returns who the client is. Not before the first request: TLS knows the client only after the
  /// handshake.
  virtual const net::Peer& peer() = 0;

 protected:
  ~StreamHost() = default;
};

/// One request and its response, as the session sees them. Each front end has its own subclass.
/// Event loop thread only.
class Stream {
 public:
  explicit Stream(int32_t id) : notes{.id = id} {}
  virtual ~Stream() = default;
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;

  // ---- The request. ----

  /// The head is complete, and the session owns the stream. Called once. `has_body`: data, or only
  /// the end of the request, will follow.
  virtual void Begin(bool has_body) = 0;
  /// Takes bytes of a DATA frame.
  virtual void ReceiveData(std::string_view data) = 0;
  /// Takes the end of the request (END_STREAM).
  virtual void ReceiveEnd() = 0;
  /// Returns how many of the next bytes only lengthen a message, so that they cost little.
  virtual size_t missing() const = 0;
  /// Returns whether the client should wait before it sends more: the window of the stream is not
  /// enlarged until then.
  virtual bool WantsLess() const { return false; }

  // ---- The response. ----

  /// Queues the head of the response in nghttp2. A response with a body, even if it is not known
  /// yet, is submitted with `body`. A failure for lack of memory shows when nghttp2 is asked for
  /// bytes next.
  virtual void SubmitResponse(nghttp2_session* session, const nghttp2_data_provider& body) = 0;
  /// Returns how many bytes of the body are ready to be sent.
  virtual size_t unsent() const = 0;
  /// Moves the next `size` bytes (at most unsent()) to `queue`.
  virtual void MoveUnsent(size_t size, net::OutQueue* queue) = 0;
  /// Returns whether the response ends behind the unsent bytes.
  virtual bool is_complete() const = 0;
  /// Queues the trailers that end the stream. Returns false if it has none.
  virtual bool SubmitTrailers(nghttp2_session* /*session*/) { return false; }

  // ---- The end. ----

  /// Ends the stream if nothing is being done for it. Is called when the server stops.
  virtual void EndIfIdle() = 0;
  /// Is called kTicksOfStall times in a stall timeout. Ends the stream when its client has let the
  /// whole timeout pass without a byte that it owes, or without reading anything of a complete
  /// response.
  virtual void Tick() = 0;
  /// Cancels what is done for the request, because the stream is closed. The session then drops it.
  virtual void Detach() = 0;

  /// The session's notes about the stream.
  struct Notes {
    const int32_t id;
    size_t place = 0;               // in the session's list
    size_t withheld = 0;            // received bytes that were not given back to the window
    bool head_sent = false;         // the head of the response was submitted
    bool waiting_for_data = false;  // nghttp2 asked for bytes when there were none
  };
  Notes notes;

  /// Ticks in a stall timeout.
  static constexpr int kTicksOfStall = 4;
};

/// The parts from which a stream is made.
struct Opening {
  nghttp2_session* session;
  int32_t id;
  StreamHost& host;             // valid until the stream is detached
  IncompleteBytes& incomplete;  // of the connection; likewise
};

/// Makes the streams of one session of the heads that arrive, one head at a time. Event loop thread
/// only.
class StreamMaker {
 public:
  virtual ~StreamMaker() = default;

  /// A head begins. An earlier one that was not made a stream is forgotten.
  virtual void BeginHead(const Opening& opening) = 0;
  /// Takes a field of the head, also of those (":path") that HTTP/2 puts into fields. Returns the
  /// size of the head so far as HTTP/2 counts it: 32 more for each field.
  virtual size_t AddField(std::string_view name, std::string_view value) = 0;
  /// Returns the stream for the complete head. Returns null if the head was answered already.
  virtual std::shared_ptr<Stream> Make(const Opening& opening) = 0;
};

}  // namespace nereid::frontend::http2
