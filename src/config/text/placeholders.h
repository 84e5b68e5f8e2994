// SPDX-License-Identifier: Apache-2.0
// Placeholders of templates: ${name} of shells and of Python's string.Template, {{ name }} of
// Jinja, Go and Helm, {name} and %(name)s of Python, <name> of documents, @NAME@ of CMake, and
// others.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace nereid::config {

/// Returns the size of the placeholder with which `text` begins; nothing if it begins with none.
/// `text` is a configuration from some place outside of quotes on. `at_value` tells whether a value
/// is expected there: braces and angle brackets then begin no message if they hold only words.
std::optional<size_t> PlaceholderAt(std::string_view text, bool at_value);

/// Returns the first placeholder in a text that was in quotes; empty if there is none.
/// `may_be_template`: the text may be a template on purpose, as parameters of models are (the
/// template of a chat). Then "{{ name }}" counts only if it is the whole text.
std::string PlaceholderIn(std::string_view text, bool may_be_template);

/// Returns what to do about a placeholder.
std::string PlaceholderRemedy(std::string_view placeholder);

}  // namespace nereid::config
