// SPDX-License-Identifier: Apache-2.0
// The common parts of the test programs in this folder: checks that end the program, a model
// repository in a temporary folder, a server in the process, and requests whose callbacks are
// counted.
#ifndef NEREID_TESTS_CAPI_IN_PROCESS_H_
#define NEREID_TESTS_CAPI_IN_PROCESS_H_

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "triton/core/tritonserver.h"

#ifdef __cplusplus
extern "C" {
#endif

#define CHECK(condition)                                                      \
  do {                                                                        \
    if (!(condition)) {                                                       \
      fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #condition); \
      exit(1);                                                                \
    }                                                                         \
  } while (0)

/* Checks that the call succeeds. */
#define OK(call)                                                    \
  do {                                                              \
    TRITONSERVER_Error* error_ = (call);                            \
    if (error_ != NULL) {                                           \
      fprintf(stderr, "%s:%d: %s: %s\n", __FILE__, __LINE__, #call, \
              TRITONSERVER_ErrorMessage(error_));                   \
      exit(1);                                                      \
    }                                                               \
  } while (0)

/* Checks that the call fails with that code and a message that contains `part`. */
#define FAILS(call, code, part) ExpectError((call), (code), (part), __FILE__, __LINE__)

void ExpectError(TRITONSERVER_Error* error, TRITONSERVER_Error_Code code, const char* part,
                 const char* file, int line);

// ---- The model repository -----------------------------------------------------------------------

/* Makes an empty repository, which is removed when the program ends. */
void MakeRepository(void);
/* Returns its path. */
const char* RepositoryPath(void);
/* Makes another empty folder in the same temporary folder. The result is valid until the next call.
 */
const char* MakeFolder(const char* name);
/* Writes a file of the repository; `path` is relative to it. */
void WriteFile(const char* path, const char* text);
/* A model of the identity backend: INPUT0 to OUTPUT0, FP32 [-1], max_batch_size 8. `more` is added
   to its configuration. A model named "folder/name" goes to another folder of MakeFolder. */
void MakeModel(const char* model, const char* more);
/* Makes a model whose whole configuration is `config`. */
void MakeModelOf(const char* model, const char* config);
/* Links DIRECTORY/libtriton_BACKEND.so into the model's folder, which the server searches first. */
void LinkBackend(const char* model, const char* directory, const char* backend);
/* Links DIRECTORY/FILE into the model's folder under another name. */
void LinkPlugin(const char* model, const char* name, const char* directory, const char* file);

// ---- The server ---------------------------------------------------------------------------------

/* Returns options of a server for the repository, in mode EXPLICIT; the caller deletes them. */
TRITONSERVER_ServerOptions* NewOptions(const char* backend_directory);
/* Starts a server with these options and deletes them. */
TRITONSERVER_Server* StartServer(TRITONSERVER_ServerOptions* options);
/* Checks that the message contains `part`, and deletes it. */
void CheckMessage(TRITONSERVER_Message* message, const char* part);
/* Checks that the metrics page contains `part`. */
void CheckMetrics(TRITONSERVER_Server* server, const char* part);

// ---- One request and what came of it ------------------------------------------------------------

typedef struct Call {
  pthread_mutex_t mutex;
  pthread_cond_t changed;
  TRITONSERVER_InferenceRequest* request;
  TRITONSERVER_InferenceResponse* response; /* the last one */
  int finals;
  int responses;
  int releases;
  int allocations;
  int buffer_releases;
} Call;

/* Returns an allocator for Calls: buffers from malloc, which are counted. */
TRITONSERVER_ResponseAllocator* NewAllocator(void);
/* Makes a request to `model` without inputs. */
void InitCall(Call* call, TRITONSERVER_Server* server, const char* model,
              TRITONSERVER_ResponseAllocator* allocator);
/* Sets its only input, of shape [batch, count / batch]; the floats are not copied. */
void SetInput(Call* call, const float* data, int64_t batch, int64_t count);
/* Waits for the final response and the release of all submitted requests, with one response each.
 */
void Await(Call* call, int submissions);
/* Submits the request and waits; the response is in call->response. */
void Infer(TRITONSERVER_Server* server, Call* call, int submissions);
/* Checks that the response contains these floats, and deletes it. */
void CheckAnswer(Call* call, const char* model, const float* data, int64_t batch, int64_t count);
/* Checks that the response is this error, and deletes it. */
void CheckFailure(Call* call, TRITONSERVER_Error_Code code, const char* part);
void DeleteCall(Call* call);

#ifdef __cplusplus
}  // extern "C"
#endif

#endif  // NEREID_TESTS_CAPI_IN_PROCESS_H_
