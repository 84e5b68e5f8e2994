// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <concepts>
#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace nereid::frontend::http {

/// A path that is percent-decoded. A slash that was written as "%2F" is a part of its segment and
/// separates nothing.
class PathView {
 public:
  /// A path without such slashes.
  template <std::convertible_to<std::string_view> Text>
  PathView(const Text& text) : text_(text) {}  // NOLINT: implicit
  /// `slashes`: the places in `text` of the slashes that separate nothing, in order.
  PathView(std::string_view text, std::span<const size_t> slashes)
      : text_(text), slashes_(slashes) {}

  std::string_view text() const { return text_; }
  /// Returns the place of the first separator from `from` on, or the size of the text.
  size_t FindSeparator(size_t from) const;

 private:
  std::string_view text_;
  std::span<const size_t> slashes_;
};

/// A reader of the segments of a path. Segments are not empty, so paths with "//" or with a slash
/// at the end have no route.
class PathSegments {
 public:
  explicit PathSegments(const PathView& path) : path_(path) {}

  bool done() const { return at_ == path_.text().size(); }

  /// Removes and returns the next segment; returns an empty view if there is none.
  std::string_view Take();

  /// Removes the next segment if it is `word`. Returns whether it was.
  bool TakeWord(std::string_view word);

 private:
  PathView path_;
  size_t at_ = 0;
};

/// The path of a request's target, decoded. Reused from request to request, so that its text keeps
/// its memory.
class RequestPath {
 public:
  /// Takes the part of `target` before its query. Returns false, and the path is empty, if a '%' is
  /// not followed by two hexadecimal digits, or if the path has a control character.
  bool Assign(std::string_view target);

  PathView view() const { return {text_, slashes_}; }

  void Clear() {
    text_.clear();
    slashes_.clear();
  }

 private:
  bool Decode(std::string_view path);
  bool DecodeSegments(std::string_view path);

  std::string text_;
  std::vector<size_t> slashes_;
};

/// Returns the value of the first parameter of the target's query with this name, decoded as the
/// form of a web page encodes it: "%XX", and '+' for a blank. Empty if there is none, or if it is
/// malformed.
std::string QueryValue(std::string_view target, std::string_view name);

}  // namespace nereid::frontend::http
