// SPDX-License-Identifier: Apache-2.0
// Traces of requests: the reports, their order, and that each trace is released once. Triton 2.51
// reports the same, with three exceptions: it reports nothing about batches, it keeps the trace of
// a request that it refuses before the queue, and it reports the tensors of cached responses twice.
//
//   capi_trace_test BACKEND_DIRECTORY CACHE_DIRECTORY
#include "in_process.h"

// ---- A trace and what it told -------------------------------------------------------------------

enum { kLogSize = 1024, kMostTraces = 8 };

typedef struct TraceLog {
  pthread_mutex_t mutex;
  pthread_cond_t changed;
  char text[kLogSize];
  int releases;
  TRITONSERVER_InferenceTrace* released[kMostTraces];
} TraceLog;

static void Append(TraceLog* log, const char* word) {
  pthread_mutex_lock(&log->mutex);
  const size_t used = strlen(log->text);
  snprintf(log->text + used, kLogSize - used, "%s%s", used == 0 ? "" : " ", word);
  pthread_cond_broadcast(&log->changed);
  pthread_mutex_unlock(&log->mutex);
}

/* Returns the context's note about the batch, or NULL. */
static const char* BatchNote(TRITONSERVER_InferenceTrace* trace) {
  static char note[256];
  const char* context = NULL;
  OK(TRITONSERVER_InferenceTraceContext(trace, &context));
  const char* start = strstr(context, "BATCH_CLOSED");
  if (start == NULL) return NULL;
  snprintf(note, sizeof(note), "%s", start);
  *strchr(note, '"') = '\0';
  return note;
}

static void OnActivity(TRITONSERVER_InferenceTrace* trace,
                       TRITONSERVER_InferenceTraceActivity activity, uint64_t timestamp_ns,
                       void* userp) {
  TraceLog* log = userp;
  uint64_t id = 0;
  OK(TRITONSERVER_InferenceTraceId(trace, &id));
  CHECK(id != 0 && timestamp_ns != 0);
  const char* const name = TRITONSERVER_InferenceTraceActivityString(activity);
  // Of the custom activities, only that of the server is checked here.
  const char* batch = NULL;
  if (activity == TRITONSERVER_TRACE_CUSTOM_ACTIVITY) batch = BatchNote(trace);
  Append(log, batch != NULL ? batch : name);
}

static void OnTensor(TRITONSERVER_InferenceTrace* trace,
                     TRITONSERVER_InferenceTraceActivity activity, const char* name,
                     TRITONSERVER_DataType datatype, const void* base, size_t byte_size,
                     const int64_t* shape, uint64_t dim_count, TRITONSERVER_MemoryType memory_type,
                     int64_t memory_type_id, void* userp) {
  (void)trace;
  char text[256];
  CHECK(base != NULL && memory_type == TRITONSERVER_MEMORY_CPU && memory_type_id == 0);
  snprintf(text, sizeof(text), "%s(%s,%s,%zu,[%ld,%ld],%lu)",
           TRITONSERVER_InferenceTraceActivityString(activity), name,
           TRITONSERVER_DataTypeString(datatype), byte_size, (long)shape[0], (long)shape[1],
           (unsigned long)dim_count);
  Append(userp, text);
}

static void OnTraceRelease(TRITONSERVER_InferenceTrace* trace, void* userp) {
  TraceLog* log = userp;
  Append(log, "release");
  pthread_mutex_lock(&log->mutex);
  CHECK(log->releases < kMostTraces);
  log->released[log->releases++] = trace;
  pthread_cond_broadcast(&log->changed);
  pthread_mutex_unlock(&log->mutex);
}

static void InitLog(TraceLog* log) {
  memset(log, 0, sizeof(*log));
  pthread_mutex_init(&log->mutex, NULL);
  pthread_cond_init(&log->changed, NULL);
}

static void AwaitReleases(TraceLog* log, int count) {
  pthread_mutex_lock(&log->mutex);
  while (log->releases < count) pthread_cond_wait(&log->changed, &log->mutex);
  pthread_mutex_unlock(&log->mutex);
}

static TRITONSERVER_InferenceTrace* NewTrace(TraceLog* log, TRITONSERVER_InferenceTraceLevel level,
                                             uint64_t parent) {
  TRITONSERVER_InferenceTrace* trace = NULL;
  InitLog(log);
  OK(TRITONSERVER_InferenceTraceTensorNew(&trace, level, parent, OnActivity, OnTensor,
                                          OnTraceRelease, log));
  return trace;
}

