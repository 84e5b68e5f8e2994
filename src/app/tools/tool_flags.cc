// SPDX-License-Identifier: Apache-2.0
#include "app/tools/tool_flags.h"

#include "app/options/flag_words.h"

namespace nereid::app::tools {
namespace {

using base::Status;

std::string_view LongName(const ToolFlag& flag) { return flag.name.substr(0, flag.name.find(',')); }

std::string_view ShortName(const ToolFlag& flag) {
  const size_t comma = flag.name.find(',');
  return comma == std::string_view::npos ? std::string_view() : flag.name.substr(comma + 1);
}

const ToolFlag* Find(std::span<const ToolFlag> flags, std::string_view name, bool is_long) {
  for (const ToolFlag& flag : flags) {
    if (!name.empty() && name == (is_long ? LongName(flag) : ShortName(flag))) return &flag;
  }
  return nullptr;
}

}  // namespace

base::Result<ToolArguments> ToolArguments::Parse(std::span<const ToolFlag> flags,
                                                 std::span<const std::string> words) {
  ToolArguments arguments;
  for (size_t i = 0; i < words.size(); ++i) {
    const std::string_view word = words[i];
    if (word == "--") {
      arguments.words_.insert(arguments.words_.end(), words.begin() + static_cast<long>(i) + 1,
                              words.end());
      break;
    }
    if (word.size() < 2 || word[0] != '-') {
      arguments.words_.emplace_back(word);
      continue;
    }
    const bool is_long = word[1] == '-';
    const size_t equals = is_long ? word.find('=') : std::string_view::npos;
    const std::string_view name =
        is_long ? word.substr(2, equals == word.npos ? equals : equals - 2) : word.substr(1);
    const ToolFlag* flag = Find(flags, name, is_long);
    if (flag == nullptr) {
      return Status::InvalidArgument(
          OneLine("unknown flag " + std::string(word) + ", --help lists the flags"));
    }
    std::string value;
    if (equals != word.npos) {
      if (flag->value_form.empty()) {
        return Status::InvalidArgument("the flag --" + std::string(LongName(*flag)) +
                                       " takes no value");
      }
      value = word.substr(equals + 1);
    } else if (!flag->value_form.empty()) {
      if (i + 1 == words.size()) {
        return Status::InvalidArgument("the flag --" + std::string(LongName(*flag)) +
                                       " needs a value: <" + std::string(flag->value_form) + ">");
      }
      value = words[++i];
    }
    arguments.values_[std::string(LongName(*flag))].push_back(std::move(value));
  }
  return arguments;
}

std::string ToolArguments::Get(std::string_view flag, std::string otherwise) const {
  const auto found = values_.find(flag);
  return found == values_.end() ? std::move(otherwise) : found->second.back();
}

std::vector<std::string> ToolArguments::All(std::string_view flag) const {
  const auto found = values_.find(flag);
  return found == values_.end() ? std::vector<std::string>() : found->second;
}

std::string FlagsText(std::span<const ToolFlag> flags) {
  std::string text = "Flags:\n";
  for (const ToolFlag& flag : flags) {
    text += "  ";
    if (!ShortName(flag).empty()) text.append("-").append(ShortName(flag)).append(", ");
    text.append("--").append(LongName(flag));
    if (!flag.value_form.empty()) text.append(" <").append(flag.value_form).append(">");
    text.append("\n        ").append(flag.help).append("\n");
  }
  return text;
}

}  // namespace nereid::app::tools
