// SPDX-License-Identifier: Apache-2.0
// A plain C program that holds a server in its own process: loads a model, asks it, stops.
//
//   capi_infer_test BACKEND_DIRECTORY
#define _POSIX_C_SOURCE 200809L

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "triton/core/tritonserver.h"

#define CHECK(condition)                                                      \
  do {                                                                        \
    if (!(condition)) {                                                       \
      fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #condition); \
      exit(1);                                                                \
    }                                                                         \
  } while (0)

/* The call succeeds. */
#define OK(call)                                                    \
  do {                                                              \
    TRITONSERVER_Error* error_ = (call);                            \
    if (error_ != NULL) {                                           \
      fprintf(stderr, "%s:%d: %s: %s\n", __FILE__, __LINE__, #call, \
              TRITONSERVER_ErrorMessage(error_));                   \
      exit(1);                                                      \
    }                                                               \
  } while (0)

/* The call fails with that code, and its message contains `part`. */
#define FAILS(call, code, part) ExpectError((call), (code), (part), __LINE__)

static void ExpectError(TRITONSERVER_Error* error, TRITONSERVER_Error_Code code, const char* part,
                        int line) {
  if (error == NULL) {
    fprintf(stderr, "line %d: expected an error\n", line);
    exit(1);
  }
  if (TRITONSERVER_ErrorCode(error) != code ||
      strstr(TRITONSERVER_ErrorMessage(error), part) == NULL) {
    fprintf(stderr, "line %d: expected code %d and '%s', got %d: %s\n", line, (int)code, part,
            (int)TRITONSERVER_ErrorCode(error), TRITONSERVER_ErrorMessage(error));
    exit(1);
  }
  TRITONSERVER_ErrorDelete(error);
}

// ---- The model repository -----------------------------------------------------------------------

static char repository[] = "/tmp/nereid_capi_XXXXXX";

static void WriteFile(const char* model, const char* name, const char* text, const char* more) {
  char path[128];
  snprintf(path, sizeof(path), "%s/%s/%s", repository, model, name);
  FILE* file = fopen(path, "w");
  CHECK(file != NULL);
  CHECK(fputs(text, file) >= 0 && fputs(more, file) >= 0);
  CHECK(fclose(file) == 0);
}

static void MakeModel(const char* model, const char* more) {
  static const char config[] =
      "backend: \"identity\"\n"
      "max_batch_size: 8\n"
      "input [ { name: \"INPUT0\" data_type: TYPE_FP32 dims: [ -1 ] } ]\n"
      "output [ { name: \"OUTPUT0\" data_type: TYPE_FP32 dims: [ -1 ]\n"
      "           label_filename: \"labels.txt\" } ]\n";
  char path[128];
  snprintf(path, sizeof(path), "%s/%s", repository, model);
  CHECK(mkdir(path, 0755) == 0);
  snprintf(path, sizeof(path), "%s/%s/1", repository, model);
  CHECK(mkdir(path, 0755) == 0);
  WriteFile(model, "config.pbtxt", config, more);
  WriteFile(model, "labels.txt", "cat\n\ndog\n", "");
}

static void MakeRepository(void) {
  CHECK(mkdtemp(repository) != NULL);
  MakeModel("copy", "");
  MakeModel("slow",
            "instance_group { kind: KIND_CPU count: 1 }\n"
            "parameters { key: \"execute_delay_ms\" value: { string_value: \"60000\" } }\n");
}

static void RemoveRepository(void) {
  static const char* const parts[] = {
      "copy/config.pbtxt", "copy/labels.txt", "copy/1", "copy", "slow/config.pbtxt",
      "slow/labels.txt",   "slow/1",          "slow",   "."};
  char path[128];
  for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); ++i) {
    snprintf(path, sizeof(path), "%s/%s", repository, parts[i]);
    if (unlink(path) != 0) rmdir(path);
  }
  rmdir(repository);
}

// ---- One request and what came of it ------------------------------------------------------------

typedef struct Call {
  pthread_mutex_t mutex;
  pthread_cond_t changed;
  TRITONSERVER_InferenceRequest* request;
  TRITONSERVER_InferenceResponse* response;
  int finals;
  int responses;
  int releases;
  int allocations;
  int buffer_releases;
} Call;

