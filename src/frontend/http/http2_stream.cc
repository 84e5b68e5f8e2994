// SPDX-License-Identifier: Apache-2.0
#include "frontend/http/http2_stream.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <string>
#include <utility>

#include "api/timeout_text.h"
#include "base/clock.h"
#include "base/parse_number.h"
#include "frontend/http/exchange_steps.h"
#include "frontend/http/field_text.h"
#include "frontend/http/reply_body.h"
#include "frontend/http/request_body.h"
#include "frontend/http2/connection.h"
#include "frontend/http2/field.h"

namespace nereid::frontend::http {
namespace {

namespace beast = boost::beast::http;

beast::field FieldOf(std::string_view name) {
  return beast::string_to_field({name.data(), name.size()});
}

/// Finds out who the client is, if that is asked for.
void IdentifyPeer(const HttpServerOptions& options, http2::StreamHost& host,
                  ReceivedRequest* request) {
  if (options.identifies_peers && !request->peer) request->peer = host.peer();
}

/// The fields of a response in the form of nghttp2, which copies them.
class ResponseFields {
 public:
  /// `lines` are whole lines, as in HTTP/1. All texts must live until the fields are submitted.
  ResponseFields(int status, std::string_view content_type, std::string lines)
      : lines_(std::move(lines)) {
    Add(":status", Number(static_cast<uint64_t>(status), status_));
    if (!content_type.empty()) Add("content-type", content_type);
    for (size_t at = 0; at < lines_.size();) at = AddLine(at);
  }

  void AddLength(size_t size) { Add("content-length", Number(size, length_)); }

  const nghttp2_nv* data() const { return fields_.data(); }
  size_t size() const { return fields_.size(); }

 private:
  static std::string_view Number(uint64_t value, std::array<char, 24>& text) {
    const char* const end = std::to_chars(text.data(), text.data() + text.size(), value).ptr;
    return {text.data(), static_cast<size_t>(end - text.data())};
  }

  void Add(std::string_view name, std::string_view value) {
    fields_.push_back(http2::Field(name, value, NGHTTP2_NV_FLAG_NONE));
  }

  /// Adds the line that begins at `at`, with its name in lower case, and returns where the next one
  /// begins.
  size_t AddLine(size_t at) {
    const size_t end = std::min(lines_.find("\r\n", at), lines_.size());
    const size_t colon = std::min(lines_.find(':', at), end);
    for (size_t i = at; i < colon; ++i) lines_[i] = LowerCase(lines_[i]);
    const std::string_view line(lines_);
    if (colon < end) {
      Add(line.substr(at, colon - at), Trim(line.substr(colon + 1, end - colon - 1)));
    }
    return end + 2;
  }

