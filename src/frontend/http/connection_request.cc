// SPDX-License-Identifier: Apache-2.0
// Heads and bodies of requests.
#include <algorithm>
#include <boost/beast/http/error.hpp>
#include <charconv>
#include <memory>
#include <utility>

#include "api/timeout_text.h"
#include "base/clock.h"
#include "frontend/http/connection.h"
#include "frontend/http/large_work.h"

namespace nereid::frontend::http {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
using Outcome = memory::ReceiveBuffer::Outcome;

/// What must arrive of a body while the stall timeout runs: whoever sends a byte now and then does
/// not keep the memory of a large body.
constexpr size_t kLeastProgress = size_t{16} << 10;

}  // namespace

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
  if (error) {
    RefuseMalformed(error);
    return false;
  }
  if (!parser_->is_header_done()) return true;
  return BeginBody(input);
}

void Connection::RefuseMalformed(const boost::system::error_code& error) {
  const Refusal refusal = parser_->refusal();
  if (refusal.status != 0) return Refuse(refusal);
  if (error == beast::http::error::header_limit) {
    return Refuse(431, "the request's head is larger than " +
                           std::to_string(loop_->options().max_head_size) + " bytes");
  }
  Refuse(400, "malformed HTTP request: " + error.message());
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
  if (head.expects_continue && input->empty() && (chunked || size != 0)) SendContinue();
  if (chunked) {
    state_ = State::kChunkedBody;
    received_.Start(BodyOffset(max_size), 0);
    parser_->StartChunkedBody(&received_, max_size);
    progress_ = 0;
    SetDeadline(loop_->timeouts().stall);
    return true;
  }
  body = Body{};
  if (size == 0) {
    Dispatch();
    return false;
  }
  received_.Start(BodyOffset(size), size);
  const std::string_view there = input->substr(0, size);
  if (const Outcome outcome = received_.Append(there); outcome != Outcome::kDone) {
    Refuse(RefusalOf(outcome));
    return false;
  }
  input->remove_prefix(there.size());
  if (there.size() == size) {
    TakeBody();
    Dispatch();
    return false;
  }
  state_ = State::kBody;
  body_size_ = size;
  progress_ = there.size();
  SetDeadline(loop_->timeouts().stall);
  return false;
}

void Connection::NoteProgress() {
  if (received_.size() - progress_ < kLeastProgress) return;
  progress_ = received_.size();
  SetDeadline(loop_->timeouts().stall);
}

void Connection::TakeBody() {
  const size_t offset = received_.offset();
  const size_t size = received_.size();
  body = {received_.Take(), offset, size};
}

/// What has come of a body that is not complete.
void Connection::DropReceived() {
  Free(received_.Take());
  received_.Start(0, 0);
}

/// A body that no request has taken.
void Connection::DropBody() {
  if (body.buffer.size() > kMostFreedOnLoop) Free(std::move(body.buffer));
  body = Body{};
}

void Connection::Free(memory::HostBuffer buffer) {
  if (buffer.size() <= kMostFreedOnLoop) return;
  loop_->handler().FreeElsewhere(std::make_shared<memory::HostBuffer>(std::move(buffer)));
}

bool Connection::ParseChunks(std::string_view* input) {
  boost::system::error_code error;
  const size_t used = parser_->put(asio::buffer(input->data(), input->size()), error);
  input->remove_prefix(used);
  NoteProgress();
  if (error == beast::http::error::need_more) return false;
  if (error) {
    RefuseMalformed(error);
    return false;
  }
  if (!parser_->is_done()) return true;
  TakeBody();
  Dispatch();
  return false;
}

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
  DropBody();
  DropReceived();
  state_ = State::kBusy;
  close_after_reply_ = true;
  refused_ = true;
  reply.SetError(status, "application/json", message);
  Finish();
}

}  // namespace nereid::frontend::http