/* Checks that the log has exactly this text. A '*' matches anything. */
static void Expect(const TraceLog* log, const char* expected) {
  const char* at = log->text;
  for (const char* next = expected; *next != '\0'; ++next, ++at) {
    if (*next != '*' && *next == *at) continue;
    const char* end = *next == '*' ? strchr(at, next[1]) : NULL;
    if (end == NULL) {
      fprintf(stderr, "expected '%s', got '%s'\n", expected, log->text);
      exit(1);
    }
    at = end - 1;
  }
  if (*at != '\0') fprintf(stderr, "expected '%s', got '%s'\n", expected, log->text);
  CHECK(*at == '\0');
}

/* Checks that one trace of this request was released, and deletes it. */
static void CheckReleased(TraceLog* log, const char* model, const char* request_id,
                          uint64_t parent) {
  AwaitReleases(log, 1);
  CHECK(log->releases == 1);
  TRITONSERVER_InferenceTrace* trace = log->released[0];
  const char* text = NULL;
  int64_t version = 0;
  uint64_t id = 0;
  OK(TRITONSERVER_InferenceTraceModelName(trace, &text));
  CHECK(strcmp(text, model) == 0);
  OK(TRITONSERVER_InferenceTraceModelVersion(trace, &version));
  CHECK(version == 1);
  OK(TRITONSERVER_InferenceTraceRequestId(trace, &text));
  CHECK(strcmp(text, request_id) == 0);
  OK(TRITONSERVER_InferenceTraceParentId(trace, &id));
  CHECK(id == parent);
  OK(TRITONSERVER_InferenceTraceDelete(trace));
}

static void CheckContext(TRITONSERVER_InferenceTrace* trace, const char* expected) {
  const char* context = NULL;
  OK(TRITONSERVER_InferenceTraceContext(trace, &context));
  if (strcmp(context, expected) != 0) fprintf(stderr, "context: %s\n", context);
  CHECK(strcmp(context, expected) == 0);
}

static void DeleteResponse(Call* call) {
  OK(TRITONSERVER_InferenceResponseDelete(call->response));
  call->response = NULL;
}

// ---- The parts of the test ----------------------------------------------------------------------

#define TIMES "COMPUTE_START COMPUTE_INPUT_END COMPUTE_OUTPUT_START COMPUTE_END"
#define INPUT "TENSOR_QUEUE_INPUT(INPUT0,FP32,8,[1,2],2)"
#define OUTPUT "TENSOR_BACKEND_OUTPUT(OUTPUT0,FP32,8,[1,2],2)"

static const float data[8] = {1.0f, 2.0f};
static const uint32_t kBoth =
    TRITONSERVER_TRACE_LEVEL_TIMESTAMPS | TRITONSERVER_TRACE_LEVEL_TENSORS;

typedef struct LevelCase {
  uint32_t level;
  const char* expected;
} LevelCase;

static void TestLevels(TRITONSERVER_Server* server, TRITONSERVER_ResponseAllocator* allocator) {
  static const char stamps[] = "REQUEST_START QUEUE_START " TIMES " REQUEST_END release";
  const LevelCase cases[] = {
      {TRITONSERVER_TRACE_LEVEL_DISABLED, "release"},
      {TRITONSERVER_TRACE_LEVEL_MIN, stamps},
      {TRITONSERVER_TRACE_LEVEL_MAX, stamps},
      {TRITONSERVER_TRACE_LEVEL_TIMESTAMPS, stamps},
      {TRITONSERVER_TRACE_LEVEL_TENSORS, INPUT " " OUTPUT " release"},
      {kBoth, "REQUEST_START QUEUE_START " INPUT " " TIMES " " OUTPUT " REQUEST_END release"},
  };
  Call call;
  TraceLog log;
  InitCall(&call, server, "copy", allocator);
  SetInput(&call, data, 1, 2);
  OK(TRITONSERVER_InferenceRequestSetId(call.request, "mine"));
  for (int i = 0; i < (int)(sizeof(cases) / sizeof(cases[0])); ++i) {
    OK(TRITONSERVER_ServerInferAsync(server, call.request, NewTrace(&log, cases[i].level, 77)));
    Await(&call, i + 1);
    CHECK(log.releases == 0);  // a response may still need its trace
    DeleteResponse(&call);
    CheckReleased(&log, "copy", "mine", 77);
    Expect(&log, cases[i].expected);
  }
  DeleteCall(&call);
}

