// SPDX-License-Identifier: Apache-2.0
#include "tracing/trace_context.h"

#include <algorithm>
#include <span>

#include "base/hex_text.h"
#include "base/json_writer.h"

namespace nereid::tracing {
namespace {

constexpr std::string_view kParentName = "traceparent";
constexpr std::string_view kStateName = "tracestate";
// The headers themselves are bounded by the front ends' limits on a request's head.
constexpr size_t kMaxState = 512;
constexpr int kMaxStateMembers = 32;
constexpr size_t kMaxStateKey = 256;
constexpr size_t kMaxStateValue = 256;

// version "-" trace-id "-" parent-id "-" flags; version 00 ends there.
constexpr size_t kVersion0Size = 55;

bool IsName(std::string_view name, std::string_view lower) {
  return name.size() == lower.size() &&
         std::equal(name.begin(), name.end(), lower.begin(), [](char given, char wanted) {
           return given == wanted ||
                  (given >= 'A' && given <= 'Z' && given + ('a' - 'A') == wanted);
         });
}

void AddToList(std::string_view value, std::string* list) {
  if (!list->empty()) *list += ',';
  list->append(value);
}

/// Reads two digits for each byte. Returns whether all of `text` is that. The recommendation
/// forbids upper-case letters.
bool ReadHex(std::string_view text, std::span<uint8_t> bytes) {
  const auto is_upper = [](char c) { return c >= 'A' && c <= 'F'; };
  return std::none_of(text.begin(), text.end(), is_upper) && base::ParseHexText(text, bytes);
}

template <size_t kSize>
bool IsZero(const std::array<uint8_t, kSize>& id) {
  return std::all_of(id.begin(), id.end(), [](uint8_t byte) { return byte == 0; });
}

std::string_view WithoutSpace(std::string_view text) {
  constexpr std::string_view kSpace = " \t";
  const size_t first = text.find_first_not_of(kSpace);
  if (first == text.npos) return {};
  return text.substr(first, text.find_last_not_of(kSpace) - first + 1);
}

bool IsStateKey(std::string_view key) {
  if (key.empty() || key.size() > kMaxStateKey) return false;
  const auto is_letter_or_digit = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
  };
  return is_letter_or_digit(key.front()) && std::all_of(key.begin(), key.end(), [&](char c) {
           return is_letter_or_digit(c) || std::string_view("_-*/@").find(c) != key.npos;
         });
}

bool IsStateValue(std::string_view value) {
  return !value.empty() && value.size() <= kMaxStateValue &&
         std::all_of(value.begin(), value.end(),
                     [](char c) { return c >= ' ' && c <= '~' && c != ',' && c != '='; });
}

/// Returns whether `text` is a list of key=value members.
bool IsState(std::string_view text) {
  if (text.size() > kMaxState) return false;
  for (int members = 0; !text.empty();) {
    const size_t comma = std::min(text.find(','), text.size());
    const std::string_view member = WithoutSpace(text.substr(0, comma));
    text.remove_prefix(std::min(comma + 1, text.size()));
    if (member.empty()) continue;  // legal: a list may have empty members
    const size_t equals = member.find('=');
    if (equals == member.npos || ++members > kMaxStateMembers) return false;
    if (!IsStateKey(member.substr(0, equals))) return false;
    if (!IsStateValue(member.substr(equals + 1))) return false;
  }
  return true;
}

std::string ParentText(const SpanContext& context) {
  return "00-" + base::HexText(context.trace_id) + "-" + base::HexText(context.span_id) + "-" +
         base::HexText(std::array<uint8_t, 1>{context.flags});
}

}  // namespace

void TraceHeaders::Add(std::string_view name, std::string_view value) {
  if (IsName(name, kParentName)) {
    AddToList(value, &parent);
  } else if (IsName(name, kStateName)) {
    AddToList(value, &state);
  }
}

std::optional<SpanContext> ParseTraceContext(const TraceHeaders& headers) {
  const std::string_view text = WithoutSpace(headers.parent);
  if (text.size() < kVersion0Size) return std::nullopt;
  if (text[2] != '-' || text[35] != '-' || text[52] != '-') return std::nullopt;
  std::array<uint8_t, 1> version{};
  std::array<uint8_t, 1> flags{};
  SpanContext context;
  if (!ReadHex(text.substr(0, 2), version) || !ReadHex(text.substr(3, 32), context.trace_id) ||
      !ReadHex(text.substr(36, 16), context.span_id) || !ReadHex(text.substr(53, 2), flags)) {
    return std::nullopt;
  }
  if (IsZero(context.trace_id) || IsZero(context.span_id) || version[0] == 0xff) {
    return std::nullopt;
  }
  // Later versions may append fields. Their first four are read as those of version 00.
  const bool is_longer = text.size() > kVersion0Size;
  if (is_longer && (version[0] == 0 || text[kVersion0Size] != '-')) return std::nullopt;
  context.flags = flags[0];
  if (IsState(headers.state)) context.state = WithoutSpace(headers.state);
  return context;
}

std::string TraceContextJson(const SpanContext& context) {
  std::string text;
  base::JsonWriter json(&text);
  json.BeginObject().Key(kParentName).String(ParentText(context));
  if (!context.state.empty()) json.Key(kStateName).String(context.state);
  json.EndObject();
  return text;
}

}  // namespace nereid::tracing