  std::string lines_;
  std::array<char, 24> status_, length_;
  std::vector<nghttp2_nv> fields_;
};

}  // namespace

Http2Stream::Http2Stream(std::shared_ptr<LoopServices> loop, const http2::Opening& opening)
    : http2::Stream(opening.id),
      loop_(std::move(loop)),
      host_(&opening.host),
      incomplete_(opening.incomplete),
      exchange_(*this, *loop_),
      fields_(&exchange_.request().head, loop_->options()),
      body_(loop_->options().receive_budget) {
  if (loop_->WantsTimes()) exchange_.request().receive_start_ns = base::SteadyClock().NowNs();
}

void Http2Stream::Close() {
  if (host_ != nullptr) host_->ResetStream(*this, NGHTTP2_INTERNAL_ERROR);
}

// ---- The head ----

size_t Http2Stream::AddField(std::string_view name, std::string_view value) {
  constexpr size_t kFieldOverhead = 32;  // as HTTP/2 counts
  head_size_ += name.size() + value.size() + kFieldOverhead;
  RequestHead& head = exchange_.request().head;
  if (head_size_ > loop_->options().max_head_size || fields_.refusal().status != 0) {
    return head_size_;
  }
  if (name == ":path") {
    (void)fields_.SetTarget(value);
  } else if (name == ":method") {
    head.method = MethodOf(beast::string_to_verb({value.data(), value.size()}));
  } else if (name == ":authority") {
    authority_.assign(value);
    (void)fields_.Add(beast::field::host, "host", value);
  } else if (name == "host" && fields_.has_host() && EqualsIgnoringCase(value, authority_)) {
    // RFC 9113, section 8.3.1: the field may repeat :authority, and must not differ.
  } else if (!name.starts_with(':') && fields_.Count()) {
    const beast::field field = FieldOf(name);
    if (field == beast::field::content_length) body_size_ = base::ParseWhole<uint64_t>(value);
    (void)fields_.Add(field, name, value);
  }
  return head_size_;
}

void Http2Stream::Begin(bool has_body) {
  loop_->Serve(*this, [this, has_body] {
    RequestHead& head = exchange_.request().head;
    const HttpServerOptions& options = loop_->options();
    // From the end of the head: a client's timeout includes the time that it takes for the body.
    if (head.timeout_ns) {
      head.deadline_ns = api::DeadlineAfter(base::SteadyClock().NowNs(), *head.timeout_ns);
    }
    if (head_size_ > options.max_head_size) return Refuse(RefusalOfLongHead(options.max_head_size));
    if (fields_.refusal().status != 0) return Refuse(fields_.refusal());
    limit_ = {options.max_body_size};
    const uint64_t announced = body_size_.value_or(UINT64_MAX);
    const bool is_too_long = body_size_ && announced > limit_.size;
    if (has_body && !is_too_long && announced > kSmallBody) {
      IdentifyPeer(options, *host_, &exchange_.request());
      limit_ = Smaller(limit_, loop_->handler().LimitBody(exchange_));
    }
    if (has_body && body_size_.value_or(0) > limit_.size) {
      return Refuse(RefusalOfLongBody(head, limit_, body_size_));
    }
    if (has_body && !TakeBody()) AnswerEarly();
  });
}

/// Prepares for the body. Returns false if the client may not send it; the reply says why.
bool Http2Stream::TakeBody() {
  const RequestHead& head = exchange_.head();
  // If the size is unknown, the place of the tensors is chosen as if it were the largest.
  body_.Start(BodyOffset(head, body_size_.value_or(loop_->options().max_body_size)),
              body_size_.value_or(0));
  if (!body_size_ || *body_size_ > kSmallBody) {
    IdentifyPeer(loop_->options(), *host_, &exchange_.request());
    if (!loop_->handler().MayReceiveBody(exchange_)) return false;
  }
  if (head.expects_continue) host_->SendContinue(*this);
  return true;
}

// ---- The body ----

void Http2Stream::ReceiveData(std::string_view data) {
  if (state_ != State::kReceiving) return;  // refused; the client has not seen it yet
  loop_->Serve(*this, [this, data] { Append(data); });
}

// nghttp2 has checked that the client does not send more than its Content-Length.
void Http2Stream::Append(std::string_view data) {
  if (data.size() > limit_.size - std::min<uint64_t>(limit_.size, body_.size())) {
    return Refuse(RefusalOfLongBody(exchange_.head(), limit_, std::nullopt));
  }
  const memory::ReceiveBuffer::Outcome outcome = body_.Append(data);
  if (outcome != memory::ReceiveBuffer::Outcome::kDone) return Refuse(RefusalOf(outcome));
  if (!incomplete_.Change(std::exchange(counted_, body_.size()), body_.size())) {
    return Refuse(RefusalOf(memory::ReceiveBuffer::Outcome::kOverBudget));
  }
  if (body_.size() - progress_ < kMinProgress) return;
  progress_ = body_.size();
  silent_ticks_ = 0;
}

void Http2Stream::ReceiveEnd() {
  if (state_ != State::kReceiving) return;
  loop_->Serve(*this, [this] { Answer(); });
}

void Http2Stream::FreeBody() {
  exchange_.Free(body_.Take());
  body_.Start(0, 0);
  incomplete_.Change(std::exchange(counted_, 0), 0);
}

// ---- Answering ----

void Http2Stream::Answer() {
  ReceivedRequest& request = exchange_.request();
  request.body = {.buffer = body_.Take(), .offset = body_.offset(), .size = body_.size()};
  incomplete_.Change(std::exchange(counted_, 0), 0);
  request.receive_end_ns = request.receive_start_ns == 0 ? 0 : base::SteadyClock().NowNs();
  state_ = State::kAnswering;
  if (loop_->options().access_log) BeginAccessEntry(&exchange_, host_->peer().address);
  IdentifyPeer(loop_->options(), *host_, &request);
  Dispatch(exchange_, *loop_);
}

void Http2Stream::Refuse(const Refusal& refusal) {
  exchange_.reply().SetError(refusal.status, kJsonType, refusal.text);
  AnswerEarly();
}

/// Sends the reply to a request that is not read to its end. The session then tells the client to
/// stop sending.
void Http2Stream::AnswerEarly() {
  FreeBody();
  state_ = State::kAnswering;
  if (loop_->options().access_log) BeginAccessEntry(&exchange_, host_->peer().address);
  exchange_.Finish();
}

void Http2Stream::OnCompleted(const std::shared_ptr<DeadlineSink>& sink) noexcept {
  const std::shared_ptr<Http2Stream> self = shared_from_this();
  loop_->Serve(*this, [this, &sink] {
    if (state_ != State::kAnswering || !exchange_.IsAwaiting(sink)) return exchange_.Abandon(sink);
    if (exchange_.Advance(sink)) Send();
  });
}

void Http2Stream::OnDeadline() noexcept {
  const std::shared_ptr<Http2Stream> self = shared_from_this();
  loop_->Serve(*this, [this] {
    if (exchange_.Expire(state_ == State::kStreaming)) OnCompleted(nullptr);
  });
}

void Http2Stream::Send() {
  exchange_.FreeBody();
  CountSent(exchange_);
  exchange_.Stamp("HTTP_SEND_START");
  if (exchange_.head().method != Method::kHead) AddBody(loop_, &exchange_.reply(), &unsent_);
  state_ = State::kSending;
  host_->StreamChanged(*this);
}

void Http2Stream::OnStream(const std::shared_ptr<ReplyStream>& stream) noexcept {
  if (stream != exchange_.stream()) return;
  if (state_ != State::kAnswering && state_ != State::kStreaming) return;
  if (unsent() > 0) {
    has_more_ = true;
    return;
  }
  loop_->Serve(*this, [this] {
    TakePieces();
    if (state_ == State::kStreaming) host_->StreamChanged(*this);
  });
}

/// Takes the pieces that there are. Those that come meanwhile are taken when these are sent.
void Http2Stream::TakePieces() {
  ReplyStream::Ready ready = exchange_.stream()->Take();
  if (ready.pieces.empty() && !ready.ended) return;
  if (state_ == State::kAnswering) {
    state_ = State::kStreaming;
    exchange_.Stamp("HTTP_SEND_START");
    exchange_.FreeBody();
    exchange_.reply().status = ready.status;
  }
  api::AccessRecord* const record = exchange_.access_entry().record();
  if (record != nullptr) {
    for (const ReplyStream::Piece& piece : ready.pieces) record->AddSent(piece.text.size());
  }
  AddPieces(std::move(ready.pieces), &unsent_);
  stream_ended_ = ready.ended;
}

// ---- Sending ----

void Http2Stream::SubmitResponse(nghttp2_session* session, const nghttp2_data_provider& body) {
  const Reply& reply = exchange_.reply();
  std::string lines = reply.extra_fields;
  lines.append(FieldsForPages(loop_->options(), exchange_.head()));
  lines.append(loop_->server_fields());
  ResponseFields fields(reply.status, reply.content_type, std::move(lines));
  const bool is_head = exchange_.head().method == Method::kHead;
  if (state_ == State::kSending && HasLength(reply)) {
    fields.AddLength(is_head ? reply.body_size() : unsent());
  }
  const bool has_body = unsent() > 0 || !is_complete();
  nghttp2_submit_response(session, notes.id, fields.data(), fields.size(),
                          has_body ? &body : nullptr);
}

void Http2Stream::MoveUnsent(size_t size, net::OutQueue* queue) {
  silent_ticks_ = 0;
  unsent_.MoveTo(size, queue);
  if (unsent() == 0 && std::exchange(has_more_, false)) TakePieces();
}

// ---- The end ----

void Http2Stream::EndIfIdle() {
  if (state_ == State::kReceiving) host_->ResetStream(*this, NGHTTP2_REFUSED_STREAM);
}

void Http2Stream::Tick() {
  const bool is_sending = state_ == State::kSending || state_ == State::kStreaming;
  if (state_ != State::kReceiving && !(is_sending && unsent() > 0)) {
    silent_ticks_ = 0;
    return;
  }
  if (++silent_ticks_ <= kTicksOfStall) return;
  silent_ticks_ = 0;
  host_->ResetStream(*this, NGHTTP2_CANCEL);
}

// Bytes that were moved to the connection's queue are kept alive by that.
void Http2Stream::Detach() {
  if (state_ == State::kDetached) return;
  const std::shared_ptr<Http2Stream> self = shared_from_this();
  if (state_ == State::kReceiving) FreeBody();
  if (is_complete() && unsent() == 0) {
    exchange_.Stamp("HTTP_SEND_END");
    exchange_.EndStream();
    exchange_.EndTrace();
    exchange_.access_entry().End(exchange_.reply().status);
    exchange_.FreeReply();
  } else {
    exchange_.Disconnect(/*in_use=*/state_ == State::kAnswering);
  }
  state_ = State::kDetached;
  unsent_.Clear();
  host_ = nullptr;
}

void ServeHttp2(const std::shared_ptr<LoopServices>& loop, net::Connection& connection,
                std::unique_ptr<net::ByteStream> client, std::string_view received) {
  auto streams = std::make_unique<Http2Streams>(loop);
  const auto served = std::make_shared<http2::Connection>(
      loop->session_options(), loop->http2_host(), std::move(client), std::move(streams));
  loop->Replace(connection, served);
  served->TakeOver(received);
  if (loop->draining()) served->BeginDrain();
}

}  // namespace nereid::frontend::http
