// SPDX-License-Identifier: Apache-2.0
// Empty entry points: the kit's own tests call its parts, not a plug-in.
#include "triton/core/tritonbackend.h"

extern "C" {
TRITONSERVER_Error* TRITONBACKEND_Initialize(TRITONBACKEND_Backend*) { return nullptr; }
TRITONSERVER_Error* TRITONBACKEND_ModelInitialize(TRITONBACKEND_Model*) { return nullptr; }
TRITONSERVER_Error* TRITONBACKEND_ModelFinalize(TRITONBACKEND_Model*) { return nullptr; }
TRITONSERVER_Error* TRITONBACKEND_ModelInstanceInitialize(TRITONBACKEND_ModelInstance*) {
  return nullptr;
}
TRITONSERVER_Error* TRITONBACKEND_ModelInstanceFinalize(TRITONBACKEND_ModelInstance*) {
  return nullptr;
}
TRITONSERVER_Error* TRITONBACKEND_ModelInstanceExecute(TRITONBACKEND_ModelInstance*,
                                                       TRITONBACKEND_Request**, uint32_t) {
  return nullptr;
}
}  // extern "C"