static TRITONSERVER_Error* Allocate(TRITONSERVER_ResponseAllocator* allocator,
                                    const char* tensor_name, size_t byte_size,
                                    TRITONSERVER_MemoryType memory_type, int64_t memory_type_id,
                                    void* userp, void** buffer, void** buffer_userp,
                                    TRITONSERVER_MemoryType* actual_memory_type,
                                    int64_t* actual_memory_type_id) {
  (void)allocator;
  (void)memory_type;
  (void)memory_type_id;
  Call* call = userp;
  CHECK(strcmp(tensor_name, "OUTPUT0") == 0);
  pthread_mutex_lock(&call->mutex);
  ++call->allocations;
  pthread_mutex_unlock(&call->mutex);
  *buffer = malloc(byte_size + 1);
  *buffer_userp = call;
  *actual_memory_type = TRITONSERVER_MEMORY_CPU;
  *actual_memory_type_id = 0;
  return NULL;
}

static TRITONSERVER_Error* ReleaseBuffer(TRITONSERVER_ResponseAllocator* allocator, void* buffer,
                                         void* buffer_userp, size_t byte_size,
                                         TRITONSERVER_MemoryType memory_type,
                                         int64_t memory_type_id) {
  (void)allocator;
  (void)byte_size;
  (void)memory_type;
  (void)memory_type_id;
  Call* call = buffer_userp;
  pthread_mutex_lock(&call->mutex);
  ++call->buffer_releases;
  pthread_mutex_unlock(&call->mutex);
  free(buffer);
  return NULL;
}

static void OnRelease(TRITONSERVER_InferenceRequest* request, uint32_t flags, void* userp) {
  Call* call = userp;
  CHECK(request == call->request);
  CHECK(flags == TRITONSERVER_REQUEST_RELEASE_ALL);
  pthread_mutex_lock(&call->mutex);
  ++call->releases;
  pthread_cond_signal(&call->changed);
  pthread_mutex_unlock(&call->mutex);
}

static void OnResponse(TRITONSERVER_InferenceResponse* response, uint32_t flags, void* userp) {
  Call* call = userp;
  pthread_mutex_lock(&call->mutex);
  if (response != NULL) {
    ++call->responses;
    call->response = response;
  }
  if ((flags & TRITONSERVER_RESPONSE_COMPLETE_FINAL) != 0) ++call->finals;
  pthread_cond_signal(&call->changed);
  pthread_mutex_unlock(&call->mutex);
}

static void InitCallOf(const char* model, Call* call, TRITONSERVER_Server* server,
                       TRITONSERVER_ResponseAllocator* allocator) {
  memset(call, 0, sizeof(*call));
  pthread_mutex_init(&call->mutex, NULL);
  pthread_cond_init(&call->changed, NULL);
  OK(TRITONSERVER_InferenceRequestNew(&call->request, server, model, -1));
  OK(TRITONSERVER_InferenceRequestSetReleaseCallback(call->request, OnRelease, call));
  OK(TRITONSERVER_InferenceRequestSetResponseCallback(call->request, allocator, call, OnResponse,
                                                      call));
}

static void InitCall(Call* call, TRITONSERVER_Server* server,
                     TRITONSERVER_ResponseAllocator* allocator) {
  InitCallOf("copy", call, server, allocator);
}

/* An input of shape [batch, count / batch]; the floats are not copied. */
static void SetInput(Call* call, const float* data, int64_t batch, int64_t count) {
  const int64_t shape[2] = {batch, count / batch};
  OK(TRITONSERVER_InferenceRequestRemoveAllInputs(call->request));
  OK(TRITONSERVER_InferenceRequestAddInput(call->request, "INPUT0", TRITONSERVER_TYPE_FP32, shape,
                                           2));
  OK(TRITONSERVER_InferenceRequestAppendInputData(
      call->request, "INPUT0", data, (size_t)count * sizeof(float), TRITONSERVER_MEMORY_CPU, 0));
}

/* Waits for the final response and the release of everything submitted so far. */
static void Await(Call* call, int submissions) {
  pthread_mutex_lock(&call->mutex);
  while (call->finals < submissions || call->releases < submissions) {
    pthread_cond_wait(&call->changed, &call->mutex);
  }
  pthread_mutex_unlock(&call->mutex);
  CHECK(call->finals == submissions);
  CHECK(call->releases == submissions);
  CHECK(call->responses == submissions);
}

