// SPDX-License-Identifier: Apache-2.0
#include "frontend/http/connection.h"

#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <cstring>
#include <utility>

#include "api/timeout_text.h"
#include "base/clock.h"
#include "frontend/http/loop.h"

namespace nereid::frontend::http {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;

/// How much a client may send ahead of the answers before it is no longer read.
constexpr size_t kMaxAhead = size_t{64} << 10;
/// How many buffers one system call writes.
constexpr size_t kMaxPieces = 64;
constexpr std::string_view kContinue = "HTTP/1.1 100 Continue\r\n\r\n";

/// Receives into `to`; the result is 0 when there is nothing now or ever again.
size_t Receive(int socket, char* to, size_t room, bool* end) {
  while (true) {
    const ssize_t got = recv(socket, to, room, 0);
    if (got > 0) return static_cast<size_t>(got);
    if (got < 0 && errno == EINTR) continue;
    *end = got == 0 || (errno != EAGAIN && errno != EWOULDBLOCK);
    return 0;
  }
}

void AppendNumber(uint64_t value, std::string* text) {
  char number[24];
  const char* const end = std::to_chars(number, number + sizeof(number), value).ptr;
  text->append(number, static_cast<size_t>(end - number));
}

}  // namespace

Connection::Connection(std::shared_ptr<Loop> loop, Socket socket)
    : loop_(std::move(loop)), socket_(std::move(socket)) {}

Connection::~Connection() = default;

void Connection::Start() {
  boost::system::error_code error;
  socket_.native_non_blocking(true, error);
  socket_.set_option(asio::ip::tcp::no_delay(true), error);
  // Finds out about clients that vanished without a word.
  socket_.set_option(asio::socket_base::keep_alive(true), error);
  SetDeadline(loop_->timeouts().idle);
  WaitReadable();
}

void Connection::SetDeadline(uint64_t ticks) {
  // One more: the current tick is already running.
  deadline_tick_ = ticks == 0 ? 0 : loop_->tick() + ticks + 1;
}

void Connection::CheckTimeout(uint64_t tick) {
  if (deadline_tick_ != 0 && tick >= deadline_tick_) return Close();
  // A client that is far ahead is not read, and its going away not seen.
  const bool works = state_ == State::kBusy || state_ == State::kStreaming;
  if (works && ahead_.size() >= kMaxAhead && !end_of_input_ && IsHungUp()) {
    OnEndOfInput();
  }
}

bool Connection::IsHungUp() {
  pollfd state{socket_.native_handle(), POLLRDHUP, 0};
  return poll(&state, 1, 0) > 0;
}

void Connection::BeginDrain() {
  close_after_reply_ = true;
  if (IsAnswering() || state_ == State::kLingering) return;
  // A whole request may have arrived that the loop has not read yet: closing now would lose it.
  {
    const Loop::DispatchScope scope(*loop_);
    ReadMore();
  }
  // Nobody can say when the rest of half a request comes.
  if (!IsAnswering() && state_ != State::kLingering) Close();
}

void Connection::Close() {
  if (state_ == State::kClosed) return;
  const std::shared_ptr<Connection> self = shared_from_this();
  if (state_ != State::kBusy) Abandon(nullptr);
  ForgetDeadline();
  ForgetStream();
  state_ = State::kClosed;
  trace.reset();
  deadline_tick_ = 0;
  if (cancellation_ != nullptr) cancellation_->Cancel();
  cancellation_.reset();
  boost::system::error_code ignored;
  socket_.close(ignored);
  loop_->Remove(this);
}

// A response refers to its sink, which is this object: one that is kept would keep both for ever.
void Connection::Abandon(const std::shared_ptr<DeadlineSink>& sink) {
  if (sink != nullptr) {
    sink->TakeResponse();
    return;
  }
  response_.reset();
  reply.Clear();
}

// ---- Waiting ----

void Connection::WaitReadable() {
  if (waiting_readable_ || end_of_input_ || state_ == State::kClosed) return;
  if (ahead_.size() >= kMaxAhead) return;
  waiting_readable_ = true;
  socket_.async_wait(Socket::wait_read,
                     [self = shared_from_this()](const boost::system::error_code& error) {
                       self->waiting_readable_ = false;
                       if (!error) self->OnReadable();
                     });
}

void Connection::WaitWritable() {
  socket_.async_wait(Socket::wait_write,
                     [self = shared_from_this()](const boost::system::error_code& error) {
                       if (!error) self->OnWritable();
                     });
}

// ---- Reading ----

void Connection::OnReadable() {
  {
    // Ends before the next wait is set up: an answer that is ready goes out first.
    const Loop::DispatchScope scope(*loop_);
    ReadMore();
  }
  WaitReadable();
}

