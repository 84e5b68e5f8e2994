/* SPDX-License-Identifier: Apache-2.0 */
/* A backend that accepts every configuration and executes nothing. A model that it serves has the
 * configuration that the server makes from its files, on any machine, whatever backend the
 * configuration names. It needs no function of the server, so any server can load it. */
#include "triton/core/tritonbackend.h"

__attribute__((visibility("default"))) TRITONSERVER_Error* TRITONBACKEND_ModelInstanceExecute(
    TRITONBACKEND_ModelInstance* instance, TRITONBACKEND_Request** requests,
    const uint32_t request_count) {
  (void)instance;
  (void)requests;
  (void)request_count;
  return NULL; /* Never asked: the tests send no requests. */
}
