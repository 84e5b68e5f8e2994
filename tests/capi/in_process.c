// SPDX-License-Identifier: Apache-2.0
#define _XOPEN_SOURCE 700
#include "in_process.h"

#include <ftw.h>
#include <sys/stat.h>
#include <unistd.h>

void ExpectError(TRITONSERVER_Error* error, TRITONSERVER_Error_Code code, const char* part,
                 const char* file, int line) {
  if (error == NULL) {
    fprintf(stderr, "%s:%d: expected an error\n", file, line);
    exit(1);
  }
  if (TRITONSERVER_ErrorCode(error) != code ||
      strstr(TRITONSERVER_ErrorMessage(error), part) == NULL) {
    fprintf(stderr, "%s:%d: expected code %d and '%s', got %d: %s\n", file, line, (int)code, part,
            (int)TRITONSERVER_ErrorCode(error), TRITONSERVER_ErrorMessage(error));
    exit(1);
  }
  TRITONSERVER_ErrorDelete(error);
}

// ---- The model repository -----------------------------------------------------------------------

static char root[] = "/tmp/nereid_capi_XXXXXX";
static char repository[128];

static int RemoveOne(const char* path, const struct stat* status, int kind, struct FTW* walk) {
  (void)status;
  (void)kind;
  (void)walk;
  return remove(path);
}

static void RemoveRepository(void) { nftw(root, RemoveOne, 16, FTW_DEPTH | FTW_PHYS); }

void MakeRepository(void) {
  CHECK(mkdtemp(root) != NULL);
  snprintf(repository, sizeof(repository), "%s", MakeFolder("models"));
  atexit(RemoveRepository);
}

const char* RepositoryPath(void) { return repository; }

const char* MakeFolder(const char* name) {
  static char path[128];
  snprintf(path, sizeof(path), "%s/%s", root, name);
  CHECK(mkdir(path, 0755) == 0);
  return path;
}

/* Returns the path of a model; valid until the next call. */
static const char* ModelPath(const char* model, const char* name) {
  static char path[512];
  const char* slash = strchr(model, '/');
  snprintf(path, sizeof(path), "%s/%s/%s", slash == NULL ? repository : root, model, name);
  return path;
}

static void WriteText(const char* path, const char* text, const char* more) {
  FILE* file = fopen(path, "w");
  CHECK(file != NULL);
  CHECK(fputs(text, file) >= 0 && fputs(more, file) >= 0);
  CHECK(fclose(file) == 0);
}

void WriteFile(const char* path, const char* text) {
  char full[512];
  snprintf(full, sizeof(full), "%s/%s", repository, path);
  WriteText(full, text, "");
}

static void MakeModelFolders(const char* model) {
  CHECK(mkdir(ModelPath(model, ""), 0755) == 0);
  CHECK(mkdir(ModelPath(model, "1"), 0755) == 0);
}

void MakeModel(const char* model, const char* more) {
  static const char config[] =
      "backend: \"identity\"\n"
      "max_batch_size: 8\n"
      "input [ { name: \"INPUT0\" data_type: TYPE_FP32 dims: [ -1 ] } ]\n"
      "output [ { name: \"OUTPUT0\" data_type: TYPE_FP32 dims: [ -1 ]\n"
      "           label_filename: \"labels.txt\" } ]\n";
  MakeModelFolders(model);
  WriteText(ModelPath(model, "config.pbtxt"), config, more);
  WriteText(ModelPath(model, "labels.txt"), "cat\n\ndog\n", "");
}

void MakeModelOf(const char* model, const char* config) {
  MakeModelFolders(model);
  WriteText(ModelPath(model, "config.pbtxt"), config, "");
}

void LinkPlugin(const char* model, const char* name, const char* directory, const char* file) {
  char library[512];
  snprintf(library, sizeof(library), "%s/%s", directory, file);
  CHECK(symlink(library, ModelPath(model, name)) == 0);
}

void LinkBackend(const char* model, const char* directory, const char* backend) {
  char name[128];
  snprintf(name, sizeof(name), "libtriton_%s.so", backend);
  LinkPlugin(model, name, directory, name);
}

// ---- The server ---------------------------------------------------------------------------------

TRITONSERVER_ServerOptions* NewOptions(const char* backend_directory) {
  TRITONSERVER_ServerOptions* options = NULL;
  OK(TRITONSERVER_ServerOptionsNew(&options));
  OK(TRITONSERVER_ServerOptionsSetServerId(options, "in_process"));
  OK(TRITONSERVER_ServerOptionsSetModelRepositoryPath(options, repository));
  OK(TRITONSERVER_ServerOptionsSetModelControlMode(options, TRITONSERVER_MODEL_CONTROL_EXPLICIT));
  OK(TRITONSERVER_ServerOptionsSetBackendDirectory(options, backend_directory));
  OK(TRITONSERVER_ServerOptionsSetStrictModelConfig(options, false));
  OK(TRITONSERVER_ServerOptionsSetExitTimeout(options, 20));
  return options;
}

