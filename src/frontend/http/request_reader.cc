// SPDX-License-Identifier: Apache-2.0
#include "frontend/http/request_reader.h"

#include <algorithm>
#include <boost/asio/buffer.hpp>
#include <boost/beast/http/error.hpp>

#include "api/timeout_text.h"
#include "frontend/http/request_body.h"

namespace nereid::frontend::http {
namespace {

namespace beast = boost::beast;

}  // namespace

RequestReader::Result RequestReader::Read(std::string_view input) {
  const bool is_kept = !ahead_.empty();
  if (is_kept) {
    ahead_.append(input);
    input = ahead_;
  }
  std::optional<Result> result;
  while (!result && !input.empty()) {
    switch (phase_) {
      case Phase::kIdle:
        result = BeginHead(&input);
        break;
      case Phase::kHead:
        result = ReadHead(&input);
        break;
      case Phase::kChunkedBody:
        result = ReadChunks(&input);
        break;
      case Phase::kBody:  // the caller receives the rest
        result = Result::kNeedsInput;
        break;
    }
  }
  if (is_kept) {
    ahead_.erase(0, ahead_.size() - input.size());
  } else {
    ahead_.assign(input);
  }
  return result.value_or(Result::kNeedsInput);
}

// RFC 9112, section 2.2: empty lines in front of a request are skipped, because old clients send
// one after a body. They are no part of a request: the time for a head does not begin with them.
std::optional<RequestReader::Result> RequestReader::BeginHead(std::string_view* input) {
  while (!input->empty() && (input->front() == '\r' || input->front() == '\n')) {
    input->remove_prefix(1);
  }
  if (input->empty()) return std::nullopt;
  parser_.emplace(&request_.head, options_);
  phase_ = Phase::kHead;
  has_progress_ = true;
  return std::nullopt;
}

/// Passes input to the parser. Returns false, with the result, if reading ends here for now.
bool RequestReader::Parse(std::string_view* input, std::optional<Result>* result) {
  boost::system::error_code error;
  const size_t used = parser_->put(boost::asio::buffer(input->data(), input->size()), error);
  input->remove_prefix(used);
  if (phase_ == Phase::kChunkedBody) NoteBodyProgress();
  if (!error) return true;
  // The parser has not used an incomplete line; Read keeps it and shows it again with more bytes.
  // The parser itself limits the lines of the head, but not those between chunks.
  if (error == beast::http::error::need_more) {
    *result =
        input->size() <= options_.max_head_size ? Result::kNeedsInput : Refuse(RefusalOfLongLine());
  } else {
    *result = Refuse(RefusalOfMalformed(error));
  }
  return false;
}

std::optional<RequestReader::Result> RequestReader::ReadHead(std::string_view* input) {
  std::optional<Result> result;
  if (!Parse(input, &result)) return result;
  if (!parser_->is_header_done()) return std::nullopt;
  return BeginBody(input);
}

std::optional<RequestReader::Result> RequestReader::ReadChunks(std::string_view* input) {
  std::optional<Result> result;
  if (!Parse(input, &result)) return result;
  if (!parser_->is_done()) return std::nullopt;
  return Complete();
}

/// Refuses a head, or the lines between two chunks or behind the last one.
Refusal RequestReader::RefusalOfLongLine() const {
  if (phase_ == Phase::kHead) return RefusalOfLongHead(options_.max_head_size);
  return {431, "the lines of the chunked body are larger than " +
                   std::to_string(options_.max_head_size) + " bytes"};
}

Refusal RequestReader::RefusalOfMalformed(const boost::system::error_code& error) const {
  if (parser_->refusal().status != 0) return parser_->refusal();
  if (error == beast::http::error::header_limit) return RefusalOfLongLine();
  return {400, "malformed HTTP request: " + error.message()};
}

std::optional<RequestReader::Result> RequestReader::BeginBody(std::string_view* input) {
  RequestHead& head = request_.head;
  // From the end of the head: a client's timeout includes the time that it takes for the body.
  if (head.timeout_ns) head.deadline_ns = api::DeadlineAfter(clock_.NowNs(), *head.timeout_ns);
  const bool chunked = parser_->chunked();
  const auto length = parser_->content_length();
  const uint64_t size = length ? *length : 0;
  has_large_body_ = chunked || size > kSmallBody;
  BodyLimit limit{options_.max_body_size};
  if (size > limit.size) return Refuse(RefusalOfLongBody(head, limit, size));
  if (has_large_body_ && limit_body_ != nullptr) limit = Smaller(limit, limit_body_());
  if (size > limit.size) return Refuse(RefusalOfLongBody(head, limit, size));
  // RFC 9110, section 10.1.1: a client that has begun to send the body does not wait.
  wants_continue_ = head.expects_continue && input->empty() && (chunked || size != 0);
  if (!chunked) return BeginKnownBody(size, input);
  phase_ = Phase::kChunkedBody;
  parser_->StartChunkedBody(body_.StartUnknown(head, options_.max_body_size), limit);
  progress_ = 0;
  has_progress_ = true;
  return std::nullopt;
}

RequestReader::Result RequestReader::BeginKnownBody(uint64_t size, std::string_view* input) {
  body_.Start(request_.head, size);
  if (const auto outcome = body_.Append(input); outcome != BodyReceiver::Outcome::kDone) {
    return Refuse(RefusalOf(outcome));
  }
  if (body_.is_complete()) return Complete();
  phase_ = Phase::kBody;
  progress_ = body_.received();
  has_progress_ = true;
  return Result::kNeedsInput;
}

RequestReader::Result RequestReader::MakeBodyRoom(size_t max, std::span<char>* room) {
  const auto outcome = body_.MakeRoom(max, room);
  if (outcome != BodyReceiver::Outcome::kDone) return Refuse(RefusalOf(outcome));
  return Result::kNeedsInput;
}

RequestReader::Result RequestReader::AddBody(size_t size) {
  body_.Advance(size);
  NoteBodyProgress();
  return body_.is_complete() ? Complete() : Result::kNeedsInput;
}

void RequestReader::NoteBodyProgress() {
  if (body_.received() - progress_ < kMinProgress) return;
  progress_ = body_.received();
  has_progress_ = true;
}

RequestReader::Result RequestReader::Complete() {
  request_.body = body_.Take();
  parser_.reset();
  phase_ = Phase::kIdle;
  has_progress_ = false;
  wants_continue_ = has_large_body_ = false;
  return Result::kComplete;
}

RequestReader::Result RequestReader::Refuse(Refusal refusal) {
  refusal_ = std::move(refusal);
  parser_.reset();
  phase_ = Phase::kIdle;
  has_progress_ = false;
  wants_continue_ = has_large_body_ = false;
  return Result::kRefused;
}

memory::HostBuffer RequestReader::Drop() {
  parser_.reset();
  phase_ = Phase::kIdle;
  ahead_ = {};
  return body_.Drop();
}

}  // namespace nereid::frontend::http
