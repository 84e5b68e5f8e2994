// SPDX-License-Identifier: Apache-2.0
// Defines the entry points of the backend.
#include "nereid/backend/plugin.h"

#include "identity/identity_model.h"

NEREID_BACKEND_PLUGIN(nereid::identity::IdentityBackend, nereid::identity::IdentityModel,
                      nereid::identity::IdentityInstance);