TRITONSERVER_Server* StartServer(TRITONSERVER_ServerOptions* options) {
  TRITONSERVER_Server* server = NULL;
  OK(TRITONSERVER_ServerNew(&server, options));
  OK(TRITONSERVER_ServerOptionsDelete(options));
  return server;
}

static void CheckText(const char* base, size_t size, const char* part) {
  char* text = malloc(size + 1);
  memcpy(text, base, size);
  text[size] = '\0';
  if (strstr(text, part) == NULL) {
    fprintf(stderr, "'%s' is not in %s\n", part, text);
    exit(1);
  }
  free(text);
}

void CheckMessage(TRITONSERVER_Message* message, const char* part) {
  const char* base = NULL;
  size_t size = 0;
  OK(TRITONSERVER_MessageSerializeToJson(message, &base, &size));
  CheckText(base, size, part);
  OK(TRITONSERVER_MessageDelete(message));
}

void CheckMetrics(TRITONSERVER_Server* server, const char* part) {
  TRITONSERVER_Metrics* metrics = NULL;
  const char* base = NULL;
  size_t size = 0;
  OK(TRITONSERVER_ServerMetrics(server, &metrics));
  OK(TRITONSERVER_MetricsFormatted(metrics, TRITONSERVER_METRIC_PROMETHEUS, &base, &size));
  CheckText(base, size, part);
  OK(TRITONSERVER_MetricsDelete(metrics));
}

// ---- One request and what came of it ------------------------------------------------------------

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

TRITONSERVER_ResponseAllocator* NewAllocator(void) {
  TRITONSERVER_ResponseAllocator* allocator = NULL;
  OK(TRITONSERVER_ResponseAllocatorNew(&allocator, Allocate, ReleaseBuffer, NULL));
  return allocator;
}

void InitCall(Call* call, TRITONSERVER_Server* server, const char* model,
              TRITONSERVER_ResponseAllocator* allocator) {
  memset(call, 0, sizeof(*call));
  pthread_mutex_init(&call->mutex, NULL);
  pthread_cond_init(&call->changed, NULL);
  OK(TRITONSERVER_InferenceRequestNew(&call->request, server, model, -1));
  OK(TRITONSERVER_InferenceRequestSetReleaseCallback(call->request, OnRelease, call));
  OK(TRITONSERVER_InferenceRequestSetResponseCallback(call->request, allocator, call, OnResponse,
                                                      call));
}

void SetInput(Call* call, const float* data, int64_t batch, int64_t count) {
  const int64_t shape[2] = {batch, count / batch};
  OK(TRITONSERVER_InferenceRequestRemoveAllInputs(call->request));
  OK(TRITONSERVER_InferenceRequestAddInput(call->request, "INPUT0", TRITONSERVER_TYPE_FP32, shape,
                                           2));
  OK(TRITONSERVER_InferenceRequestAppendInputData(
      call->request, "INPUT0", data, (size_t)count * sizeof(float), TRITONSERVER_MEMORY_CPU, 0));
}

void Await(Call* call, int submissions) {
  pthread_mutex_lock(&call->mutex);
  while (call->finals < submissions || call->releases < submissions) {
    pthread_cond_wait(&call->changed, &call->mutex);
  }
  pthread_mutex_unlock(&call->mutex);
  CHECK(call->finals == submissions);
  CHECK(call->releases == submissions);
  CHECK(call->responses == submissions);
}

void Infer(TRITONSERVER_Server* server, Call* call, int submissions) {
  OK(TRITONSERVER_ServerInferAsync(server, call->request, NULL));
  Await(call, submissions);
}

void CheckAnswer(Call* call, const char* model, const float* data, int64_t batch, int64_t count) {
  TRITONSERVER_InferenceResponse* response = call->response;
  TRITONSERVER_Error* error = TRITONSERVER_InferenceResponseError(response);
  if (error != NULL) fprintf(stderr, "%s\n", TRITONSERVER_ErrorMessage(error));
  CHECK(error == NULL);
  const char* name = NULL;
  int64_t version = 0;
  OK(TRITONSERVER_InferenceResponseModel(response, &name, &version));
  CHECK(strcmp(name, model) == 0);
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

void CheckFailure(Call* call, TRITONSERVER_Error_Code code, const char* part) {
  TRITONSERVER_Error* error = TRITONSERVER_InferenceResponseError(call->response);
  CHECK(error != NULL);
  if (TRITONSERVER_ErrorCode(error) != code ||
      strstr(TRITONSERVER_ErrorMessage(error), part) == NULL) {
    fprintf(stderr, "expected code %d and '%s', got %d: %s\n", (int)code, part,
            (int)TRITONSERVER_ErrorCode(error), TRITONSERVER_ErrorMessage(error));
    exit(1);
  }
  OK(TRITONSERVER_InferenceResponseDelete(call->response));
  call->response = NULL;
}

void DeleteCall(Call* call) {
  OK(TRITONSERVER_InferenceRequestDelete(call->request));
  pthread_cond_destroy(&call->changed);
  pthread_mutex_destroy(&call->mutex);
}