/* The response carries these floats; it is deleted. */
static void CheckAnswer(Call* call, const float* data, int64_t batch, int64_t count) {
  TRITONSERVER_InferenceResponse* response = call->response;
  TRITONSERVER_Error* error = TRITONSERVER_InferenceResponseError(response);
  if (error != NULL) fprintf(stderr, "%s\n", TRITONSERVER_ErrorMessage(error));
  CHECK(error == NULL);
  const char* name = NULL;
  int64_t version = 0;
  OK(TRITONSERVER_InferenceResponseModel(response, &name, &version));
  CHECK(strcmp(name, "copy") == 0);
  CHECK(version == 1);
  uint32_t outputs = 0;
  OK(TRITONSERVER_InferenceResponseOutputCount(response, &outputs));
  CHECK(outputs == 1);

  TRITONSERVER_DataType datatype;
  const int64_t* shape = NULL;
  uint64_t dim_count = 0;
  const void* base = NULL;
  size_t byte_size = 0;
  TRITONSERVER_MemoryType memory_type;
  int64_t memory_type_id = 0;
  void* userp = NULL;
  OK(TRITONSERVER_InferenceResponseOutput(response, 0, &name, &datatype, &shape, &dim_count, &base,
                                          &byte_size, &memory_type, &memory_type_id, &userp));
  CHECK(strcmp(name, "OUTPUT0") == 0);
  CHECK(datatype == TRITONSERVER_TYPE_FP32);
  CHECK(dim_count == 2 && shape[0] == batch && shape[1] == count / batch);
  CHECK(byte_size == (size_t)count * sizeof(float));
  CHECK(memory_type == TRITONSERVER_MEMORY_CPU);
  CHECK(userp == call);
  CHECK(memcmp(base, data, byte_size) == 0);
  OK(TRITONSERVER_InferenceResponseDelete(response));
  CHECK(call->allocations == call->buffer_releases);
}

static void DeleteCall(Call* call) {
  OK(TRITONSERVER_InferenceRequestDelete(call->request));
  pthread_cond_destroy(&call->changed);
  pthread_mutex_destroy(&call->mutex);
}

// ---- The parts of the test ----------------------------------------------------------------------

/* The message contains `part`; it is deleted. */
static void CheckMessage(TRITONSERVER_Message* message, const char* part) {
  const char* base = NULL;
  size_t size = 0;
  OK(TRITONSERVER_MessageSerializeToJson(message, &base, &size));
  char* text = malloc(size + 1);
  memcpy(text, base, size);
  text[size] = '\0';
  if (strstr(text, part) == NULL) {
    fprintf(stderr, "'%s' is not in %s\n", part, text);
    exit(1);
  }
  free(text);
  OK(TRITONSERVER_MessageDelete(message));
}

static TRITONSERVER_Server* StartServer(const char* backend_directory) {
  TRITONSERVER_ServerOptions* options = NULL;
  TRITONSERVER_Server* server = NULL;
  OK(TRITONSERVER_ServerOptionsNew(&options));
  OK(TRITONSERVER_ServerOptionsSetServerId(options, "in_process"));
  OK(TRITONSERVER_ServerOptionsSetModelRepositoryPath(options, repository));
  OK(TRITONSERVER_ServerOptionsSetModelControlMode(options, TRITONSERVER_MODEL_CONTROL_EXPLICIT));
  OK(TRITONSERVER_ServerOptionsSetBackendDirectory(options, backend_directory));
  OK(TRITONSERVER_ServerOptionsSetStrictModelConfig(options, false));
  OK(TRITONSERVER_ServerOptionsSetExitTimeout(options, 20));
  OK(TRITONSERVER_ServerNew(&server, options));
  OK(TRITONSERVER_ServerOptionsDelete(options));
  return server;
}

static void TestVersion(void) {
  uint32_t major = 0, minor = 0;
  OK(TRITONSERVER_ApiVersion(&major, &minor));
  CHECK(major == TRITONSERVER_API_VERSION_MAJOR);
  CHECK(minor >= TRITONSERVER_API_VERSION_MINOR);
}

