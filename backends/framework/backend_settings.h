// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "nereid/backend/model_config.h"

namespace nereid::framework {

/// The state of a backend whose models share nothing but its settings.
struct BackendSettings {
  backend::Error Load(TRITONBACKEND_Backend* backend) {
    return backend::ReadBackendConfig(backend, &settings);
  }

  backend::Parameters settings;
};

}  // namespace nereid::framework