void Connection::ReadMore() {
  while (state_ != State::kClosed && !end_of_input_) {
    const bool more = state_ == State::kBody ? ReadBody() : ReadInput();
    if (!more || ahead_.size() >= kMaxAhead) return;
  }
}

// Straight into the buffer that the inputs will view.
bool Connection::ReadBody() {
  const size_t room = body.size - body_received_;
  bool end = false;
  const size_t got = Receive(socket_.native_handle(),
                             body.buffer.data() + body.offset + body_received_, room, &end);
  if (end) {
    OnEndOfInput();
    return false;
  }
  if (got == 0) return false;
  body_received_ += got;
  SetDeadline(loop_->timeouts().stall);
  if (body_received_ < body.size) return true;  // large: there may be more by now
  Dispatch();
  return false;
}

bool Connection::ReadInput() {
  std::vector<char>& scratch = loop_->scratch();
  bool end = false;
  const size_t got = Receive(socket_.native_handle(), scratch.data(), scratch.size(), &end);
  if (end) {
    OnEndOfInput();
    return false;
  }
  if (got == 0) return false;
  if (state_ == State::kLingering) return true;
  TakeInput({scratch.data(), got});
  return got == scratch.size() || state_ == State::kBody;
}

void Connection::OnEndOfInput() {
  end_of_input_ = true;
  if (IsAnswering()) {
    // Perhaps the client is gone, perhaps it only has nothing more to say: whoever works for it may
    // stop, but if there is an answer, it is written.
    if (cancellation_ != nullptr) cancellation_->Cancel();
    return;
  }
  Close();
}

void Connection::TakeInput(std::string_view input) {
  if (!ahead_.empty() || IsAnswering()) {
    ahead_.append(input);
    if (IsAnswering()) return;
    input = ahead_;
  }
  const bool is_stored = !ahead_.empty();
  bool more = true;
  while (more && !input.empty()) {
    switch (state_) {
      case State::kHead:
        more = ParseHead(&input);
        break;
      case State::kChunkedBody:
        more = ParseChunks(&input);
        break;
      default:
        more = false;
        break;
    }
  }
  if (state_ == State::kClosed || state_ == State::kLingering) return;
  if (is_stored) {
    ahead_.erase(0, ahead_.size() - input.size());
  } else {
    ahead_.assign(input);
  }
}

bool Connection::ParseHead(std::string_view* input) {
  if (!parser_) {
    // Empty lines in front of a request are allowed.
    while (!input->empty() && (input->front() == '\r' || input->front() == '\n')) {
      input->remove_prefix(1);
    }
    if (input->empty()) return false;
    parser_.emplace(&head, loop_->options().keep_fields, loop_->options().max_head_size);
    SetDeadline(loop_->timeouts().head);
    receive_start_ns = loop_->handler().WantsTimes() ? base::SteadyClock().NowNs() : 0;
  }
  boost::system::error_code error;
  const size_t used = parser_->put(asio::buffer(input->data(), input->size()), error);
  input->remove_prefix(used);
  if (error == beast::http::error::need_more) return false;
  if (error == beast::http::error::header_limit) {
    Refuse(431, "the request's head is larger than " +
                    std::to_string(loop_->options().max_head_size) + " bytes");
    return false;
  }
  if (error) {
    Refuse(400, "malformed HTTP request: " + error.message());
    return false;
  }
  if (!parser_->is_header_done()) return true;
  return BeginBody(input);
}

/// Places the body so that the first byte behind the JSON part is aligned.
size_t Connection::BodyOffset(uint64_t body_size) const {
  if (!head.inference_header_length) return 0;
  const std::string& text = *head.inference_header_length;
  uint64_t length = 0;
  const auto result = std::from_chars(text.data(), text.data() + text.size(), length);
  if (result.ec != std::errc() || length > body_size) return 0;
  return (memory::HostBuffer::kAlignment - length % memory::HostBuffer::kAlignment) %
         memory::HostBuffer::kAlignment;
}

