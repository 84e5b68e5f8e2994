// SPDX-License-Identifier: Apache-2.0
#include "config/complete/completion.h"

namespace nereid::config {

std::vector<CompletionInfo> AllCompletions() {
  std::vector<CompletionInfo> list;
  ListDerivations(&list);
  ListDefaults(&list);
  ListInstanceGroupDefaults(&list);
  return list;
}

}  // namespace nereid::config
