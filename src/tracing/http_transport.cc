// SPDX-License-Identifier: Apache-2.0
#include "tracing/http_transport.h"

#include <algorithm>
#include <exception>

#include "curl/url_text.h"

namespace nereid::tracing {
namespace {

using base::Status;

constexpr size_t kMaxBody = size_t{64} << 10;  // of an answer; the rest is not kept
constexpr int kPollMs = 1000;

bool IsHeaderText(std::string_view text) {
  return std::none_of(text.begin(), text.end(),
                      [](char c) { return c == '\r' || c == '\n' || c == '\0'; });
}

/// Returns INVALID_ARG if libcurl would not accept the URL.
Status CheckUrl(const curl::CurlLibrary& library, const std::string& url) {
  CURLU* const handle = library.url_new();
  if (handle == nullptr) return Status::Unavailable("out of memory");
  const CURLUcode code = library.url_set(handle, CURLUPART_URL, url.c_str(), CURLU_GUESS_SCHEME);
  library.url_cleanup(handle);
  const size_t scheme = url.find("://");
  const bool is_http = scheme == url.npos || url.starts_with("http:") || url.starts_with("https:");
  if (code == CURLUE_OK && is_http) return {};
  return Status::InvalidArgument(
      "the URL '" + curl::UrlWithoutUser(url) +
      "' for spans is not usable, expected the form http://host:port/path: " +
      (code == CURLUE_OK ? "neither http nor https" : library.url_error(code)));
}

}  // namespace

base::Result<std::unique_ptr<HttpTransport>> HttpTransport::Create(HttpTarget target) {
  const base::Result<const curl::CurlLibrary*> library = curl::CurlLibrary::Open();
  if (!library.ok()) return library.status().WithPrefix("OpenTelemetry: ");
  NEREID_RETURN_IF_ERROR(CheckUrl(**library, target.url));
  std::unique_ptr<HttpTransport> transport(new HttpTransport(**library, std::move(target)));
  NEREID_RETURN_IF_ERROR(transport->Prepare());
  return transport;
}

HttpTransport::~HttpTransport() {
  if (easy_ != nullptr) curl_.easy_cleanup(easy_);
  if (multi_ != nullptr) curl_.multi_cleanup(multi_);
  curl_.list_free(headers_);
}

Status HttpTransport::Prepare() {
  easy_ = curl_.easy_init();
  multi_ = curl_.multi_init();
  if (easy_ == nullptr || multi_ == nullptr) return Status::Unavailable("libcurl cannot start");
  std::vector<std::string> lines = {
      "Content-Type: application/x-protobuf", "Content-Encoding: gzip",
      "Expect:",  // no "100-continue", which would cost a round trip
  };
  for (const auto& [name, value] : target_.headers) {
    if (name.empty() || !IsHeaderText(name) || !IsHeaderText(value)) {
      return Status::InvalidArgument("the header '" + name + "' for spans is not valid in HTTP");
    }
    lines.push_back(name + ": " + value);
  }
  for (const std::string& line : lines) {
    curl_slist* const longer = curl_.list_append(headers_, line.c_str());
    if (longer == nullptr) return Status::Unavailable("out of memory");
    headers_ = longer;
  }
  curl_.easy_set(easy_, CURLOPT_URL, target_.url.c_str());
  curl_.easy_set(easy_, CURLOPT_DEFAULT_PROTOCOL, "http");
  curl_.easy_set(easy_, CURLOPT_PROTOCOLS_STR, "http,https");
  curl_.easy_set(easy_, CURLOPT_USERAGENT, "nereid");
  curl_.easy_set(easy_, CURLOPT_HTTPHEADER, headers_);
  curl_.easy_set(easy_, CURLOPT_POST, 1L);
  curl_.easy_set(easy_, CURLOPT_NOSIGNAL, 1L);  // signals belong to the server
  curl_.easy_set(easy_, CURLOPT_TIMEOUT_MS, target_.timeout_ms);
  curl_.easy_set(easy_, CURLOPT_WRITEFUNCTION, &HttpTransport::TakeBody);
  if (!target_.certificate_file.empty()) {
    curl_.easy_set(easy_, CURLOPT_CAINFO, target_.certificate_file.c_str());
  }
  return {};
}

size_t HttpTransport::TakeBody(char* bytes, size_t size, size_t count, void* body) noexcept {
  auto& kept = *static_cast<std::string*>(body);
  try {
    kept.append(bytes, std::min(size * count, kMaxBody - kept.size()));
  } catch (const std::exception&) {
    kept.clear();  // the text of an answer only helps to explain it
  }
  return size * count;
}

TransportReply HttpTransport::Send(std::string_view packed) {
  TransportReply reply;
  curl_.easy_set(easy_, CURLOPT_POSTFIELDS, packed.data());
  curl_.easy_set(easy_, CURLOPT_POSTFIELDSIZE_LARGE, static_cast<curl_off_t>(packed.size()));
  curl_.easy_set(easy_, CURLOPT_WRITEDATA, &reply.body);
  if (curl_.multi_add(multi_, easy_) != CURLM_OK) {
    reply.failure = "libcurl cannot start a transfer";
    return reply;
  }
  const CURLcode code = Perform();
  if (code != CURLE_OK) {
    reply.failure = curl_.easy_error(code);
  } else {
    long status = 0;
    curl_off_t retry_after = 0;
    curl_.easy_get(easy_, CURLINFO_RESPONSE_CODE, &status);
    curl_.easy_get(easy_, CURLINFO_RETRY_AFTER, &retry_after);
    reply.status = static_cast<int>(status);
    reply.retry_after_secs = static_cast<uint64_t>(std::max<curl_off_t>(retry_after, 0));
    if (status == 0) reply.failure = "the receiver's answer is not HTTP";
  }
  // Without this the removal would wait for a name server that does not answer.
  if (aborted_.load()) curl_.easy_set(easy_, CURLOPT_QUICK_EXIT, 1L);
  curl_.multi_remove(multi_, easy_);
  return reply;
}

CURLcode HttpTransport::Perform() {
  int running = 1;
  while (running != 0 && !aborted_.load()) {
    if (curl_.multi_perform(multi_, &running) != CURLM_OK) return CURLE_FAILED_INIT;
    if (running != 0) curl_.multi_poll(multi_, nullptr, 0, kPollMs, nullptr);
  }
  if (running != 0) return CURLE_ABORTED_BY_CALLBACK;
  int left = 0;
  while (const CURLMsg* const message = curl_.multi_info(multi_, &left)) {
    if (message->msg == CURLMSG_DONE) return message->data.result;
  }
  return CURLE_FAILED_INIT;
}

void HttpTransport::Abort() noexcept {
  aborted_.store(true);
  curl_.multi_wakeup(multi_);
}

}  // namespace nereid::tracing
