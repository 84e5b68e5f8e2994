// SPDX-License-Identifier: Apache-2.0
#include "curl/http_exchange.h"

#include <algorithm>
#include <exception>

#include "curl/url_text.h"

namespace nereid::curl {
namespace {

using base::Status;

constexpr int kPollMs = 500;  // between two calls of HttpReceiver::is_cancelled
constexpr long kReceiveBufferBytes = 128 << 10;
constexpr long kMaxRedirects = 5;

bool IsCertificateProblem(CURLcode code) {
  return code == CURLE_PEER_FAILED_VERIFICATION || code == CURLE_SSL_CACERT_BADFILE ||
         code == CURLE_SSL_ISSUER_ERROR || code == CURLE_SSL_INVALIDCERTSTATUS;
}

}  // namespace

HttpExchange::HttpExchange(const CurlLibrary& curl, CurlHandle& handle, const HttpRequest& request,
                           const HttpReceiver& receiver)
    : curl_(curl),
      handle_(handle),
      request_(request),
      receiver_(receiver),
      head_(&response_.fields),
      trailers_(&response_.trailers) {}

HttpExchange::~HttpExchange() {
  curl_.easy_reset(handle_.easy());  // no pointer to this object stays; connections do
  curl_.list_free(lines_);
}

base::Result<HttpResponse> HttpExchange::Run(const ExchangeSettings& settings) {
  NEREID_RETURN_IF_ERROR(Prepare(settings));
  if (curl_.multi_add(handle_.multi(), handle_.easy()) != CURLM_OK) {
    return Status::Unavailable("libcurl cannot start a transfer");
  }
  CURLcode code = Perform();
  long status = 0;
  curl_.easy_get(handle_.easy(), CURLINFO_RESPONSE_CODE, &status);
  response_.status = static_cast<int>(status);
  // A gRPC server that refuses a call answers with a head alone, and resets the stream instead of
  // reading the request (RFC 9113, section 8.1).
  const bool is_answered = !FieldOf(response_.fields, "grpc-status").empty();
  if (code == CURLE_HTTP2_STREAM && request_.http2 && is_answered) code = CURLE_OK;
  // Without this the removal would wait for a name server that does not answer.
  if (code != CURLE_OK) curl_.easy_set(handle_.easy(), CURLOPT_QUICK_EXIT, 1L);
  curl_.multi_remove(handle_.multi(), handle_.easy());
  if (cancelled_) {
    return Status::Cancelled("the request to " + UrlForMessages(request_.url) + " was cancelled");
  }
  if (!status_.ok()) return status_;
  if (code != CURLE_OK) return Failure(code);
  // A response without a body has not called OnBody.
  if (!BeginBody()) return status_;
  return std::move(response_);
}

Status HttpExchange::Prepare(const ExchangeSettings& settings) {
  CURL* const easy = handle_.easy();
  const auto set = [&](CURLoption option, auto value) { curl_.easy_set(easy, option, value); };
  NEREID_RETURN_IF_ERROR(PrepareFields());
  PrepareMethod();
  set(CURLOPT_URL, request_.url.c_str());
  if (!request_.unix_socket.empty()) set(CURLOPT_UNIX_SOCKET_PATH, request_.unix_socket.c_str());
  set(CURLOPT_PATH_AS_IS, 1L);
  set(CURLOPT_PROTOCOLS_STR, "http,https");
  set(CURLOPT_REDIR_PROTOCOLS_STR, "http,https");
  set(CURLOPT_FOLLOWLOCATION, request_.follow_redirects ? 1L : 0L);
  set(CURLOPT_MAXREDIRS, kMaxRedirects);
  set(CURLOPT_HTTP_VERSION, static_cast<long>(request_.http2 ? CURL_HTTP_VERSION_2_PRIOR_KNOWLEDGE
                                                             : CURL_HTTP_VERSION_1_1));
  if (request_.http2) {
    // libcurl 7.88 of Debian 12 fails with CURLE_HTTP2 where it reuses a connection that began with
    // HTTP/2.
    set(CURLOPT_FRESH_CONNECT, 1L);
    set(CURLOPT_FORBID_REUSE, 1L);
  }
  set(CURLOPT_USERAGENT, settings.user_agent.c_str());
  set(CURLOPT_NOSIGNAL, 1L);  // signals belong to the server
  set(CURLOPT_SSL_VERIFYPEER, 1L);
  set(CURLOPT_SSL_VERIFYHOST, 2L);
  if (!settings.certificate_file.empty()) {
    set(CURLOPT_CAINFO, settings.certificate_file.c_str());
  }
  if (!request_.use_proxy) set(CURLOPT_PROXY, "");
  set(CURLOPT_CONNECTTIMEOUT_MS, request_.timeouts.connect_ms);
  set(CURLOPT_TIMEOUT_MS, request_.timeouts.total_ms);
  set(CURLOPT_LOW_SPEED_LIMIT, 1L);
  set(CURLOPT_LOW_SPEED_TIME, request_.timeouts.stall_secs);
  set(CURLOPT_BUFFERSIZE, kReceiveBufferBytes);
  set(CURLOPT_ERRORBUFFER, error_text_);
  set(CURLOPT_HEADERFUNCTION, &HttpExchange::OnLine);
  set(CURLOPT_HEADERDATA, this);
  set(CURLOPT_WRITEFUNCTION, &HttpExchange::OnBody);
  set(CURLOPT_WRITEDATA, this);
  return {};
}

Status HttpExchange::PrepareFields() {
  std::vector<std::string> lines = {"Expect:"};  // no "100-continue": it would cost a round trip
  // Without a value libcurl would add one of its own to a POST.
  if (FieldOf(request_.fields, "Content-Type").empty()) lines.push_back("Content-Type:");
  for (const auto& [name, value] : request_.fields) {
    // "Name;" is libcurl's form of a field with an empty value; "Name:" would remove it.
    lines.push_back(value.empty() ? name + ";" : name + ": " + value);
  }
  if (request_.range) {
    const auto [offset, size] = *request_.range;
    lines.push_back("Range: bytes=" + std::to_string(offset) + "-" +
                    std::to_string(offset + size - 1));
  }
  for (const std::string& line : lines) {
    curl_slist* const longer = curl_.list_append(lines_, line.c_str());
    if (longer == nullptr) return Status::Unavailable("out of memory");
    lines_ = longer;
  }
  curl_.easy_set(handle_.easy(), CURLOPT_HTTPHEADER, lines_);
  return {};
}

void HttpExchange::PrepareMethod() {
  CURL* const easy = handle_.easy();
  if (request_.method == "HEAD") {
    curl_.easy_set(easy, CURLOPT_NOBODY, 1L);
  } else if (request_.method == "POST" || request_.method == "PUT" || !request_.body.empty()) {
    curl_.easy_set(easy, CURLOPT_POST, 1L);
    curl_.easy_set(easy, CURLOPT_POSTFIELDSIZE_LARGE,
                   static_cast<curl_off_t>(request_.body.size()));
    curl_.easy_set(easy, CURLOPT_POSTFIELDS, request_.body.data());
  } else {
    curl_.easy_set(easy, CURLOPT_HTTPGET, 1L);
  }
  if (request_.method == "PUT" || request_.method == "DELETE") {
    curl_.easy_set(easy, CURLOPT_CUSTOMREQUEST, request_.method.c_str());
  }
}

CURLcode HttpExchange::Perform() {
  int running = 1;
  while (running != 0) {
    if (IsCancelled()) return CURLE_ABORTED_BY_CALLBACK;
    if (curl_.multi_perform(handle_.multi(), &running) != CURLM_OK) return CURLE_FAILED_INIT;
    if (running != 0) curl_.multi_poll(handle_.multi(), nullptr, 0, kPollMs, nullptr);
  }
  int left = 0;
  while (const CURLMsg* const message = curl_.multi_info(handle_.multi(), &left)) {
    if (message->msg == CURLMSG_DONE) return message->data.result;
  }
  return CURLE_FAILED_INIT;
}

Status HttpExchange::Failure(CURLcode code) const {
  const std::string text = request_.method + " " + UrlForMessages(request_.url) + ": " +
                           (error_text_[0] != '\0' ? error_text_ : curl_.easy_error(code));
  if (code == CURLE_HTTP2_STREAM) {
    return Status::Internal(text + " (the server refused the request before it had read it)");
  }
  if (IsCertificateProblem(code)) return Status::InvalidArgument(text);
  switch (code) {
    case CURLE_URL_MALFORMAT:
      return Status::InvalidArgument(text);
    case CURLE_UNSUPPORTED_PROTOCOL:  // an answer without a head; CheckRequest knows the scheme
    case CURLE_WEIRD_SERVER_REPLY:
    case CURLE_TOO_MANY_REDIRECTS:
    case CURLE_BAD_CONTENT_ENCODING:
      return Status::Internal(text);
    default:
      return Status::Unavailable(text);
  }
}

bool HttpExchange::IsCancelled() {
  cancelled_ = cancelled_ || (receiver_.is_cancelled && receiver_.is_cancelled());
  return cancelled_;
}

bool HttpExchange::Fail(Status status) {
  if (status_.ok()) status_ = std::move(status);
  return false;
}

bool HttpExchange::TakeLine(std::string_view line) {
  // Lines behind the body are trailers. The head of a further response, after a redirection, begins
  // before the first byte of a body that is received.
  if ((body_began_ ? trailers_ : head_).Take(line)) return true;
  return Fail(Status::Internal("the head of the response from " + UrlForMessages(request_.url) +
                               " is too large"));
}

bool HttpExchange::BeginBody() {
  if (body_began_) return true;
  body_began_ = true;
  long status = 0;
  curl_.easy_get(handle_.easy(), CURLINFO_RESPONSE_CODE, &status);
  response_.status = static_cast<int>(status);
  if (!response_.ok() || !receiver_.head) return true;
  Status accepted = receiver_.head(response_);
  return accepted.ok() || Fail(std::move(accepted));
}

bool HttpExchange::TakeBody(std::string_view bytes) {
  if (!BeginBody() || IsCancelled()) return false;
  if (response_.ok() && receiver_.body) {
    Status taken = receiver_.body(bytes);
    return taken.ok() || Fail(std::move(taken));
  }
  const size_t room = request_.max_body - std::min(request_.max_body, response_.body.size());
  if (response_.ok() && bytes.size() > room) {
    return Fail(Status::Internal("the response from " + UrlForMessages(request_.url) +
                                 " has more than " + std::to_string(request_.max_body) + " bytes"));
  }
  response_.body.append(bytes.substr(0, room));
  return true;
}

size_t HttpExchange::OnLine(char* bytes, size_t size, size_t count, void* exchange) noexcept {
  auto& self = *static_cast<HttpExchange*>(exchange);
  try {
    return self.TakeLine({bytes, size * count}) ? size * count : 0;
  } catch (const std::exception& e) {
    self.Fail(Status::Unavailable(e.what()));
    return 0;
  }
}

size_t HttpExchange::OnBody(char* bytes, size_t size, size_t count, void* exchange) noexcept {
  auto& self = *static_cast<HttpExchange*>(exchange);
  try {
    return self.TakeBody({bytes, size * count}) ? size * count : 0;
  } catch (const std::exception& e) {
    self.Fail(Status::Unavailable(e.what()));
    return 0;
  }
}

}  // namespace nereid::curl
