// SPDX-License-Identifier: Apache-2.0
#include "frontend/http/request_path.h"

#include <algorithm>
#include <optional>

#include "base/percent_text.h"
#include "frontend/http/field_text.h"

namespace nereid::frontend::http {
namespace {

bool IsControl(char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; }

}  // namespace

size_t PathView::FindSeparator(size_t from) const {
  size_t at = text_.find('/', from);
  while (at != std::string_view::npos && std::binary_search(slashes_.begin(), slashes_.end(), at)) {
    at = text_.find('/', at + 1);
  }
  return std::min(at, text_.size());
}

std::string_view PathSegments::Take() {
  const std::string_view text = path_.text();
  if (done() || path_.FindSeparator(at_) != at_) return {};
  const size_t end = path_.FindSeparator(at_ + 1);
  const std::string_view segment = text.substr(at_ + 1, end - at_ - 1);
  if (!segment.empty()) at_ = end;
  return segment;
}

bool PathSegments::TakeWord(std::string_view word) {
  PathSegments ahead = *this;
  if (ahead.Take() != word) return false;
  *this = ahead;
  return true;
}

bool RequestPath::Assign(std::string_view target) {
  Clear();
  if (Decode(target.substr(0, target.find('?')))) return true;
  Clear();
  return false;
}

bool RequestPath::Decode(std::string_view path) {
  if (path.find('%') == std::string_view::npos) {
    text_.assign(path);
  } else if (!DecodeSegments(path)) {
    return false;
  }
  return std::none_of(text_.begin(), text_.end(), IsControl);
}

bool RequestPath::DecodeSegments(std::string_view path) {
  while (true) {
    const size_t end = std::min(path.find('/'), path.size());
    const std::optional<std::string> segment = base::PercentDecode(path.substr(0, end));
    if (!segment) return false;
    for (const char c : *segment) {
      if (c == '/') slashes_.push_back(text_.size());
      text_.push_back(c);
    }
    if (end == path.size()) return true;
    text_.push_back('/');
    path.remove_prefix(end + 1);
  }
}

std::string QueryValue(std::string_view target, std::string_view name) {
  (void)TakeUntil(&target, '?');
  while (!target.empty()) {
    std::string_view value = TakeUntil(&target, '&');
    if (TakeUntil(&value, '=') == name) {
      return base::PercentDecode(value, /*plus_is_space=*/true).value_or("");
    }
  }
  return {};
}

}  // namespace nereid::frontend::http