/* The callback for tensors may be NULL. */
static void TestWithoutTensors(TRITONSERVER_Server* server,
                               TRITONSERVER_ResponseAllocator* allocator) {
  Call call;
  TraceLog log;
  TRITONSERVER_InferenceTrace* trace = NULL;
  InitLog(&log);
  InitCall(&call, server, "copy", allocator);
  SetInput(&call, data, 1, 2);
  OK(TRITONSERVER_InferenceTraceNew(&trace, kBoth, 0, OnActivity, OnTraceRelease, &log));
  OK(TRITONSERVER_ServerInferAsync(server, call.request, trace));
  Await(&call, 1);
  DeleteResponse(&call);
  CheckReleased(&log, "copy", "", 0);
  Expect(&log, "REQUEST_START QUEUE_START " TIMES " REQUEST_END release");
  DeleteCall(&call);
}

static void TestContext(void) {
  TraceLog log;
  TRITONSERVER_InferenceTrace* trace = NewTrace(&log, kBoth, 0);
  TRITONSERVER_InferenceTrace* child = NULL;
  uint64_t id = 0, child_id = 0, parent = 0;
  CheckContext(trace, "");
  OK(TRITONSERVER_InferenceTraceSetContext(trace, "{\"a\":\"b\"}"));
  OK(TRITONSERVER_InferenceTraceReportActivity(trace, 123, "mine"));
  OK(TRITONSERVER_InferenceTraceReportActivity(trace, 124, "more"));
  OK(TRITONSERVER_InferenceTraceReportActivity(trace, 124, "same time"));
  CheckContext(trace, "{\"a\":\"b\",\"123\":\"mine\",\"124\":\"same time\"}");
  OK(TRITONSERVER_InferenceTraceSpawnChildTrace(trace, &child));
  CheckContext(child, "");
  OK(TRITONSERVER_InferenceTraceId(trace, &id));
  OK(TRITONSERVER_InferenceTraceId(child, &child_id));
  OK(TRITONSERVER_InferenceTraceParentId(child, &parent));
  CHECK(parent == id && child_id != id);
  OK(TRITONSERVER_InferenceTraceReportActivity(child, 125, "the child's"));
  OK(TRITONSERVER_InferenceTraceSetContext(trace, "no JSON"));
  OK(TRITONSERVER_InferenceTraceReportActivity(trace, 126, "after that"));
  CheckContext(trace, "{\"126\":\"after that\"}");
  OK(TRITONSERVER_InferenceTraceDelete(child));
  OK(TRITONSERVER_InferenceTraceDelete(trace));
  Expect(&log, "CUSTOM_ACTIVITY CUSTOM_ACTIVITY CUSTOM_ACTIVITY CUSTOM_ACTIVITY CUSTOM_ACTIVITY");

  FAILS(TRITONSERVER_InferenceTraceNew(NULL, kBoth, 0, OnActivity, OnTraceRelease, &log),
        TRITONSERVER_ERROR_INVALID_ARG, "trace");
  FAILS(TRITONSERVER_InferenceTraceNew(&trace, kBoth, 0, OnActivity, NULL, &log),
        TRITONSERVER_ERROR_INVALID_ARG, "release_fn");
  FAILS(TRITONSERVER_InferenceTraceTensorNew(&trace, kBoth, 0, OnActivity, NULL, OnTraceRelease,
                                             &log),
        TRITONSERVER_ERROR_INVALID_ARG, "tensor_activity_fn");
}

static void TestNames(void) {
  CHECK(strcmp(TRITONSERVER_InferenceTraceLevelString(TRITONSERVER_TRACE_LEVEL_TENSORS),
               "TENSORS") == 0);
  CHECK(strcmp(TRITONSERVER_InferenceTraceActivityString(TRITONSERVER_TRACE_TENSOR_BACKEND_INPUT),
               "TENSOR_BACKEND_INPUT") == 0);
}

