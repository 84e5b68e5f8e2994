// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "config/text/fields.h"
#include "config/text/parser.h"

namespace nereid::config {

/// An error of protobuf's text parser, in words for the author of the text.
struct ErrorDescription {
  std::string_view rule;
  std::string message;
  std::string expected;
  std::string remedy;
  /// A sentence for the end of the parser's message, behind a blank: which name was probably meant.
  /// Empty if there is none.
  std::string hint;
};

/// Describes an error. `where` is the field that the error is about, or null.
ErrorDescription DescribeTextError(const std::string& parser_message, const KnownField* where);

/// Returns the position to show: the name of a field that must not be there, or the wrong value.
TextPosition ErrorPosition(const ParserError& error, const KnownField& where,
                           const TextLines& lines);

/// Returns which values a field takes, in a few words; empty for an unknown field.
std::string ExpectedValueOf(const KnownField& where);

/// Describes a field whose value is missing.
ErrorDescription DescribeMissingValue(const KnownField& where);

/// Returns the parser's message and, if it is about an unknown name, which one was meant.
std::string WithSuggestion(const std::string& parser_message, const KnownField* where);

inline constexpr std::string_view kUnknownField = "text.unknown_field";
inline constexpr std::string_view kUnknownValue = "text.enum_value";
inline constexpr std::string_view kGivenTwice = "text.given_twice";
inline constexpr std::string_view kOneChoice = "text.one_choice";
inline constexpr std::string_view kBadValue = "text.value";
inline constexpr std::string_view kSyntax = "text.syntax";
inline constexpr std::string_view kPlaceholder = "text.placeholder";
inline constexpr std::string_view kNotUtf8 = "text.utf8";
inline constexpr std::string_view kByteOrderMark = "text.byte_order_mark";
inline constexpr std::string_view kTooLarge = "text.size";

}  // namespace nereid::config
