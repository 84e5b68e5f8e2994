// SPDX-License-Identifier: Apache-2.0
#include "telemetry/labels.h"

#include <algorithm>

#include "base/utf8.h"

namespace nereid::telemetry {
namespace {

bool IsLetter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool IsDigit(char c) { return c >= '0' && c <= '9'; }

void AppendName(std::string_view name, std::string* out) {
  if (name.empty() || IsDigit(name.front())) *out += '_';
  for (char c : name) *out += IsLetter(c) || IsDigit(c) ? c : '_';
}

void AppendEscaped(std::string_view value, std::string* out) {
  // The page is UTF-8: a scraper would reject all of it.
  if (!base::IsUtf8(value)) return AppendEscaped(base::ReplaceInvalidUtf8(value), out);
  for (char c : value) {
    if (c == '\n') {
      *out += "\\n";
    } else {
      if (c == '\\' || c == '"') *out += '\\';
      *out += c;
    }
  }
}

}  // namespace

bool IsValidMetricName(std::string_view name) {
  if (name.empty() || IsDigit(name.front())) return false;
  return std::all_of(name.begin(), name.end(),
                     [](char c) { return IsLetter(c) || IsDigit(c) || c == ':'; });
}

bool IsValidLabelName(std::string_view name) {
  if (name.find(':') != std::string_view::npos || !IsValidMetricName(name)) return false;
  return !name.starts_with("__") && name != "le" && name != "quantile";
}

Labels::Labels(Pairs pairs) : pairs_(std::move(pairs)) {
  std::stable_sort(pairs_.begin(), pairs_.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  // Keeps the last entry of each run of equal names.
  auto kept = pairs_.begin();
  for (auto it = pairs_.begin(); it != pairs_.end(); ++it) {
    if (std::next(it) != pairs_.end() && std::next(it)->first == it->first) continue;
    if (kept != it) *kept = std::move(*it);
    ++kept;
  }
  pairs_.erase(kept, pairs_.end());
  for (const auto& [name, value] : pairs_) {
    if (!text_.empty()) text_ += ',';
    AppendName(name, &text_);
    text_ += "=\"";
    AppendEscaped(value, &text_);
    text_ += '"';
  }
}

Labels Labels::With(std::string name, std::string value) const {
  Pairs pairs = pairs_;
  pairs.emplace_back(std::move(name), std::move(value));
  return Labels(std::move(pairs));
}

LabelSeries::LabelSeries(const Labels& labels, std::string_view name) {
  Labels::Pairs before, after;
  for (const auto& pair : labels.pairs()) {
    if (pair.first < name) before.push_back(pair);
    if (pair.first > name) after.push_back(pair);
  }
  before_ = Labels(std::move(before)).text();
  if (!before_.empty()) before_ += ',';
  AppendName(name, &before_);
  before_ += "=\"";
  after_ = "\"";
  if (!after.empty()) after_.append(",").append(Labels(std::move(after)).text());
}

void LabelSeries::AppendText(std::string_view value, std::string* out) const {
  out->append(before_);
  AppendEscaped(value, out);
  out->append(after_);
}

base::Status Labels::Validate() const {
  for (const auto& [name, value] : pairs_) {
    if (!IsValidLabelName(name)) {
      return base::Status::InvalidArgument("'" + name +
                                           "' is not a metric label name: expected letters, digits "
                                           "and '_', no digit or '__' in front, "
                                           "and neither 'le' nor 'quantile'");
    }
  }
  return {};
}

}  // namespace nereid::telemetry
