// SPDX-License-Identifier: Apache-2.0
#include "curl/http_message.h"

#include <algorithm>

#include "base/ascii_case.h"
#include "base/checked_math.h"
#include "curl/url_text.h"

namespace nereid::curl {
namespace {

using base::Status;

constexpr size_t kMaxHeadBytes = size_t{64} << 10;
constexpr size_t kMaxFields = 200;

bool IsFieldText(std::string_view text) {
  return std::none_of(text.begin(), text.end(), [](char c) {
    return (static_cast<unsigned char>(c) < 0x20 && c != '\t') || c == 0x7f;
  });
}

bool IsFieldName(std::string_view name) {
  return !name.empty() && std::all_of(name.begin(), name.end(), [](char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
           std::string_view("!#$%&'*+-.^_`|~").find(c) != std::string_view::npos;
  });
}

std::string_view Trimmed(std::string_view text) {
  constexpr std::string_view kBlanks = " \t\r\n";
  text.remove_prefix(std::min(text.find_first_not_of(kBlanks), text.size()));
  text.remove_suffix(text.size() - (text.find_last_not_of(kBlanks) + 1));  // npos + 1 is 0
  return text;
}

}  // namespace

std::string_view FieldOf(const HttpFields& fields, std::string_view name) {
  for (const auto& [field, value] : fields) {
    if (base::EqualsIgnoringCase(field, name)) return value;
  }
  return {};
}

Status CheckRequest(const HttpRequest& request) {
  constexpr std::string_view kMethods[] = {"GET", "HEAD", "POST", "PUT", "DELETE"};
  if (std::find(std::begin(kMethods), std::end(kMethods), request.method) == std::end(kMethods)) {
    return Status::InvalidArgument("the HTTP method '" + request.method +
                                   "' is not one of GET, HEAD, POST, PUT, DELETE");
  }
  if (!request.url.starts_with("http://") && !request.url.starts_with("https://")) {
    return Status::InvalidArgument("the URL '" + UrlForMessages(request.url) +
                                   "' begins neither with http:// nor with https://");
  }
  for (const auto& [name, value] : request.fields) {
    if (!IsFieldName(name) || !IsFieldText(value)) {
      return Status::InvalidArgument("the header field '" + name + "' is not valid in HTTP");
    }
  }
  if (request.range &&
      (request.range->size == 0 || !base::CheckedAdd(request.range->offset, request.range->size))) {
    return Status::InvalidArgument("a range of " + std::to_string(request.range->size) +
                                   " bytes from " + std::to_string(request.range->offset) +
                                   " cannot be requested");
  }
  return {};
}

bool ResponseHead::Take(std::string_view line) {
  if (line.starts_with("HTTP/")) {
    fields_->clear();
    size_ = 0;
    return true;
  }
  const size_t colon = line.find(':');
  if (colon == line.npos) return true;  // the empty line behind the head
  size_ += line.size();
  if (size_ > kMaxHeadBytes || fields_->size() >= kMaxFields) return false;
  std::string name(Trimmed(line.substr(0, colon)));
  std::transform(name.begin(), name.end(), name.begin(), base::LowerCase);
  fields_->emplace_back(std::move(name), Trimmed(line.substr(colon + 1)));
  return true;
}

}  // namespace nereid::curl
