// SPDX-License-Identifier: Apache-2.0
#include "app/reference/man_page.h"

#include <string_view>

namespace nereid::app::reference {
namespace {

/// Returns a text that roff prints as it is, at any place of a line. A hyphen becomes "\-", which
/// is the character that can be copied into a shell; a plain one may be printed as a dash.
std::string Escaped(std::string_view text) {
  std::string escaped;
  // A line that begins with one of these is a request.
  if (text.starts_with('.') || text.starts_with('\'')) escaped = "\\&";
  for (const char c : text) {
    switch (c) {
      case '\\':
        escaped += "\\e";
        break;
      case '-':
        escaped += "\\-";
        break;
      case '\'':
        escaped += "\\(aq";
        break;
      case '"':
        escaped += "\\(dq";
        break;
      case '\n':
        escaped += ' ';
        break;
      default:
        escaped += c;
    }
  }
  return escaped;
}

std::string Upper(std::string text) {
  for (char& c : text) {
    if (c >= 'a' && c <= 'z') c = static_cast<char>(c - 'a' + 'A');
  }
  return text;
}

std::string Heading(const std::string& name, const std::string& summary,
                    const std::string& version) {
  return ".TH " + Escaped(Upper(name)) + " 1 \"\" \"nereid " + Escaped(version) +
         "\" \"Nereid\"\n" + ".SH NAME\n" + Escaped(name) + " \\- " + Escaped(summary) + "\n";
}

std::string FlagEntry(const Flag& flag) {
  std::string text = ".TP\n\\fB";
  if (!flag.short_name.empty()) text += "\\-" + Escaped(flag.short_name) + "\\fR, \\fB";
  text += "\\-\\-" + Escaped(flag.name) + "\\fR";
  if (!flag.value_form.empty()) text += "=\\fI" + Escaped(flag.value_form) + "\\fR";
  return text + "\n" + Escaped(flag.help) + "\n";
}

}  // namespace

std::string ManPageOf(const Command& command, const std::string& version) {
  std::string text = Heading("nereid-" + command.name, command.summary, version);
  text += ".SH SYNOPSIS\n" + Escaped(command.usage) + "\n.SH DESCRIPTION\n";
  bool first = true;
  for (const std::string& paragraph : command.description) {
    if (!first) text += ".PP\n";
    first = false;
    text += Escaped(paragraph) + "\n";
  }
  text += ".SH FLAGS\n";
  std::string group;
  for (const Flag& flag : command.flags) {
    if (flag.group != group) text += ".SS " + Escaped(flag.group) + "\n";
    group = flag.group;
    text += FlagEntry(flag);
  }
  return text + ".SH SEE ALSO\n\\fBnereid\\fR(1)\n";
}

std::string OverviewManPage(const std::vector<Command>& commands, const std::string& version) {
  std::string text = Heading("nereid", "inference server", version);
  text +=
      ".SH SYNOPSIS\nnereid \\fIcommand\\fR [\\fIflags\\fR]\n.SH DESCRIPTION\n"
      "Nereid serves machine learning models over HTTP and gRPC. It takes the model repositories, "
      "the configurations and the flags of Triton Inference Server. Under the name tritonserver "
      "the "
      "program takes the flags of \\fBnereid\\-serve\\fR(1) directly.\n.SH COMMANDS\n";
  std::string pages;
  for (const Command& command : commands) {
    text += ".TP\n\\fB" + Escaped(command.name) + "\\fR\n" + Escaped(command.summary) + "\n";
    pages +=
        (pages.empty() ? "\\fBnereid\\-" : ",\n\\fBnereid\\-") + Escaped(command.name) + "\\fR(1)";
  }
  return text + ".SH SEE ALSO\n" + pages + "\n";
}

}  // namespace nereid::app::reference
