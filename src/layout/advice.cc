// SPDX-License-Identifier: Apache-2.0
#include "layout/advice.h"

#include "base/utf8.h"
#include "layout/folder.h"

namespace nereid::layout {
namespace {

/// Returns a name from the file system as one line of printable text.
std::string Printable(std::string_view text) {
  constexpr const char* kDigits = "0123456789abcdef";
  std::string printable;
  for (const char c : base::ReplaceInvalidUtf8(std::string(text))) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte >= 0x20 && byte != 0x7f) {
      printable += c;
    } else {
      printable += {'\\', 'x', kDigits[byte >> 4], kDigits[byte & 15]};
    }
  }
  return printable;
}

}  // namespace

std::string Advice::Text() const {
  std::string text = found;
  for (size_t i = 0; i < ways.size(); ++i) text += (i == 0 ? ": " : ", or ") + ways[i];
  return text;
}

std::string WithAdvice(std::string message, const std::string& advice) {
  if (advice.empty()) return message;
  const bool has_line_end = message.ends_with('\n');
  if (has_line_end) message.pop_back();
  return message + "; " + advice + (has_line_end ? "\n" : "");
}

std::string Quoted(std::string_view path) { return "'" + Printable(path) + "'"; }

std::string MoveStep(std::string_view from, std::string_view to) {
  const char* const verb = ParentOf(from) == ParentOf(to) ? "rename " : "move ";
  return verb + Quoted(from) + " to " + Quoted(to);
}

std::string CreateStep(std::string_view directory) {
  return "create the directory " + Quoted(directory);
}

std::string SetStep(std::string_view field, std::string_view value, std::string_view file) {
  return "set " + std::string(field) + ": \"" + Printable(value) + "\" in " + Quoted(file);
}

std::string RemoveStep(std::string_view field, std::string_view file) {
  return "remove " + std::string(field) + " from " + Quoted(file);
}

std::string UnpackStep(std::string_view archive, std::string_view directory) {
  return "unpack " + Quoted(archive) + " in " + Quoted(directory);
}

std::string CopyStep(std::string_view path) { return "copy " + Quoted(path) + " from its source"; }

std::string MakeReadableStep(std::string_view path) {
  return "make " + Quoted(path) + " readable for the server";
}

std::string GitLfsStep(std::string_view path) {
  return "run 'git lfs pull' in the repository of " + Quoted(path);
}

std::string InitStep(std::string_view model, std::string_view config) {
  return "run 'nereid init " + Printable(model) + " -o " + Printable(config) + "'";
}

std::string AddTensorsStep(std::string_view model, std::string_view config) {
  return "add the input and output of 'nereid init " + Printable(model) + "' to " + Quoted(config);
}

std::string Then(std::string_view first, std::string_view second) {
  return std::string(first) + ", then " + std::string(second);
}

}  // namespace nereid::layout
