// SPDX-License-Identifier: Apache-2.0
// The form of a completion: one row in a table, in the order in which the rows are applied. The
// sections are derive.cc, defaults.cc and instance_groups.cc.
#pragma once

#include <vector>

#include "config/complete/completion_info.h"
#include "model_config.pb.h"

namespace nereid::config {

/// A completion. `Subject` contains the message to complete and the inputs of its section.
template <typename Subject>
struct Completion {
  CompletionInfo info;
  /// Sets the field if it is not set. Null if another folder applies the rule.
  void (*apply)(const Subject&);
};

/// Applies the completions in order.
template <typename Subject, size_t kCount>
void Apply(const Completion<Subject> (&completions)[kCount], const Subject& subject) {
  for (const Completion<Subject>& completion : completions) {
    if (completion.apply != nullptr) completion.apply(subject);
  }
}

/// Appends the descriptions of the completions to `list`.
template <typename Subject, size_t kCount>
void List(const Completion<Subject> (&completions)[kCount], std::vector<CompletionInfo>* list) {
  for (const Completion<Subject>& completion : completions) list->push_back(completion.info);
}

/// Append the descriptions of one section.
void ListDerivations(std::vector<CompletionInfo>* list);
void ListDefaults(std::vector<CompletionInfo>* list);
void ListInstanceGroupDefaults(std::vector<CompletionInfo>* list);

}  // namespace nereid::config