static void TestModel(TRITONSERVER_Server* server) {
  bool yes = false;
  uint32_t flags = 0;
  void* more = NULL;
  TRITONSERVER_Message* message = NULL;
  TRITONSERVER_InferenceRequest* request = NULL;

  OK(TRITONSERVER_ServerIsLive(server, &yes));
  CHECK(yes);
  OK(TRITONSERVER_ServerMetadata(server, &message));
  CheckMessage(message, "\"name\":\"in_process\"");

  FAILS(TRITONSERVER_InferenceRequestNew(&request, server, "copy", -1),
        TRITONSERVER_ERROR_NOT_FOUND, "unknown model");
  CHECK(request == NULL);
  FAILS(TRITONSERVER_ServerLoadModel(server, NULL), TRITONSERVER_ERROR_INVALID_ARG, "model_name");
  FAILS(TRITONSERVER_ServerLoadModel(server, "absent"), TRITONSERVER_ERROR_INTERNAL, "absent");

  OK(TRITONSERVER_ServerLoadModel(server, "copy"));
  OK(TRITONSERVER_ServerIsReady(server, &yes));
  CHECK(yes);
  OK(TRITONSERVER_ServerModelIsReady(server, "copy", 1, &yes));
  CHECK(yes);
  OK(TRITONSERVER_ServerModelBatchProperties(server, "copy", -1, &flags, &more));
  CHECK(flags == TRITONSERVER_BATCH_FIRST_DIM);
  OK(TRITONSERVER_ServerModelTransactionProperties(server, "copy", -1, &flags, &more));
  CHECK(flags == TRITONSERVER_TXN_ONE_TO_ONE);
  OK(TRITONSERVER_ServerModelMetadata(server, "copy", -1, &message));
  CheckMessage(message, "{\"name\":\"INPUT0\",\"datatype\":\"FP32\",\"shape\":[-1,-1]}");
  OK(TRITONSERVER_ServerModelConfig(server, "copy", -1, 1, &message));
  CheckMessage(message, "\"max_batch_size\":8");
  OK(TRITONSERVER_ServerModelIndex(server, TRITONSERVER_INDEX_FLAG_READY, &message));
  CheckMessage(message, "\"READY\"");
  FAILS(TRITONSERVER_ServerModelStatistics(server, "absent", -1, &message),
        TRITONSERVER_ERROR_INVALID_ARG, "absent");
}

static void CheckLabel(TRITONSERVER_InferenceResponse* response, size_t class_index,
                       const char* expected) {
  const char* label = "unset";
  OK(TRITONSERVER_InferenceResponseOutputClassificationLabel(response, 0, class_index, &label));
  if (expected == NULL) {
    CHECK(label == NULL);
  } else {
    CHECK(label != NULL && strcmp(label, expected) == 0);
  }
}

/* One request that is being executed for a minute and one that waits behind it: both end now. */
static void TestCancel(TRITONSERVER_Server* server, TRITONSERVER_ResponseAllocator* allocator) {
  static const float data[2] = {1.0f, 2.0f};
  Call calls[2];
  OK(TRITONSERVER_ServerLoadModel(server, "slow"));
  for (int i = 0; i < 2; ++i) {
    InitCallOf("slow", &calls[i], server, allocator);
    SetInput(&calls[i], data, 1, 2);
    OK(TRITONSERVER_ServerInferAsync(server, calls[i].request, NULL));
  }
  for (int i = 1; i >= 0; --i) {
    OK(TRITONSERVER_InferenceRequestCancel(calls[i].request));
    Await(&calls[i], 1);
    TRITONSERVER_Error* error = TRITONSERVER_InferenceResponseError(calls[i].response);
    CHECK(error != NULL);
    CHECK(TRITONSERVER_ErrorCode(error) == TRITONSERVER_ERROR_CANCELLED);
    OK(TRITONSERVER_InferenceResponseDelete(calls[i].response));
    DeleteCall(&calls[i]);
  }
  OK(TRITONSERVER_ServerUnloadModel(server, "slow"));
}

