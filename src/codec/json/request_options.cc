// SPDX-License-Identifier: Apache-2.0
#include "codec/json/request_options.h"

#include <algorithm>

namespace nereid::codec::json {

bool OutputOptions::IsBinary(std::string_view output) const {
  for (const Choice& choice : choices_) {
    if (choice.output == output) return choice.binary;
  }
  return all_binary_;
}

void OutputOptions::Clear() {
  choices_.clear();
  choice_names_.Clear();
  classifications_.clear();
  classification_names_.Clear();
  all_binary_ = false;
}

void OutputOptions::SetBinary(std::string_view output, bool binary) {
  const auto name_of = [](const Choice& choice) -> std::string_view { return choice.output; };
  if (const auto place = choice_names_.Find(choices_, output, name_of)) {
    choices_[*place].binary = binary;
    return;
  }
  choices_.push_back({std::string(output), binary});
}

void OutputOptions::SetClassification(std::string_view output, uint64_t count) {
  const auto name_of = [](const request::RequestedClasses& wish) -> std::string_view {
    return wish.output;
  };
  if (const auto place = classification_names_.Find(classifications_, output, name_of)) {
    classifications_[*place].count = count;
    return;
  }
  if (count != 0) classifications_.push_back({std::string(output), count});
}

}  // namespace nereid::codec::json
