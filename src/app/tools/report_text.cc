// SPDX-License-Identifier: Apache-2.0
#include "app/tools/report_text.h"

#include <algorithm>

#include "app/options/flag_words.h"

namespace nereid::app::tools {
namespace {

using config::RuleInfo;
using repository::Finding;

std::string Counted(size_t count, const std::string& word) {
  return (count == 0 ? "no" : std::to_string(count)) + " " + word + (count == 1 ? "" : "s");
}

std::string FindingText(const Finding& finding) {
  std::string text = finding.file;
  if (finding.position.line > 0) {
    text +=
        ":" + std::to_string(finding.position.line) + ":" + std::to_string(finding.position.column);
  }
  text += ": " + std::string(config::SeverityName(finding.severity)) + ": " + finding.message +
          " [" + finding.rule + "]";
  text = OneLine(std::move(text)) + "\n";
  const auto detail = [&](const char* name, const std::string& value) {
    if (!value.empty()) text += OneLine(std::string("    ") + name + value) + "\n";
  };
  detail("field:    ", finding.field);
  detail("expected: ", finding.expected);
  detail("remedy:   ", finding.remedy);
  return text;
}

void WriteFinding(const Finding& finding, base::JsonWriter* json) {
  json->BeginObject();
  WriteMember("model", finding.model, json);
  WriteMember("file", finding.file, json);
  WritePosition(finding.position, json);
  WriteMember("field", finding.field, json);
  WriteMember("rule", finding.rule, json);
  WriteMember("severity", config::SeverityName(finding.severity), json);
  WriteMember("message", finding.message, json);
  WriteMember("expected", finding.expected, json);
  WriteMember("remedy", finding.remedy, json);
  json->EndObject();
}

std::string_view StageText(config::Stage stage) {
  switch (stage) {
    case config::Stage::kPoll:
      return "poll";
    case config::Stage::kLoadOrStrictPoll:
      return "load, in strict mode poll";
    case config::Stage::kLoad:
      return "load";
  }
  return "";
}

std::string RulesJson(const std::vector<RuleInfo>& rules) {
  std::string text;
  base::JsonWriter json(&text);
  json.BeginObject().Key("rules").BeginArray();
  for (const RuleInfo& rule : rules) {
    json.NewLine().BeginObject();
    WriteMember("rule", rule.id, &json);
    WriteMember("field", rule.field, &json);
    WriteMember("severity", config::SeverityName(rule.severity), &json);
    WriteMember("stage", StageText(rule.stage), &json);
    WriteMember("summary", rule.summary, &json);
    WriteMember("expected", rule.expected, &json);
    WriteMember("remedy", rule.remedy, &json);
    json.EndObject();
  }
  json.NewLine().EndArray().EndObject();
  return text + "\n";
}

// Returns `text` as the cell of a Markdown table, in which a '|' must be escaped.
std::string Cell(std::string_view text) {
  std::string cell;
  for (const char c : text) cell += c == '|' ? std::string("\\|") : std::string(1, c);
  return cell;
}

std::string Code(std::string_view text) {
  return text.empty() ? "" : "`" + std::string(text) + "`";
}

std::string RulesMarkdown(const std::vector<RuleInfo>& rules) {
  std::string text =
      "# The rules of model configurations\n"
      "\n"
      "This page lists every rule that a model configuration must keep, with its remedy. The "
      "output "
      "of\n"
      "`nereid check --list-rules --format=markdown` is this page; a test compares the two.\n"
      "\n"
      "`nereid check models` applies all rules to the models of a repository. The server applies "
      "the "
      "rules\n"
      "of stage *poll* when it reads the directory of a model. A violation of such a rule hides "
      "the "
      "model: a\n"
      "load request fails with `failed to poll from model repository` and the reason. The\n"
      "server applies the rules of stage *load* when it loads a version. The answer and the "
      "repository index\n"
      "then have the reason. A warning does not prevent a load.\n";
  std::string_view section;
  for (const RuleInfo& rule : rules) {
    const std::string_view own = rule.id.substr(0, rule.id.find('.'));
    if (own != section) {
      section = own;
      text += "\n## " + std::string(section) +
              "\n\n| rule | field | meaning | expected | remedy | stage |\n"
              "|---|---|---|---|---|---|\n";
    }
    text += "| " + Code(rule.id) + " | " + Code(rule.field) + " | " + Cell(rule.summary) + " | " +
            Cell(rule.expected) + " | " + Cell(rule.remedy) + " | " +
            std::string(StageText(rule.stage)) +
            (rule.severity == config::Severity::kWarning ? ", a warning" : "") + " |\n";
  }
  return text;
}

std::string RulesPlain(const std::vector<RuleInfo>& rules) {
  std::string text;
  for (const RuleInfo& rule : rules) {
    text += std::string(rule.id) + "\n    " + std::string(rule.summary) + "\n";
  }
  return text;
}

}  // namespace

ReportCounts CountFindings(const repository::CheckReport& report) {
  ReportCounts counts;
  for (const Finding& finding : report.findings) {
    ++(finding.severity == config::Severity::kError ? counts.errors : counts.warnings);
  }
  return counts;
}

std::string ReportText(const repository::CheckReport& report) {
  std::string text;
  for (const Finding& finding : report.findings) text += FindingText(finding);
  const ReportCounts counts = CountFindings(report);
  return text + Counted(counts.errors, "error") + ", " + Counted(counts.warnings, "warning") +
         " in " + Counted(report.models, "model") + "\n";
}

std::string ReportJson(const repository::CheckReport& report) {
  const ReportCounts counts = CountFindings(report);
  std::string text;
  base::JsonWriter json(&text);
  json.BeginObject().Key("format").Integer(1).Key("models").Integer(report.models);
  json.Key("errors").Integer(counts.errors).Key("warnings").Integer(counts.warnings);
  json.Key("findings").BeginArray();
  for (const Finding& finding : report.findings) WriteFinding(finding, &json.NewLine());
  if (!report.findings.empty()) json.NewLine();
  json.EndArray().EndObject();
  return text + "\n";
}

std::string RulesText(const std::vector<RuleInfo>& rules, std::string_view format) {
  if (format == "json") return RulesJson(rules);
  if (format != "markdown") return RulesPlain(rules);
  // The rules are in the order in which they are applied; each section becomes one table.
  std::vector<RuleInfo> sorted = rules;
  std::vector<std::string_view> sections;
  const auto position = [&](const RuleInfo& rule) {
    const std::string_view own = rule.id.substr(0, rule.id.find('.'));
    const auto found = std::find(sections.begin(), sections.end(), own);
    if (found != sections.end()) return found - sections.begin();
    sections.push_back(own);
    return static_cast<std::ptrdiff_t>(sections.size()) - 1;
  };
  for (const RuleInfo& rule : rules) position(rule);
  std::stable_sort(sorted.begin(), sorted.end(),
                   [&](const RuleInfo& a, const RuleInfo& b) { return position(a) < position(b); });
  return RulesMarkdown(sorted);
}

void WriteMember(std::string_view key, std::string_view value, base::JsonWriter* json) {
  json->Key(key).String(value);
}

void WritePosition(const config::TextPosition& position, base::JsonWriter* json) {
  const bool known = position.line > 0;
  json->Key("line");
  known ? json->Integer(position.line) : json->Null();
  json->Key("column");
  known ? json->Integer(position.column) : json->Null();
}

}  // namespace nereid::app::tools
