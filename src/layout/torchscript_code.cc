// SPDX-License-Identifier: Apache-2.0
#include "layout/torchscript_code.h"

#include <algorithm>
#include <cctype>
#include <set>

namespace nereid::layout {
namespace {

std::string_view Trimmed(std::string_view text) {
  const auto is_space = [](char c) { return std::isspace(static_cast<unsigned char>(c)) != 0; };
  while (!text.empty() && is_space(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_space(text.back())) text.remove_suffix(1);
  return text;
}

/// Returns the position of the first of `ends` outside of brackets and texts, from `at`; npos if
/// there is none.
size_t FindOutside(std::string_view text, size_t at, std::string_view ends) {
  int depth = 0;
  char quote = 0;
  for (size_t i = at; i < text.size(); ++i) {
    const char c = text[i];
    if (quote != 0) {
      if (c == '\\') {
        ++i;
      } else if (c == quote) {
        quote = 0;
      }
      continue;
    }
    if (depth == 0 && ends.find(c) != std::string_view::npos) return i;
    if (c == '"' || c == '\'') quote = c;
    if (c == '(' || c == '[' || c == '{') ++depth;
    if (c == ')' || c == ']' || c == '}') --depth;
    if (depth < 0) return std::string_view::npos;
  }
  return std::string_view::npos;
}

std::vector<std::string_view> SplitOutside(std::string_view text) {
  std::vector<std::string_view> parts;
  while (!Trimmed(text).empty()) {
    const size_t comma = std::min(FindOutside(text, 0, ","), text.size());
    parts.push_back(Trimmed(text.substr(0, comma)));
    text.remove_prefix(std::min(comma + 1, text.size()));
  }
  return parts;
}

/// Returns the lines of the class, without its head; empty if the source does not have it.
std::string_view BodyOfClass(std::string_view source, std::string_view name) {
  const std::string head = "class " + std::string(name) + "(";
  size_t begin = source.find(head);
  while (begin != std::string_view::npos && begin > 0 && source[begin - 1] != '\n') {
    begin = source.find(head, begin + 1);
  }
  if (begin == std::string_view::npos) return {};
  const size_t line = std::min(source.find('\n', begin), source.size());
  const size_t end = std::min(source.find("\nclass ", line), source.size());
  return source.substr(line, end - line);
}

/// Splits "__torch__.a.b.Net" into the path of its source, "__torch__/a/b", and "Net".
std::string SourceOf(std::string_view qualified, std::string_view* name) {
  const size_t dot = qualified.rfind('.');
  if (dot == std::string_view::npos) return {};
  *name = qualified.substr(dot + 1);
  std::string path(qualified.substr(0, dot));
  std::replace(path.begin(), path.end(), '.', '/');
  return path;
}

std::string_view FindClass(const TorchScriptCode& code, std::string_view qualified) {
  std::string_view name;
  const auto source = code.find(SourceOf(qualified, &name));
  return source == code.end() ? std::string_view() : BodyOfClass(source->second, name);
}

void ReadArguments(std::string_view text, TorchScriptModule* module) {
  const std::vector<std::string_view> parts = SplitOutside(text);
  for (size_t i = 1; i < parts.size(); ++i) {  // the first one is self
    const size_t colon = parts[i].find(':');
    if (colon == std::string_view::npos) continue;  // the '*' before keyword-only arguments
    const std::string_view rest = parts[i].substr(colon + 1);
    const size_t equals = FindOutside(rest, 0, "=");
    module->arguments.push_back({std::string(Trimmed(parts[i].substr(0, colon))),
                                 std::string(Trimmed(rest.substr(0, equals))),
                                 equals != std::string_view::npos});
  }
}

/// Reads the fields of a named tuple: lines "  name : Type".
void ReadNamedTuple(std::string_view body, TorchScriptModule* module) {
  while (!body.empty()) {
    const size_t end = std::min(body.find('\n'), body.size());
    const std::string_view line = Trimmed(body.substr(0, end));
    body.remove_prefix(std::min(end + 1, body.size()));
    const size_t colon = line.find(" : ");
    if (colon == std::string_view::npos) continue;
    module->result_names.emplace_back(line.substr(0, colon));
    module->results.emplace_back(Trimmed(line.substr(colon + 3)));
  }
}

void ReadResults(const TorchScriptCode& code, std::string_view type, TorchScriptModule* module) {
  constexpr std::string_view kTuple = "Tuple[";
  if (type.starts_with(kTuple) && type.ends_with("]")) {
    for (const auto part :
         SplitOutside(type.substr(kTuple.size(), type.size() - kTuple.size() - 1))) {
      module->results.emplace_back(part);
    }
    return;
  }
  if (type.starts_with("__torch__.")) ReadNamedTuple(FindClass(code, type), module);
  if (module->results.empty()) module->results.emplace_back(type);
}

void ReadForward(const TorchScriptCode& code, std::string_view body, TorchScriptModule* module) {
  constexpr std::string_view kForward = "\n  def forward(";
  const size_t begin = body.find(kForward);
  if (begin == std::string_view::npos) return;
  const size_t open = begin + kForward.size();
  const size_t close = FindOutside(body, open, ")");
  if (close == std::string_view::npos) return;
  module->has_forward = true;
  ReadArguments(body.substr(open, close - open), module);
  const size_t arrow = body.find("->", close);
  const size_t colon = FindOutside(body, close + 1, ":");
  if (arrow == std::string_view::npos || colon == std::string_view::npos || arrow > colon) return;
  ReadResults(code, Trimmed(body.substr(arrow + 2, colon - arrow - 2)), module);
}

bool IsName(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
  });
}

/// Adds the attributes that statements of the form "object.attribute = value" assign.
void ReadAssignments(std::string_view source, std::set<std::string>* names) {
  while (!source.empty()) {
    const size_t end = std::min(source.find('\n'), source.size());
    const std::string_view line = Trimmed(source.substr(0, end));
    source.remove_prefix(std::min(end + 1, source.size()));
    const size_t equals = line.find(" = ");
    if (equals == std::string_view::npos) continue;
    const std::string_view target = line.substr(0, equals);
    const size_t dot = target.find('.');
    if (dot == std::string_view::npos || !IsName(target.substr(0, dot))) continue;
    if (IsName(target.substr(dot + 1))) names->emplace(target.substr(dot + 1));
  }
}

}  // namespace

std::string RootClassOf(std::string_view data_pkl) {
  // A pickle of protocol 2 begins with \x80\x02; the opcode GLOBAL is 'c', followed by the module
  // and the name, each on a line.
  if (!data_pkl.starts_with("\x80\x02"
                            "c")) {
    return {};
  }
  data_pkl.remove_prefix(3);
  const size_t module = data_pkl.find('\n');
  if (module == std::string_view::npos) return {};
  const size_t name = data_pkl.find('\n', module + 1);
  if (name == std::string_view::npos) return {};
  return std::string(data_pkl.substr(0, module)) + "." +
         std::string(data_pkl.substr(module + 1, name - module - 1));
}

TorchScriptModule ReadModuleCode(const TorchScriptCode& code, std::string_view root_class) {
  TorchScriptModule module;
  ReadForward(code, FindClass(code, root_class), &module);
  std::set<std::string> state;
  for (const auto& [path, source] : code) ReadAssignments(source, &state);
  module.state.assign(state.begin(), state.end());
  return module;
}

}  // namespace nereid::layout
