// SPDX-License-Identifier: Apache-2.0
// Defines the entry points of the backend.
#include "nereid/backend/plugin.h"

#include "custom/instance.h"
#include "custom/model.h"

NEREID_BACKEND_PLUGIN(nereid::backend::NoBackendState, nereid::custom::CustomModel,
                      nereid::custom::CustomInstance);