bool Connection::BeginBody(std::string_view* input) {
  if (head.timeout_ns) {
    head.deadline_ns = api::DeadlineAfter(base::SteadyClock().NowNs(), *head.timeout_ns);
  }
  const uint64_t max_size = loop_->options().max_body_size;
  const bool chunked = parser_->chunked();
  const auto length = parser_->content_length();
  const uint64_t size = length ? *length : 0;
  if (size > max_size) {
    Refuse(413, "the request's body of " + std::to_string(size) + " bytes exceeds the maximum of " +
                    std::to_string(max_size) + " bytes");
    return false;
  }
  if (head.expects_continue && input->empty() && (chunked || size != 0)) {
    // 25 bytes into an empty socket buffer: if they do not fit, the client waits in vain, and goes.
    (void)!send(socket_.native_handle(), kContinue.data(), kContinue.size(), MSG_NOSIGNAL);
  }
  if (chunked) {
    state_ = State::kChunkedBody;
    parser_->eager(true);
    parser_->chunked_body().Start(BodyOffset(max_size), max_size);
    SetDeadline(loop_->timeouts().stall);
    return true;
  }
  body = Body{};
  if (size == 0) {
    Dispatch();
    return false;
  }
  body.offset = BodyOffset(size);
  body.size = size;
  body.buffer = memory::HostBuffer::Allocate(body.offset + size);
  if (!body.buffer) {
    Refuse(503, "not enough memory for a body of " + std::to_string(size) + " bytes");
    return false;
  }
  body_received_ = std::min<size_t>(size, input->size());
  std::memcpy(body.buffer.data() + body.offset, input->data(), body_received_);
  input->remove_prefix(body_received_);
  if (body_received_ == size) {
    Dispatch();
    return false;
  }
  state_ = State::kBody;
  SetDeadline(loop_->timeouts().stall);
  return false;
}

bool Connection::ParseChunks(std::string_view* input) {
  boost::system::error_code error;
  const size_t used = parser_->put(asio::buffer(input->data(), input->size()), error);
  input->remove_prefix(used);
  SetDeadline(loop_->timeouts().stall);
  if (error == beast::http::error::need_more) return false;
  if (error == beast::http::error::body_limit) {
    const bool refused = !parser_->refusal().empty();
    Refuse(refused ? 400 : 413, refused ? std::string(parser_->refusal())
                                        : "the request's chunked body exceeds the maximum of " +
                                              std::to_string(loop_->options().max_body_size) +
                                              " bytes");
    return false;
  }
  if (error) {
    Refuse(400, "malformed HTTP request: " + error.message());
    return false;
  }
  if (!parser_->is_done()) return true;
  body = parser_->chunked_body().Take();
  Dispatch();
  return false;
}

// ---- Answering ----

void Connection::Dispatch() {
  parser_.reset();
  state_ = State::kBusy;
  deadline_tick_ = 0;
  answer_form = AnswerForm::kInference;
  receive_end_ns = receive_start_ns == 0 ? 0 : base::SteadyClock().NowNs();
  if (!head.keep_alive || loop_->draining()) close_after_reply_ = true;
  loop_->handler().Handle(*this);
}

void Connection::Refuse(int status, std::string_view message) {
  parser_.reset();
  body = Body{};
  state_ = State::kBusy;
  close_after_reply_ = true;
  refused_ = true;
  reply.SetError(status, "application/json", message);
  Finish();
}

std::shared_ptr<request::ResponseSink> Connection::BecomeSink(
    std::shared_ptr<request::Cancellation> cancellation) {
  is_sink_ = true;
  response_count_ = 0;
  cancellation_ = std::move(cancellation);
  if (head.deadline_ns == 0) return shared_from_this();
  WatchDeadline();
  return deadline_sink_;
}

void Connection::ResignSink() {
  is_sink_ = false;
  cancellation_.reset();
  ForgetDeadline();
  ForgetStream();
}

void Connection::WatchDeadline() {
  deadline_sink_ = std::make_shared<DeadlineSink>(shared_from_this());
  StartTimer([self = shared_from_this(), sink = deadline_sink_] { self->OnDeadline(sink); });
}

void Connection::StartTimer(std::function<void()> on_deadline) {
  if (!deadline_timer_) deadline_timer_.emplace(socket_.get_executor());
  deadline_timer_->expires_at(
      std::chrono::steady_clock::time_point(std::chrono::nanoseconds(head.deadline_ns)));
  deadline_timer_->async_wait(
      [on_deadline = std::move(on_deadline)](const boost::system::error_code& error) {
        if (!error) on_deadline();
      });
}

void Connection::ForgetDeadline() {
  if (deadline_sink_ == nullptr) return;
  deadline_sink_.reset();
  deadline_timer_->cancel();
}

void Connection::OnDeadline(const std::shared_ptr<DeadlineSink>& sink) {
  if (sink != deadline_sink_) return;  // it was done just now
  const Loop::DispatchScope scope(*loop_);
  deadline_sink_.reset();
  cancellation_->Cancel();
  ResignSink();
  reply.SetTooLate();
  OnCompleted(nullptr);
}

void Connection::Finish() noexcept { Complete(nullptr); }

void Connection::Complete(std::shared_ptr<DeadlineSink> sink) noexcept {
  loop_->Complete({shared_from_this(), std::move(sink), nullptr});
}