/* The trace is released, however the request ends. */
static void TestFailures(TRITONSERVER_Server* server, TRITONSERVER_ResponseAllocator* allocator) {
  Call call;
  TraceLog log;
  InitCall(&call, server, "copy", allocator);
  SetInput(&call, data, 1, 2);
  OK(TRITONSERVER_InferenceRequestAppendInputData(call.request, "INPUT0", data, 4,
                                                  TRITONSERVER_MEMORY_CPU, 0));
  FAILS(TRITONSERVER_ServerInferAsync(server, call.request, NewTrace(&log, kBoth, 0)),
        TRITONSERVER_ERROR_INVALID_ARG, "byte size");
  Expect(&log, "release");
  CheckReleased(&log, "copy", "", 0);
  FAILS(TRITONSERVER_ServerInferAsync(NULL, call.request, NewTrace(&log, kBoth, 0)),
        TRITONSERVER_ERROR_INVALID_ARG, "server");
  Expect(&log, "release");
  OK(TRITONSERVER_InferenceTraceDelete(log.released[0]));

  SetInput(&call, data, 1, 2);
  OK(TRITONSERVER_InferenceRequestSetStringParameter(call.request, "fail", "as asked"));
  OK(TRITONSERVER_ServerInferAsync(server, call.request, NewTrace(&log, kBoth, 0)));
  Await(&call, 1);
  CheckFailure(&call, TRITONSERVER_ERROR_INTERNAL, "as asked");
  CheckReleased(&log, "copy", "", 0);
  Expect(&log, "REQUEST_START QUEUE_START " INPUT " " TIMES " REQUEST_END release");
  DeleteCall(&call);
}

/* Requests behind a long execution: refused at once, timed out, cancelled. */
static void TestQueue(TRITONSERVER_Server* server, TRITONSERVER_ResponseAllocator* allocator) {
  static const char queued[] =
      "REQUEST_START QUEUE_START TENSOR_QUEUE_INPUT(INPUT0,FP32,32,[8,1],2) REQUEST_END release";
  Call busy, waiting, refused;
  TraceLog busy_log, log;
  InitCall(&busy, server, "slow", allocator);
  InitCall(&waiting, server, "slow", allocator);
  InitCall(&refused, server, "slow", allocator);
  SetInput(&busy, data, 8, 8);
  SetInput(&waiting, data, 8, 8);
  SetInput(&refused, data, 8, 8);
  OK(TRITONSERVER_ServerInferAsync(server, busy.request, NewTrace(&busy_log, kBoth, 0)));
  OK(TRITONSERVER_InferenceRequestSetTimeoutMicroseconds(waiting.request, 1000));
  OK(TRITONSERVER_ServerInferAsync(server, waiting.request, NewTrace(&log, kBoth, 0)));
  Await(&waiting, 1);
  CheckFailure(&waiting, TRITONSERVER_ERROR_UNAVAILABLE, "timeout");
  CheckReleased(&log, "slow", "", 0);
  Expect(&log, queued);

  OK(TRITONSERVER_InferenceRequestSetTimeoutMicroseconds(waiting.request, 0));
  OK(TRITONSERVER_ServerInferAsync(server, waiting.request, NewTrace(&log, kBoth, 0)));
  TraceLog refused_log;
  FAILS(TRITONSERVER_ServerInferAsync(server, refused.request, NewTrace(&refused_log, kBoth, 0)),
        TRITONSERVER_ERROR_UNAVAILABLE, "maximum queue size");
  CheckReleased(&refused_log, "slow", "", 0);
  Expect(&refused_log,
         "REQUEST_START QUEUE_START TENSOR_QUEUE_INPUT(INPUT0,FP32,32,[8,1],2) release");
  OK(TRITONSERVER_InferenceRequestCancel(waiting.request));
  Await(&waiting, 2);
  CheckFailure(&waiting, TRITONSERVER_ERROR_CANCELLED, "");
  CheckReleased(&log, "slow", "", 0);
  Expect(&log, queued);

  OK(TRITONSERVER_InferenceRequestCancel(busy.request));
  Await(&busy, 1);
  CheckFailure(&busy, TRITONSERVER_ERROR_CANCELLED, "");
  CheckReleased(&busy_log, "slow", "", 0);
  Expect(&busy_log,
         "REQUEST_START QUEUE_START TENSOR_QUEUE_INPUT(INPUT0,FP32,32,[8,1],2) BATCH_CLOSED: "
         "preferred size reached; 1 request(s) of size 8; waited * us, the oldest * us " TIMES
         " REQUEST_END release");
  DeleteCall(&refused);
  DeleteCall(&waiting);
  DeleteCall(&busy);
}

static void TestCache(TRITONSERVER_Server* server, TRITONSERVER_ResponseAllocator* allocator) {
  Call call;
  TraceLog log;
  InitCall(&call, server, "cached", allocator);
  SetInput(&call, data, 1, 2);
  for (int i = 1; i <= 2; ++i) {
    OK(TRITONSERVER_ServerInferAsync(server, call.request, NewTrace(&log, kBoth, 0)));
    Await(&call, i);
    DeleteResponse(&call);
    CheckReleased(&log, "cached", "", 0);
    Expect(&log, i == 1 ? "REQUEST_START QUEUE_START " INPUT " " TIMES " " OUTPUT
                          " REQUEST_END release"
                        : "REQUEST_START QUEUE_START " INPUT " " OUTPUT " REQUEST_END release");
  }
  DeleteCall(&call);
}

