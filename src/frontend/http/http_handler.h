// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "codec/json/infer_request.h"
#include "codec/json/text_buffer.h"
#include "memory/host_buffer.h"
#include "request/cancellation.h"
#include "request/inference_response.h"
#include "request/response_sink.h"
#include "tensor/bytes.h"
#include "tracing/request_trace.h"

namespace nereid::frontend::http {

enum class Method { kGet, kHead, kPost, kOther };

/// Writes Triton's line for a request to the verbose log, or for one that ends with this status.
void LogRequest(const struct RequestHead& head, int error_status = 0);

/// What a handler may want to know of a request's head. Reused from request to request.
struct RequestHead {
  Method method = Method::kOther;
  std::string target;
  std::optional<std::string> inference_header_length;  // Inference-Header-Content-Length
  std::string content_encoding;
  std::string accept_encoding;
  /// All fields as received, in order; filled only if the server's options ask for it.
  std::vector<std::pair<std::string, std::string>> fields;
  bool keep_alive = true;
  bool expects_continue = false;
  /// How long the client waits, of the fields grpc-timeout and x-envoy-expected-rq-timeout-ms the
  /// shorter one.
  std::optional<uint64_t> timeout_ns;
  std::string bad_timeout;   // why such a field cannot be read; empty if it can
  uint64_t deadline_ns = 0;  // 0: none; when the client stops waiting, monotonic
  bool is_http_1_0 = false;  // cannot take a chunked body

  /// Whether the client has stopped waiting.
  bool IsTooLate() const;
  /// The target without its query.
  std::string_view path() const;
  void Clear();
};

/// A request's body, received as one piece. The byte behind the JSON part is aligned to 64 bytes.
struct Body {
  memory::HostBuffer buffer;
  size_t offset = 0;
  size_t size = 0;

  std::string_view view() const { return {buffer.data() + offset, size}; }
};

/// An answer: the head's fields, `text`, then the bytes of `tail`. Reused from request to request.
struct Reply {
  int status = 200;
  std::string_view content_type;  // a literal
  std::string extra_fields;       // whole lines, each with its CRLF
  codec::json::TextBuffer text;
  std::vector<tensor::ByteSpan> tail;
  /// Keeps the bytes of `tail` alive until they are written.
  std::unique_ptr<request::InferenceResponse> owner;

  void Clear();
  /// {"error": message} with a status and content type.
  void SetError(int new_status, std::string_view type, std::string_view message);
  /// 504: the client's deadline has passed.
  void SetTooLate();
};

class ReplyStream;

/// What the body of a streamed answer is made of besides its pieces. All literals.
struct StreamForm {
  std::string_view content_type;
  std::string_view late_piece;  // the end, where the deadline passes after the beginning
  std::string_view probe;       // says nothing; sent to see whether the client is there
};

/// How a handler makes the reply of an inference's response.
enum class AnswerForm { kInference, kGenerate };

/// One connection as handlers see it: the request at hand and its answer. A connection has one
/// request at a time. Being the sink of that request's responses too, it costs no allocation.
/// Everything but Finish and the sink's functions belongs to the loop's thread until Finish; a
/// thread that the handler has the exchange finished by may use head, body and reply.
class Exchange : public request::ResponseSink {
 public:
  RequestHead head;
  Body body;
  Reply reply;
  codec::json::OutputOptions output_options;
  AnswerForm answer_form = AnswerForm::kInference;  // set before a request is submitted
  /// Monotonic, of the request at hand; 0 where the handler does not want times.
  uint64_t receive_start_ns = 0;
  uint64_t receive_end_ns = 0;
  /// Set by the handler where the request is traced; kept until the answer is sent.
  std::shared_ptr<tracing::RequestTrace> trace;

  /// The answer in `reply` is complete. Once per request, by any thread; not needed when the
  /// request went to the core, whose final response does the same.
  virtual void Finish() noexcept = 0;

  /// The sink for the request that the handler submits; `cancellation` is set when the client goes
  /// away or its deadline passes, in which case it is answered right away.
  virtual std::shared_ptr<request::ResponseSink> BecomeSink(
      std::shared_ptr<request::Cancellation> cancellation) = 0;

  /// Instead of BecomeSink: the answer's body is what is written to the stream, as it comes; the
  /// exchange ends when the stream does.
  virtual std::shared_ptr<ReplyStream> BeginStream(
      std::shared_ptr<request::Cancellation> cancellation, const StreamForm& form) = 0;

  /// Undoes BecomeSink or BeginStream after a failed submission.
  virtual void ResignSink() = 0;

  /// Makes the next Finish() call `next` on the loop's thread instead of ending the exchange: for a
  /// handler that has a part of its work done by another thread. Dropped without a call when the
  /// client is gone by then. Before that part is begun.
  virtual void ContinueWith(std::function<void()> next) = 0;

  /// Whether the client has gone, so that nobody waits for the answer. Any thread.
  virtual bool IsGone() const noexcept = 0;

  /// Keeps the exchange alive until a blocking operation calls Finish.
  virtual std::shared_ptr<Exchange> Share() = 0;
};

/// What a server serves. Called on the loops' threads, on several at once; must not block.
class HttpHandler {
 public:
  virtual ~HttpHandler() = default;

  /// Answers `exchange.head` and `exchange.body`: sees to it that Finish is called, or submits a
  /// request to the core with the exchange as its sink.
  virtual void Handle(Exchange& exchange) = 0;

  /// Makes `exchange.reply`, in its answer_form, of what the core sent: the first of `count`
  /// responses (none: null). False if another thread does, which then calls Finish().
  virtual bool AnswerInference(Exchange& exchange,
                               std::unique_ptr<request::InferenceResponse> response, int count) = 0;

  /// Whether requests are to be given the times at which they were received.
  virtual bool WantsTimes() const { return false; }

  /// Drops `owner` of much memory: on another thread if the handler has one for that, because
  /// giving memory back to the system takes long.
  virtual void FreeElsewhere(std::shared_ptr<void> owner) { owner.reset(); }

  /// The server's loops have ended: gives up what has not begun on other threads and waits for the
  /// rest. Called by the thread that stops the server, so that the handler's last owner is never
  /// one of the handler's own threads.
  virtual void Stop() {}
};

/// "OK", "Not Found", …
std::string_view ReasonPhrase(int status);

}  // namespace nereid::frontend::http
