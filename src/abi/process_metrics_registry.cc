// SPDX-License-Identifier: Apache-2.0
#include "abi/process_metrics_registry.h"

namespace nereid::abi {

const std::shared_ptr<telemetry::Registry>& ProcessRegistry() {
  // Never destroyed: static objects of a plug-in may delete their metrics when the process ends.
  static const auto* const registry =
      new std::shared_ptr<telemetry::Registry>(std::make_shared<telemetry::Registry>());
  return *registry;
}

}  // namespace nereid::abi
