// SPDX-License-Identifier: Apache-2.0
// Defines the entry points of the backend.
#include "nereid/backend/plugin.h"

#include "bound/bound_model.h"

NEREID_BACKEND_PLUGIN(nereid::backend::NoBackendState, nereid::bound::BoundModel,
                      nereid::bound::BoundInstance);
