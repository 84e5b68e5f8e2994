// SPDX-License-Identifier: Apache-2.0
#include "abi/process_metrics_registry.h"

namespace nereid::abi {

const std::shared_ptr<telemetry::Registry>& ProcessRegistry() {
  // Never destroyed: a plug-in's own static objects may delete their metrics at the very end.
  static const auto* const registry =
      new std::shared_ptr<telemetry::Registry>(std::make_shared<telemetry::Registry>());
  return *registry;
}

}  // namespace nereid::abi
