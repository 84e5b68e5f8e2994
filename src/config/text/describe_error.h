// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "config/text/fields.h"
#include "config/text/parser.h"

namespace nereid::config {

/// What an error of protobuf's text parser means for the person who wrote the text.
struct ErrorDescription {
  std::string_view rule;
  std::string message;
  std::string expected;
  std::string remedy;
  /// The known name that is meant, if the error is about an unknown one and one is near.
  std::string nearest;
};

/// `where`: the field that the error is about; null if it is in none.
ErrorDescription DescribeTextError(const std::string& parser_message, const KnownField* where);

/// The place to point at: the name of a field that must not be there, a value that is wrong.
TextPosition ErrorPosition(const ParserError& error, const KnownField& where,
                           const TextLines& lines);

/// The message of the parser with the nearest known name behind it, if it is about an unknown one.
std::string WithSuggestion(const std::string& parser_message, const KnownField* where);

inline constexpr std::string_view kUnknownField = "text.unknown_field";
inline constexpr std::string_view kUnknownValue = "text.enum_value";
inline constexpr std::string_view kGivenTwice = "text.given_twice";
inline constexpr std::string_view kOneChoice = "text.one_choice";
inline constexpr std::string_view kBadValue = "text.value";
inline constexpr std::string_view kSyntax = "text.syntax";
inline constexpr std::string_view kNotUtf8 = "text.utf8";
inline constexpr std::string_view kByteOrderMark = "text.byte_order_mark";
inline constexpr std::string_view kTooLarge = "text.size";

}  // namespace nereid::config
