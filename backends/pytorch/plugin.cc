// SPDX-License-Identifier: Apache-2.0
// Defines the entry points of the backend.
#include "nereid/backend/plugin.h"

#include "pytorch/environment.h"
#include "pytorch/model.h"

NEREID_BACKEND_PLUGIN(nereid::pytorch::Environment, nereid::pytorch::TorchModel,
                      nereid::pytorch::TorchInstance);
NEREID_BACKEND_READINESS;
NEREID_BACKEND_CPU_THREADS;