/* Each step of an ensemble has its own trace, a child of the ensemble's trace. */
static void TestEnsemble(TRITONSERVER_Server* server, TRITONSERVER_ResponseAllocator* allocator) {
  Call call;
  TraceLog log;
  InitCall(&call, server, "twice", allocator);
  SetInput(&call, data, 1, 2);
  TRITONSERVER_InferenceTrace* trace = NewTrace(&log, TRITONSERVER_TRACE_LEVEL_TIMESTAMPS, 0);
  uint64_t whole = 0;
  OK(TRITONSERVER_InferenceTraceId(trace, &whole));
  OK(TRITONSERVER_ServerInferAsync(server, call.request, trace));
  Await(&call, 1);
  CheckAnswer(&call, "twice", data, 1, 2);
  AwaitReleases(&log, 3);
  CHECK(log.releases == 3);
  int wholes = 0, steps = 0;
  for (int i = 0; i < 3; ++i) {
    const char* model = NULL;
    uint64_t id = 0, parent = 0;
    OK(TRITONSERVER_InferenceTraceModelName(log.released[i], &model));
    OK(TRITONSERVER_InferenceTraceId(log.released[i], &id));
    OK(TRITONSERVER_InferenceTraceParentId(log.released[i], &parent));
    if (strcmp(model, "twice") == 0 && id == whole && parent == 0) ++wholes;
    if (strcmp(model, "copy") == 0 && id != whole && parent == whole) ++steps;
    OK(TRITONSERVER_InferenceTraceDelete(log.released[i]));
  }
  CHECK(wholes == 1 && steps == 2);
  DeleteCall(&call);
}

int main(int argc, char** argv) {
  if (argc != 3) {
    fprintf(stderr, "usage: %s BACKEND_DIRECTORY CACHE_DIRECTORY\n", argv[0]);
    return 2;
  }
  MakeRepository();
  MakeModel("copy", "");
  MakeModel("slow",
            "instance_group { kind: KIND_CPU count: 1 }\n"
            "dynamic_batching { default_queue_policy { max_queue_size: 1\n"
            "  default_timeout_microseconds: 60000000 allow_timeout_override: true } }\n"
            "parameters { key: \"execute_delay_ms\" value: { string_value: \"60000\" } }\n");
  MakeModel("cached", "response_cache { enable: true }\n");
  MakeModelOf("twice",
              "platform: \"ensemble\" max_batch_size: 8\n"
              "input [ { name: \"INPUT0\" data_type: TYPE_FP32 dims: [ -1 ] } ]\n"
              "output [ { name: \"OUTPUT0\" data_type: TYPE_FP32 dims: [ -1 ] } ]\n"
              "ensemble_scheduling {\n"
              "  step { model_name: \"copy\" model_version: -1\n"
              "    input_map { key: \"INPUT0\" value: \"INPUT0\" }\n"
              "    output_map { key: \"OUTPUT0\" value: \"between\" } }\n"
              "  step { model_name: \"copy\" model_version: -1\n"
              "    input_map { key: \"INPUT0\" value: \"between\" }\n"
              "    output_map { key: \"OUTPUT0\" value: \"OUTPUT0\" } } }\n");
  TRITONSERVER_ServerOptions* options = NewOptions(argv[1]);
  OK(TRITONSERVER_ServerOptionsSetCacheDirectory(options, argv[2]));
  OK(TRITONSERVER_ServerOptionsSetCacheConfig(options, "local", "{\"size\":\"1048576\"}"));
  TRITONSERVER_Server* server = StartServer(options);
  TRITONSERVER_ResponseAllocator* allocator = NewAllocator();
  OK(TRITONSERVER_ServerLoadModel(server, "copy"));
  OK(TRITONSERVER_ServerLoadModel(server, "slow"));
  OK(TRITONSERVER_ServerLoadModel(server, "cached"));
  OK(TRITONSERVER_ServerLoadModel(server, "twice"));
  TestNames();
  TestContext();
  TestLevels(server, allocator);
  TestWithoutTensors(server, allocator);
  TestFailures(server, allocator);
  TestQueue(server, allocator);
  TestCache(server, allocator);
  TestEnsemble(server, allocator);
  OK(TRITONSERVER_ServerDelete(server));
  OK(TRITONSERVER_ResponseAllocatorDelete(allocator));
  printf("all right\n");
  return 0;
}
