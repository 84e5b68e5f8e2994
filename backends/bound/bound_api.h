/* SPDX-License-Identifier: Apache-2.0 */
#ifndef NEREID_BACKENDS_BOUND_BOUND_API_H_
#define NEREID_BACKENDS_BOUND_BOUND_API_H_

/* The interface of the backend `bound` to the program whose functions it serves. The program opens
 * the same library as the engine (dlopen of one file gives one library) and gets the functions with
 * NEREID_BoundApi. They may be called from any thread. */

#include <stdbool.h>
#include <stdint.h>

#include "triton/core/tritonbackend.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Where the batches of a model wait for the program. */
struct NEREID_BoundQueue;
/* Requests that the engine executes together. Its instance waits until the batch is finished. */
struct NEREID_BoundBatch;

#define NEREID_BOUND_VERSION 1

typedef struct NEREID_BoundFunctions {
  uint32_t version;
  /* Makes a queue for version V of the models whose parameter `bound_token` is T; `token` is "T/V".
   * Models whose token has no queue cannot be loaded. Returns NULL if the token has a queue, or
   * without memory. */
  struct NEREID_BoundQueue* (*open)(const char* token);
  /* Ends a queue: batches that wait, and later ones, fail with UNAVAILABLE, and take() returns NULL
   * at once. The batches that were taken must still be finished. */
  void (*close)(struct NEREID_BoundQueue* queue);
  /* Frees a queue that is closed and that no thread uses. */
  void (*free)(struct NEREID_BoundQueue* queue);
  /* Waits for a batch, for `timeout_ms` at most. NULL: none has come, or the queue is closed. The
   * caller must finish the batch. */
  struct NEREID_BoundBatch* (*take)(struct NEREID_BoundQueue* queue, uint32_t timeout_ms);
  uint32_t (*count)(const struct NEREID_BoundBatch* batch);
  /* Returns a request, which is valid until the batch is finished. The caller answers it through
   * the engine's functions for backends, with a final response. */
  TRITONBACKEND_Request* (*request)(const struct NEREID_BoundBatch* batch, uint32_t index);
  /* Ends the execution. `succeeded` has an entry for each request, for the statistics. */
  void (*finish)(struct NEREID_BoundBatch* batch, const bool* succeeded);
} NEREID_BoundFunctions;

/* Returns the functions. */
const NEREID_BoundFunctions* NEREID_BoundApi(void);

#ifdef __cplusplus
}
#endif

#endif /* NEREID_BACKENDS_BOUND_BOUND_API_H_ */
