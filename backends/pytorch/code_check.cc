// SPDX-License-Identifier: Apache-2.0
#include "pytorch/code_check.h"

#include <algorithm>
#include <cctype>
#include <vector>

namespace nereid::pytorch {
namespace {

bool IsWord(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

/// Returns the end of the string literal or comment that begins at `at`.
size_t EndOf(std::string_view code, size_t at) {
  const char first = code[at];
  for (size_t i = at + 1; i < code.size(); ++i) {
    if (code[i] == '\n') {
      return i;  // a comment or an unterminated literal ends with its line
    }
    if (first != '#' && code[i] == '\\') {
      ++i;
    } else if (first != '#' && code[i] == first) {
      return i + 1;
    }
  }
  return code.size();
}

class Depth {
 public:
  uint32_t deepest() const { return deepest_; }

  void Deeper() { deepest_ = std::max(deepest_, ++now_); }
  void Open() {
    Deeper();
    open_.push_back(now_);
  }
  void Close() {
    if (!open_.empty()) {
      now_ = open_.back();  // the following operators apply to the bracketed expression
      open_.pop_back();
    }
  }
  void Comma() { now_ = open_.empty() ? indented_ : open_.back(); }
  void Line(size_t indented) {
    if (open_.empty()) {
      indented_ = static_cast<uint32_t>(std::min<size_t>(indented, UINT32_MAX / 2));
      now_ = indented_;
      deepest_ = std::max(deepest_, now_);
    }
  }

 private:
  uint32_t now_ = 0;
  uint32_t deepest_ = 0;
  uint32_t indented_ = 0;
  std::vector<uint32_t> open_;
};

}  // namespace

uint32_t DeepestExpression(std::string_view code) {
  Depth depth;
  for (size_t i = 0; i < code.size();) {
    const char c = code[i];
    if (c == '"' || c == '\'' || c == '#') {
      i = EndOf(code, i);
      continue;
    }
    if (IsWord(c)) {
      depth.Deeper();
      while (i < code.size() && IsWord(code[i])) {
        ++i;
      }
      continue;
    }
    ++i;
    if (c == '\n') {
      const size_t text = std::min(code.size(), code.find_first_not_of(" \t", i));
      depth.Line(text - i);
    } else if (c == '(' || c == '[' || c == '{') {
      depth.Open();
    } else if (c == ')' || c == ']' || c == '}') {
      depth.Close();
    } else if (c == ',' || c == ';') {
      depth.Comma();
    } else if (c != ' ' && c != '\t' && c != '\r') {
      depth.Deeper();
    }
  }
  return depth.deepest();
}

uint32_t DeepestBracket(std::string_view text) {
  uint32_t deepest = 0;
  uint32_t now = 0;
  for (const char c : text) {
    if (c == '(' || c == '[') {
      deepest = std::max(deepest, ++now);
    } else if ((c == ')' || c == ']') && now > 0) {
      --now;
    }
  }
  return deepest;
}

}  // namespace nereid::pytorch
