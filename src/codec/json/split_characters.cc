// SPDX-License-Identifier: Apache-2.0
#include "codec/json/split_characters.h"

#include "base/utf8.h"

namespace nereid::codec::json {

void SplitCharacters::Append(std::string_view output, size_t element, std::string_view text,
                             TextBuffer* json) {
  std::string joined;
  if (!waiting_.empty()) {
    if (auto node = waiting_.extract(std::pair(std::string(output), element)); !node.empty()) {
      joined = std::move(node.mapped()).append(text);
      text = joined;
    }
  }
  const size_t incomplete = is_last_ ? 0 : base::IncompleteUtf8Suffix(text);
  const size_t complete = text.size() - incomplete;
  json->AppendQuoted(text.substr(0, complete));
  if (incomplete != 0) {
    waiting_.insert_or_assign({std::string(output), element}, std::string(text.substr(complete)));
  }
}

}  // namespace nereid::codec::json
