// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace nereid::console {

/// A file of the console's page, which the build puts into the program.
struct PageFile {
  std::string_view name;  // the last part of its path
  std::string_view content_type;
  std::string_view bytes;
};

/// Returns all files.
std::span<const PageFile> AllPageFiles();

/// Returns the file of this name; null if there is none.
const PageFile* FindPageFile(std::string_view name);

/// Returns a strong entity tag of the bytes (RFC 9110, section 8.8.3), with its quotes.
std::string EntityTag(std::string_view bytes);

/// Returns whether a field If-None-Match names the tag, so that the client has the bytes already.
bool HasEntityTag(std::string_view if_none_match, std::string_view tag);

/// Returns what every reply of the console's port says to browsers, as whole lines: the page loads
/// and runs nothing but its own files, text never becomes markup, no other page may embed it, and
/// nothing tells other servers about it.
std::string_view BrowserRules();

}  // namespace nereid::console