/* One request, used five times. */
static void TestRequest(TRITONSERVER_Server* server, TRITONSERVER_ResponseAllocator* allocator) {
  static const float first[6] = {0.5f, -1.0f, 2.25f, 3.0f, 4.0f, -5.5f};
  static const float second[3] = {7.0f, 8.0f, 9.0f};
  Call call;
  InitCall(&call, server, allocator);

  // In two buffers, as a batch of two.
  const int64_t shape[2] = {2, 3};
  OK(TRITONSERVER_InferenceRequestSetId(call.request, "first"));
  OK(TRITONSERVER_InferenceRequestAddInput(call.request, "INPUT0", TRITONSERVER_TYPE_FP32, shape,
                                           2));
  OK(TRITONSERVER_InferenceRequestAppendInputData(call.request, "INPUT0", first, 2 * sizeof(float),
                                                  TRITONSERVER_MEMORY_CPU, 0));
  OK(TRITONSERVER_InferenceRequestAppendInputData(call.request, "INPUT0", first + 2,
                                                  4 * sizeof(float), TRITONSERVER_MEMORY_CPU, 0));
  OK(TRITONSERVER_ServerInferAsync(server, call.request, NULL));
  Await(&call, 1);
  const char* id = NULL;
  OK(TRITONSERVER_InferenceResponseId(call.response, &id));
  CHECK(strcmp(id, "first") == 0);
  CheckLabel(call.response, 0, "cat");
  CheckLabel(call.response, 1, NULL);  // an empty line
  CheckLabel(call.response, 2, "dog");
  CheckLabel(call.response, 3, NULL);
  CheckAnswer(&call, first, 2, 6);

  // The same request with other data, and with the output named.
  SetInput(&call, second, 1, 3);
  OK(TRITONSERVER_InferenceRequestAddRequestedOutput(call.request, "OUTPUT0"));
  OK(TRITONSERVER_ServerInferAsync(server, call.request, NULL));
  Await(&call, 2);
  CheckAnswer(&call, second, 1, 3);

  // Refused at submission: no callback comes, and the request stays ours.
  SetInput(&call, first, 1, 5);
  OK(TRITONSERVER_InferenceRequestAppendInputData(call.request, "INPUT0", first, sizeof(float),
                                                  TRITONSERVER_MEMORY_CPU, 0));
  FAILS(TRITONSERVER_ServerInferAsync(server, call.request, NULL), TRITONSERVER_ERROR_INVALID_ARG,
        "INPUT0");
  CHECK(call.releases == 2 && call.finals == 2);
  SetInput(&call, first, 1, 5);
  OK(TRITONSERVER_InferenceRequestRemoveRequestedOutput(call.request, "OUTPUT0"));
  OK(TRITONSERVER_InferenceRequestAddRequestedOutput(call.request, "OUTPUT9"));
  FAILS(TRITONSERVER_ServerInferAsync(server, call.request, NULL), TRITONSERVER_ERROR_INVALID_ARG,
        "OUTPUT9");
  OK(TRITONSERVER_InferenceRequestRemoveAllRequestedOutputs(call.request));
  OK(TRITONSERVER_ServerInferAsync(server, call.request, NULL));
  Await(&call, 3);
  CheckAnswer(&call, first, 1, 5);

  // Refused by the backend: the error comes as the response.
  OK(TRITONSERVER_InferenceRequestSetStringParameter(call.request, "fail", "as asked"));
  OK(TRITONSERVER_ServerInferAsync(server, call.request, NULL));
  Await(&call, 4);
  TRITONSERVER_Error* error = TRITONSERVER_InferenceResponseError(call.response);
  CHECK(error != NULL);
  CHECK(strstr(TRITONSERVER_ErrorMessage(error), "as asked") != NULL);
  OK(TRITONSERVER_InferenceResponseDelete(call.response));
  DeleteCall(&call);
}

enum { kMany = 64 };

static void TestManyInFlight(TRITONSERVER_Server* server,
                             TRITONSERVER_ResponseAllocator* allocator) {
  static Call calls[kMany];
  static float data[kMany][16];
  for (int i = 0; i < kMany; ++i) {
    for (int j = 0; j < 16; ++j) data[i][j] = (float)(100 * i + j);
    InitCall(&calls[i], server, allocator);
    SetInput(&calls[i], data[i], 2, 16);
  }
  for (int round = 1; round <= 3; ++round) {
    for (int i = 0; i < kMany; ++i) {
      OK(TRITONSERVER_ServerInferAsync(server, calls[i].request, NULL));
    }
    for (int i = 0; i < kMany; ++i) {
      Await(&calls[i], round);
      CheckAnswer(&calls[i], data[i], 2, 16);
    }
  }
  for (int i = 0; i < kMany; ++i) DeleteCall(&calls[i]);
}