void Connection::Send(std::unique_ptr<request::InferenceResponse> response, bool final) noexcept {
  if (response != nullptr && response_count_++ == 0) response_ = std::move(response);
  if (final) Complete(nullptr);
}

void Connection::OnCompleted(const std::shared_ptr<DeadlineSink>& sink) {
  if (sink != deadline_sink_ || state_ != State::kBusy) return Abandon(sink);
  if (sink != nullptr) {
    response_ = sink->TakeResponse();
    response_count_ = sink->response_count();
    ForgetDeadline();
  }
  if (is_sink_) {
    is_sink_ = false;
    cancellation_.reset();
    loop_->handler().AnswerInference(*this, std::move(response_), response_count_);
  }
  state_ = State::kWriting;
  body = Body{};
  BuildHead();
  StampTrace("HTTP_SEND_START");
  WriteReply();
  WaitReadable();
}

void Connection::AppendStatusAndFields() {
  reply_head_.append("HTTP/1.1 ");
  AppendNumber(static_cast<uint64_t>(reply.status), &reply_head_);
  reply_head_.append(" ").append(ReasonPhrase(reply.status)).append("\r\n");
  if (!reply.content_type.empty()) {
    reply_head_.append("Content-Type: ").append(reply.content_type).append("\r\n");
  }
  reply_head_.append(reply.extra_fields);
}

void Connection::BuildHead() {
  size_t length = reply.text.size();
  for (const tensor::ByteSpan& piece : reply.tail) length += piece.size;
  reply_head_.clear();
  AppendStatusAndFields();
  reply_head_.append("Content-Length: ");
  AppendNumber(length, &reply_head_);
  reply_head_.append(close_after_reply_ ? "\r\nConnection: close\r\n\r\n" : "\r\n\r\n");

  unwritten_.clear();
  first_unwritten_ = 0;
  unwritten_.push_back({reply_head_.data(), reply_head_.size()});
  if (head.method == Method::kHead) return;
  if (reply.text.size() != 0) unwritten_.push_back({reply.text.data(), reply.text.size()});
  unwritten_.insert(unwritten_.end(), reply.tail.begin(), reply.tail.end());
}

void Connection::WriteReply() {
  while (first_unwritten_ < unwritten_.size()) {
    iovec pieces[kMaxPieces];
    const size_t count = std::min(kMaxPieces, unwritten_.size() - first_unwritten_);
    for (size_t i = 0; i < count; ++i) {
      const tensor::ByteSpan& piece = unwritten_[first_unwritten_ + i];
      pieces[i] = {const_cast<char*>(piece.data), piece.size};
    }
    msghdr message{};
    message.msg_iov = pieces;
    message.msg_iovlen = count;
    const ssize_t sent = sendmsg(socket_.native_handle(), &message, MSG_NOSIGNAL);
    if (sent < 0 && errno == EINTR) continue;
    if (sent < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) {
      SetDeadline(loop_->timeouts().stall);
      WaitWritable();
      return;
    }
    if (sent < 0) return Close();
    auto left = static_cast<size_t>(sent);
    while (first_unwritten_ < unwritten_.size() && left >= unwritten_[first_unwritten_].size) {
      left -= unwritten_[first_unwritten_++].size;
    }
    if (left != 0) {
      unwritten_[first_unwritten_].data += left;
      unwritten_[first_unwritten_].size -= left;
    }
  }
  if (state_ == State::kStreaming) return OnReadyWritten();
  OnWritten();
}

void Connection::OnWritable() {
  const Loop::DispatchScope scope(*loop_);
  if (state_ != State::kWriting && state_ != State::kStreaming) return;
  WriteReply();
  WaitReadable();
}

void Connection::StampTrace(std::string_view name) {
  if (trace != nullptr) trace->Stamp(name, base::SteadyClock().NowNs());
}

void Connection::OnWritten() {
  StampTrace("HTTP_SEND_END");
  trace.reset();
  reply.Clear();
  if (refused_) return Linger();
  if (close_after_reply_) return Close();
  state_ = State::kHead;
  SetDeadline(loop_->timeouts().idle);
  if (!ahead_.empty()) TakeInput({});
  if (end_of_input_ && state_ != State::kBusy) Close();
}

// Closing with unread input (the rest of a refused request) would make the kernel reset the
// connection, and the client could lose the answer.
void Connection::Linger() {
  if (end_of_input_) return Close();
  state_ = State::kLingering;
  ahead_ = {};
  SetDeadline(loop_->timeouts().linger);
  boost::system::error_code ignored;
  socket_.shutdown(Socket::shutdown_send, ignored);
}

}  // namespace nereid::frontend::http
