// SPDX-License-Identifier: Apache-2.0
#include "config/text/placeholders.h"

#include <algorithm>
#include <cctype>

namespace nereid::config {
namespace {

/// A longer one is none. This limits the time for texts with many beginnings of placeholders.
constexpr size_t kMaxSize = 512;

bool IsNameChar(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

/// Returns the number of characters at the beginning of `text` for which `belongs` holds.
template <typename Belongs>
size_t Run(std::string_view text, Belongs belongs) {
  const auto* const end = std::find_if_not(text.begin(), text.end(), belongs);
  return static_cast<size_t>(end - text.begin());
}

size_t Name(std::string_view text) {
  if (text.empty() || std::isdigit(static_cast<unsigned char>(text.front())) != 0) return 0;
  return Run(text, IsNameChar);
}

/// Returns the size of "<open>…<close>" at the beginning of `text`, on one line; 0 if it is not
/// there.
size_t Enclosed(std::string_view text, std::string_view open, std::string_view close) {
  if (!text.starts_with(open)) return 0;
  const size_t at = text.find(close, open.size());
  if (at == std::string_view::npos || at > text.find('\n')) return 0;
  return at + close.size();
}

/// Returns the size of "<open>words<close>"; 0 if something else than words is between them.
size_t EnclosedWords(std::string_view text, char open, char close) {
  if (text.empty() || text.front() != open) return 0;
  const size_t words = Run(text.substr(1), [](char c) {
    return IsNameChar(c) || c == '.' || c == '-' || c == ' ' || c == '/';
  });
  if (words == 0 || text.size() <= words + 1 || text[words + 1] != close) return 0;
  const std::string_view inside = text.substr(1, words);
  const bool has_letter = std::any_of(inside.begin(), inside.end(), [](char c) {
    return std::isalpha(static_cast<unsigned char>(c)) != 0;
  });
  return has_letter ? words + 2 : 0;
}

/// Returns the size of "${…}", which may hold further braces, or of "$(…)".
size_t Shell(std::string_view text) {
  if (text.size() < 3 || text.front() != '$') return 0;
  const char open = text[1];
  const char close = open == '{' ? '}' : ')';
  if (open != '{' && open != '(') return 0;
  int depth = 0;
  for (size_t i = 1; i < text.size() && text[i] != '\n'; ++i) {
    if (text[i] == open) ++depth;
    if (text[i] == close && --depth == 0) return i + 1;
  }
  return 0;
}

/// Returns the size of "{{…}}" if it holds an expression, not the fields of a message.
size_t Braces(std::string_view text) {
  const bool is_triple = text.starts_with("{{{");
  const size_t size = Enclosed(text, is_triple ? "{{{" : "{{", is_triple ? "}}}" : "}}");
  const std::string_view inside = text.substr(0, size);
  if (inside.find_first_not_of("{} ") == std::string_view::npos) return 0;
  // "{{ name: 1 }}" is a message with doubled braces. Jinja has colons in strings and slices only.
  const size_t colon = inside.find(':');
  const bool is_message =
      colon != std::string_view::npos &&
      Run(inside.substr(2), [](char c) { return IsNameChar(c) || c == ' '; }) + 2 == colon;
  return is_message ? 0 : size;
}

/// Returns the size of "<marks>name<marks>" with one or two marks: "@NAME@", "%%NAME%%".
size_t Marked(std::string_view text, char mark) {
  const size_t marks = Run(text, [&](char c) { return c == mark; });
  if (marks == 0 || marks > 2) return 0;
  const size_t name = Name(text.substr(marks));
  const std::string_view rest = text.substr(marks + name);
  return name > 0 && rest.starts_with(std::string(marks, mark)) ? name + 2 * marks : 0;
}

/// Returns the size of "%(name)s" or "%d".
size_t Percent(std::string_view text) {
  if (!text.starts_with('%')) return 0;
  const size_t name = Enclosed(text, "%(", ")");
  if (name > 0) return name + (text.size() > name && IsNameChar(text[name]) ? 1 : 0);
  const bool is_letter = text.size() > 1 && std::string_view("dsifgu").find(text[1]) != text.npos;
  return is_letter && (text.size() == 2 || !IsNameChar(text[2])) ? 2 : 0;
}

/// Returns the size of "__NAME__".
size_t Dunder(std::string_view text) {
  const size_t size = Name(text);
  const std::string_view name = text.substr(0, size);
  return size > 4 && name.starts_with("__") && name.ends_with("__") ? size : 0;
}

/// Returns the size of a placeholder that has this form wherever it is.
size_t Unmistakable(std::string_view text) {
  for (const size_t size :
       {Shell(text), Braces(text), Enclosed(text, "{%", "%}"), Enclosed(text, "<%", "%>")}) {
    if (size > 0) return size;
  }
  return 0;
}

}  // namespace

std::optional<size_t> PlaceholderAt(std::string_view text, bool at_value) {
  constexpr std::string_view kBeginnings = "${<%@._\xE2";
  text = text.substr(0, kMaxSize);
  if (text.empty() || kBeginnings.find(text.front()) == std::string_view::npos) return std::nullopt;
  size_t size = Unmistakable(text);
  const auto otherwise = [&](size_t other) { size = size > 0 ? size : other; };
  if (text.size() > 2 && IsNameChar(text[2])) otherwise(Enclosed(text, "<<", ">>"));
  if (text.starts_with('$') && Name(text.substr(1)) > 0) otherwise(1 + Name(text.substr(1)));
  otherwise(Marked(text, '@'));
  otherwise(Marked(text, '%'));
  otherwise(Percent(text));
  if (text.starts_with("...")) otherwise(Run(text, [](char c) { return c == '.'; }));
  if (text.starts_with("\xE2\x80\xA6")) otherwise(3);
  if (at_value) {
    otherwise(EnclosedWords(text, '<', '>'));
    otherwise(EnclosedWords(text, '{', '}'));
    otherwise(Dunder(text));
  }
  return size > 0 ? std::optional(size) : std::nullopt;
}

std::string PlaceholderIn(std::string_view text, bool may_be_template) {
  for (size_t i = 0; i < text.size(); ++i) {
    const std::string_view rest = text.substr(i, kMaxSize);
    // "$$TRITON_MODEL_DIRECTORY" is filled in by the server.
    if (rest.starts_with("$$")) {
      ++i;
      continue;
    }
    size_t size = may_be_template ? Shell(rest) : Unmistakable(rest);
    if (size == 0 && !may_be_template) size = Marked(rest, '@');
    if (size > 0) return std::string(rest.substr(0, size));
  }
  size_t whole = Braces(text);
  for (const size_t size : {EnclosedWords(text, '<', '>'), EnclosedWords(text, '{', '}'),
                            Marked(text, '%'), Dunder(text)}) {
    if (whole == 0 && !may_be_template) whole = size;
  }
  return whole > 0 && whole == text.size() ? std::string(text) : std::string();
}

std::string PlaceholderRemedy(std::string_view placeholder) {
  // A statement of a template stands for no value.
  if (placeholder.starts_with("{%")) {
    return "The file is a template that was not filled in: run the tool that fills it in, or "
           "remove " +
           std::string(placeholder) + ".";
  }
  return "The file is a template that was not filled in: write the value in place of " +
         std::string(placeholder) + ", or run the tool that fills it in.";
}

}  // namespace nereid::config