static void TestStatistics(TRITONSERVER_Server* server) {
  // Answered: one batch of 2, two of 1, and the many, 3 rounds in batches of 2. One failed.
  char part[64];
  TRITONSERVER_Message* message = NULL;
  OK(TRITONSERVER_ServerModelStatistics(server, "copy", 1, &message));
  snprintf(part, sizeof(part), "\"inference_count\":%d", 2 + 1 + 1 + 3 * kMany * 2);
  CheckMessage(message, part);
  OK(TRITONSERVER_ServerModelStatistics(server, "", -1, &message));
  snprintf(part, sizeof(part), "\"success\":{\"count\":%d", 3 + 3 * kMany);
  CheckMessage(message, part);

  TRITONSERVER_Metrics* metrics = NULL;
  const char* base = NULL;
  size_t size = 0;
  OK(TRITONSERVER_ServerMetrics(server, &metrics));
  OK(TRITONSERVER_MetricsFormatted(metrics, TRITONSERVER_METRIC_PROMETHEUS, &base, &size));
  snprintf(part, sizeof(part), "{model=\"copy\",version=\"1\"} %d\n", 3 + 3 * kMany);
  CHECK(strstr(base, "nv_inference_request_success") != NULL);
  CHECK(strstr(base, part) != NULL);
  OK(TRITONSERVER_MetricsDelete(metrics));
}

/* A request that is not in flight does not keep its model. */
static void TestUnload(TRITONSERVER_Server* server, TRITONSERVER_ResponseAllocator* allocator) {
  static const float data[2] = {1.0f, 2.0f};
  Call call;
  InitCall(&call, server, allocator);
  SetInput(&call, data, 1, 2);
  OK(TRITONSERVER_ServerInferAsync(server, call.request, NULL));
  Await(&call, 1);
  CheckAnswer(&call, data, 1, 2);

  OK(TRITONSERVER_ServerUnloadModel(server, "copy"));
  bool ready = true;
  OK(TRITONSERVER_ServerModelIsReady(server, "copy", -1, &ready));
  CHECK(!ready);
  TRITONSERVER_Error* error = TRITONSERVER_ServerInferAsync(server, call.request, NULL);
  CHECK(error != NULL);
  TRITONSERVER_ErrorDelete(error);

  OK(TRITONSERVER_ServerLoadModel(server, "copy"));
  OK(TRITONSERVER_ServerInferAsync(server, call.request, NULL));
  Await(&call, 2);
  CheckAnswer(&call, data, 1, 2);

  OK(TRITONSERVER_ServerStop(server));
  bool live = true;
  FAILS(TRITONSERVER_ServerIsLive(server, &live), TRITONSERVER_ERROR_UNAVAILABLE, "");
  FAILS(TRITONSERVER_ServerInferAsync(server, call.request, NULL), TRITONSERVER_ERROR_UNAVAILABLE,
        "");
  CHECK(call.releases == 2 && call.finals == 2);
  DeleteCall(&call);
}

int main(int argc, char** argv) {
  if (argc != 2) {
    fprintf(stderr, "usage: %s BACKEND_DIRECTORY\n", argv[0]);
    return 2;
  }
  MakeRepository();
  atexit(RemoveRepository);
  TestVersion();
  TRITONSERVER_Server* server = StartServer(argv[1]);
  TRITONSERVER_ResponseAllocator* allocator = NULL;
  OK(TRITONSERVER_ResponseAllocatorNew(&allocator, Allocate, ReleaseBuffer, NULL));
  TestModel(server);
  TestRequest(server, allocator);
  TestCancel(server, allocator);
  TestManyInFlight(server, allocator);
  TestStatistics(server);
  TestUnload(server, allocator);
  OK(TRITONSERVER_ServerDelete(server));
  OK(TRITONSERVER_ResponseAllocatorDelete(allocator));
  printf("all right\n");
  return 0;
}
