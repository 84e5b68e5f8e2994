/* SPDX-License-Identifier: Apache-2.0 */
/* A backend that takes every configuration and runs nothing: a model that it serves has whatever
 * configuration the server makes of its files, on any machine, whatever backend it names. It needs
 * no function of the server, so it loads in any. */
#include "triton/core/tritonbackend.h"

__attribute__((visibility("default"))) TRITONSERVER_Error* TRITONBACKEND_ModelInstanceExecute(
    TRITONBACKEND_ModelInstance* instance, TRITONBACKEND_Request** requests,
    const uint32_t request_count) {
  (void)instance;
  (void)requests;
  (void)request_count;
  return NULL; /* Never asked: the tests send no requests. */
}
