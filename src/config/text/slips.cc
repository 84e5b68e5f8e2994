// SPDX-License-Identifier: Apache-2.0
#include "config/text/slips.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cstring>
#include <optional>

#include "config/text/describe_error.h"
#include "config/text/placeholders.h"

namespace nereid::config {
namespace {

constexpr size_t kMaxSlips = 200;

/// A character that programs other than editors of source code write.
struct Lookalike {
  std::string_view bytes;
  char stands_for;  // '"' for quotes, ' ' for blanks
  std::string_view name;
};

constexpr Lookalike kLookalikes[] = {
    {"\xE2\x80\x9C", '"', "the typographic quote “"},
    {"\xE2\x80\x9D", '"', "the typographic quote ”"},
    {"\xE2\x80\x9E", '"', "the typographic quote „"},
    {"\xE2\x80\x9F", '"', "the typographic quote ‟"},
    {"\xE2\x80\x98", '"', "the typographic quote ‘"},
    {"\xE2\x80\x99", '"', "the typographic quote ’"},
    {"\xE2\x80\x9A", '"', "the typographic quote ‚"},
    {"\xE2\x80\xB2", '"', "the prime ′"},
    {"\xE2\x80\xB3", '"', "the double prime ″"},
    {"\xC2\xAB", '"', "the typographic quote «"},
    {"\xC2\xBB", '"', "the typographic quote »"},
    {"\xC2\xB4", '"', "the accent ´"},
    {"\xEF\xBC\x82", '"', "the full-width quote ＂"},
    {"`", '"', "the backtick `"},
    {"\xC2\xA0", ' ', "a no-break space"},
    {"\xE2\x80\x8B", ' ', "a space without width"},
    {"\xE2\x80\xAF", ' ', "a narrow no-break space"},
    {"\xE3\x80\x80", ' ', "a full-width space"},
    {"\xEF\xBB\xBF", ' ', "a byte order mark"},
    {"\xEF\xBC\x9A", ':', "the full-width colon ："},
    {"\xEF\xBC\x8C", ',', "the full-width comma ，"},
    {"\xEF\xBC\x9B", ';', "the full-width semicolon ；"},
};

const Lookalike* LookalikeAt(std::string_view text) {
  const auto first = static_cast<unsigned char>(text.empty() ? 0 : text.front());
  if (first < 0x80 && first != '`') return nullptr;
  for (const Lookalike& lookalike : kLookalikes) {
    if (text.starts_with(lookalike.bytes)) return &lookalike;
  }
  return nullptr;
}

bool IsSpace(char c) { return std::strchr(" \t\r\n\v\f", c) != nullptr && c != '\0'; }
bool IsWordStart(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

/// Reads a text from its beginning to its end, and repairs what it passes.
class Scan {
 public:
  explicit Scan(std::string_view text) : text_(text) { result_.text = text; }

  RepairedText Run() {
    while (at_ < text_.size() && result_.slips.size() < kMaxSlips && !result_.is_lost) Step();
    std::stable_sort(result_.slips.begin(), result_.slips.end(),
                     [](const Slip& a, const Slip& b) { return a.begin < b.begin; });
    return std::move(result_);
  }

 private:
  /// The kind of the last token: what may follow it.
  enum class Last : char { kStart, kOpen, kClose, kColon, kSeparator, kName, kWord, kValue };

  struct Bracket {
    char open;
    bool is_doubled;
    size_t at;
    bool holds_fields = false;  // "input [ name: … ]" lacks braces
  };

  char Now(size_t ahead = 0) const {
    return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\0';
  }
  std::string_view Rest() const { return text_.substr(at_); }
  size_t LineEnd(size_t from) const { return std::min(text_.find('\n', from), text_.size()); }
  bool InList() const {
    return !is_broken_ && !open_.empty() && open_.back().open == '[' && !open_.back().holds_fields;
  }
  /// Whether the next token is a value, not the name of a field.
  bool AtValue() const { return last_ == Last::kColon || InList(); }

  void Step() {
    const char c = Now();
    if (IsSpace(c)) {
      ++at_;
    } else if (c == '#') {
      at_ = LineEnd(at_);
    } else if (const auto size = PlaceholderAt(Rest(), AtValue())) {
      Placeholder(*size);
    } else if (const Lookalike* const lookalike = LookalikeAt(Rest())) {
      Replace(*lookalike);
    } else if (c == '"' || c == '\'') {
      MissingComma();
      String(c);
    } else if (c == '/' && (Now(1) == '/' || Now(1) == '*')) {
      Comment();
    } else if (c == '{' || c == '[' || c == '<') {
      MissingComma();
      Open(c);
    } else if (c == '}' || c == ']' || c == '>') {
      Close(c);
    } else if (c == ',' || c == ';') {
      Separator();
    } else if (c == ':') {
      if (InList()) MissingBraces();
      Take(1, Last::kColon);
    } else {
      MissingComma();
      Word();
    }
  }

  void Take(size_t size, Last last) {
    last_begin_ = at_;
    at_ += size;
    last_end_ = at_;
    last_ = last;
  }

  void Add(std::string_view rule, size_t begin, size_t end, std::string message,
           std::string expected, std::string remedy, bool loses_value = false) {
    result_.slips.push_back({rule, begin, end, std::move(message), std::move(expected),
                             std::move(remedy), loses_value});
  }

  /// Overwrites bytes, except those that positions depend on.
  void Fill(size_t begin, size_t end, char with) {
    for (size_t i = begin; i < end; ++i) {
      char& c = result_.text[i];
      if (c != '\n' && c != '\t') c = with;
    }
  }

  void Placeholder(size_t size) {
    const std::string shown(text_.substr(at_, size));
    const bool is_ellipsis = shown.front() == '.' || shown.starts_with("\xE2\x80\xA6");
    // A placeholder may be a part of a word, and may stand where a field's name is expected.
    const size_t after = text_.find_first_not_of(" \t", at_ + size);
    const bool is_name = after != std::string_view::npos &&
                         std::strchr(":{<", text_[after]) != nullptr && !is_ellipsis;
    const bool is_part =
        (last_ == Last::kWord || last_ == Last::kName) && IsWordStart(text_[at_ - 1]);
    const bool is_message = last_ == Last::kName && Rest().starts_with("{{");
    const bool is_value = AtValue() || is_part || is_message || is_name;
    Add(kPlaceholder, at_, at_ + size,
        is_ellipsis ? "'" + shown + "' stands for a part that an example leaves out"
                    : "the placeholder '" + shown + "' is not filled in",
        is_ellipsis ? "the part itself" : "a value",
        is_ellipsis ? "Write that part, or remove the dots." : PlaceholderRemedy(shown), is_value);
    const bool is_number = is_part && std::isdigit(static_cast<unsigned char>(text_[at_ - 1])) != 0;
    Fill(at_, at_ + size, is_value ? (is_number ? '0' : 'x') : ' ');
    if (is_value) {
      Take(size, is_name ? Last::kName : Last::kWord);
    } else {
      at_ += size;
    }
  }

  void Replace(const Lookalike& lookalike) {
    const size_t size = lookalike.bytes.size();
    const std::string message = std::string(lookalike.name) + " means nothing in this format";
    if (lookalike.stands_for == '"') return TypographicQuotes(size, message);
    const std::string meant = lookalike.stands_for == ' '
                                  ? std::string("a plain space")
                                  : std::string("a plain '") + lookalike.stands_for + "'";
    Add(kSyntax, at_, at_ + size, message, meant, "Write " + meant + " in its place.");
    Fill(at_, at_ + size, ' ');
    if (lookalike.stands_for == ' ') {
      at_ += size;
      return;
    }
    result_.text[at_] = lookalike.stands_for;
    Take(size, lookalike.stands_for == ':' ? Last::kColon : Last::kSeparator);
  }

  /// “text” becomes "text", with blanks around it.
  void TypographicQuotes(size_t size, const std::string& message) {
    MissingComma();
    const size_t begin = at_ + size;
    const size_t line_end = LineEnd(begin);
    for (size_t i = begin; i < line_end; ++i) {
      const Lookalike* const closing = LookalikeAt(text_.substr(i));
      const bool is_closing = text_[i] == '"' || (closing != nullptr && closing->stands_for == '"');
      if (!is_closing) continue;
      const size_t end = i + (closing == nullptr ? 1 : closing->bytes.size());
      QuoteSlip(at_, begin, i, end, message);
      return;
    }
    Add(kSyntax, at_, begin, message, "a text in straight quotes (\")", "Write straight quotes.");
    Fill(at_, begin, ' ');
    at_ = begin;
  }

  /// Restores the text between two quotes, of which at least one is wrong.
  void QuoteSlip(size_t open, size_t begin, size_t end, size_t close, const std::string& message) {
    Add(kSyntax, open, close, message, "a text in straight quotes (\")",
        "Write \"" + std::string(text_.substr(begin, end - begin)) + "\" with straight quotes.");
    Fill(open, begin, ' ');
    Fill(end, close, ' ');
    result_.text[begin - 1] = '"';
    result_.text[end] = '"';
    at_ = open;
    Take(close - open, Last::kValue);
  }

  /// "name": becomes name:.
  bool IsQuotedName(size_t end) {
    const size_t after = text_.find_first_not_of(" \t\r\n", end);
    if (AtValue() || after == std::string_view::npos || text_[after] != ':') return false;
    Add(kSyntax, at_, end, "the name of the field is in quotes", "a name without quotes",
        "Write " + std::string(text_.substr(at_ + 1, end - at_ - 2)) + " without quotes.");
    Fill(at_, at_ + 1, ' ');
    Fill(end - 1, end, ' ');
    return true;
  }

  void String(char quote) {
    const size_t line_end = LineEnd(at_);
    size_t end = at_ + 1;
    for (; end < line_end && text_[end] != quote; ++end) {
      if (text_[end] == '\\' && end + 1 < line_end) ++end;
    }
    if (end < line_end) {
      const bool is_name = IsQuotedName(end + 1);
      return Take(end + 1 - at_, is_name ? Last::kName : Last::kValue);
    }
    // No end on this line: a typographic quote may be meant as one.
    for (size_t i = at_ + 1; i < line_end; ++i) {
      const Lookalike* const closing = LookalikeAt(text_.substr(i));
      if (closing == nullptr || closing->stands_for != '"' || closing->bytes == "`") continue;
      return QuoteSlip(at_, at_ + 1, i, i + closing->bytes.size(),
                       std::string(closing->name) + " means nothing in this format");
    }
    end = std::min(text_.find_first_of(",;}]#", at_), line_end);
    while (IsSpace(text_[end - 1])) --end;
    Add(kSyntax, at_, end, "the text in quotes does not end on its line", "a text in quotes",
        "Close it with " + std::string(1, quote) +
            " on this line; write a line break in it as \\n.",
        true);
    Fill(at_, end, 'x');
    Take(end - at_, Last::kValue);
  }

  void Comment() {
    const bool is_block = Now(1) == '*';
    const size_t close = is_block ? text_.find("*/", at_ + 2) : LineEnd(at_);
    const size_t end = close == std::string_view::npos ? text_.size() : close + (is_block ? 2 : 0);
    Add(kSyntax, at_, end, std::string("'") + (is_block ? "/*" : "//") + "' begins no comment here",
        "a comment that begins with '#'", "Begin each line of the comment with '#'.");
    Fill(at_, end, ' ');
    at_ = end;
  }

  void MissingBraces() {
    Bracket& list = open_.back();
    list.holds_fields = true;
    Add(kSyntax, list.at, list.at + 1, "the list holds fields that are not in braces",
        "elements in braces", "Put the fields of each element in braces: [ { ... } ].");
    result_.text[list.at] = '{';
  }

  void Open(char c) {
    if (c == '{' && last_ == Last::kStart) {
      Add(kSyntax, at_, at_ + 1, "the text begins with a brace, as JSON does",
          "fields in protobuf's text format: name: \"m\"",
          "Remove the outer braces, and the quotes around the names of fields.");
      result_.is_lost = true;
      return;
    }
    // "{{" that is no placeholder: a template of Python's str.format, whose braces are doubled.
    const bool is_doubled = c == '{' && Now(1) == '{';
    if (is_doubled && !has_doubled_) {
      Add(kPlaceholder, at_, at_ + 2, "the braces are doubled, as in a template of Python",
          "single braces", "Fill in the template (str.format), or write single braces.");
    }
    if (is_doubled) Fill(at_ + 1, at_ + 2, ' ');
    has_doubled_ |= is_doubled;
    open_.push_back({c, is_doubled, at_});
    Take(is_doubled ? 2 : 1, Last::kOpen);
  }

  void Close(char c) {
    constexpr std::string_view kOpening = "{[<";
    constexpr std::string_view kClosing = "}]>";
    if (!open_.empty() && kClosing[kOpening.find(open_.back().open)] != c) is_broken_ = true;
    if (is_broken_) return Take(1, Last::kClose);  // the outline tells which bracket is open
    if (open_.empty()) {
      Add(kSyntax, at_, at_ + 1, std::string("no bracket is open that '") + c + "' could close", "",
          std::string("Remove the '") + c + "', or open its bracket.");
      Fill(at_, at_ + 1, ' ');
      ++at_;
      return;
    }
    const bool is_list = c == ']' && InList();
    if (is_list && last_ == Last::kSeparator) StraySeparator(last_begin_);
    const bool is_doubled = open_.back().is_doubled && Rest().starts_with("}}");
    if (is_doubled) Fill(at_ + 1, at_ + 2, ' ');
    if (open_.back().holds_fields) result_.text[at_] = '}';
    open_.pop_back();
    Take(is_doubled ? 2 : 1, Last::kClose);
  }

  /// Writes a symbol behind the last token, in place of a blank beside it. Returns whether there is
  /// one.
  bool PutBehindLast(char symbol) {
    std::string& text = result_.text;
    const size_t blank = std::string_view(text).substr(0, at_).find_first_of(" \r#", last_end_);
    if (blank != std::string::npos && text[blank] != '#') {
      text[blank] = symbol;
      return true;
    }
    if (last_ != Last::kClose || last_end_ < 2 || text[last_end_ - 2] != ' ') return false;
    text[last_end_ - 2] = text[last_end_ - 1];
    text[last_end_ - 1] = symbol;
    return true;
  }

  /// Returns the size of the name here if a field begins with it: "output ["; 0 otherwise.
  size_t FieldHere() const {
    if (!IsWordStart(Now()) || std::isdigit(static_cast<unsigned char>(Now())) != 0) return 0;
    size_t end = at_;
    while (end < text_.size() && IsWordStart(text_[end])) ++end;
    const size_t after = text_.find_first_not_of(" \t\r\n", end);
    const bool is_field =
        after != std::string_view::npos && std::strchr(":{[<", text_[after]) != nullptr;
    return is_field ? end - at_ : 0;
  }

  /// Ends the list before the field that is here.
  void MissingEnd(size_t name) {
    is_broken_ = !PutBehindLast(']');
    if (is_broken_) return;
    const size_t list = open_.back().at;
    const std::string field = "'" + std::string(text_.substr(at_, name)) + "'";
    const auto line = 1 + std::count(text_.begin(), text_.begin() + at_, '\n');
    Add(kSyntax, list, list + 1, "the list does not end before " + field, "a ']'",
        "Write a ']' before " + field + " in line " + std::to_string(line) + ".");
    open_.pop_back();
    last_ = Last::kClose;
  }

  void StraySeparator(size_t at) {
    Add(kSyntax, at, at + 1,
        std::string("there is nothing for the '") + text_[at] + "' to separate", "",
        std::string("Remove the '") + text_[at] + "'.");
    Fill(at, at + 1, ' ');
  }

  void Separator() {
    // Behind a colon, the value is missing, which the outline tells.
    const bool is_stray =
        !is_broken_ && (last_ == Last::kStart || last_ == Last::kOpen || last_ == Last::kSeparator);
    if (is_stray) {
      StraySeparator(at_);
      ++at_;
      return;
    }
    Take(1, Last::kSeparator);
  }

  /// Puts a comma before an element of a list if it is missing and there is room for it.
  void MissingComma() {
    const bool after_value = last_ == Last::kClose || last_ == Last::kWord || last_ == Last::kValue;
    // Texts in quotes that follow each other are one text.
    const bool joins = last_ == Last::kValue && (Now() == '"' || Now() == '\'');
    if (!InList() || !after_value || joins) return;
    if (const size_t name = FieldHere(); name > 0) return MissingEnd(name);
    if (!PutBehindLast(',')) return;
    Add(kSyntax, at_, at_ + 1, "there is no ',' between two elements of the list", "a ','",
        "Write a ',' before this element.");
    last_ = Last::kSeparator;
  }

  /// Passes a name, a number or a symbol that is none of the format.
  void Word() {
    size_t size = 1;
    const auto continues = [&](char c) {
      const char before = text_[at_ + size - 1];
      const bool has_exponent = (before == 'e' || before == 'E') && (c == '-' || c == '+') &&
                                std::isdigit(static_cast<unsigned char>(Now())) != 0;
      return IsWordStart(c) || c == '.' || has_exponent;
    };
    while (at_ + size < text_.size() && continues(text_[at_ + size])) ++size;
    Take(size, AtValue() ? Last::kWord : Last::kName);
  }

  const std::string_view text_;
  RepairedText result_;
  size_t at_ = 0;
  Last last_ = Last::kStart;
  size_t last_begin_ = 0;
  size_t last_end_ = 0;
  std::vector<Bracket> open_;
  bool has_doubled_ = false;
  bool is_broken_ = false;  // brackets do not match, so what follows may be anywhere
};

}  // namespace

RepairedText RepairText(std::string_view text) { return Scan(text).Run(); }

}  // namespace nereid::config
