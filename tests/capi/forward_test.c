// SPDX-License-Identifier: Apache-2.0
// Backends that call other models of their server during an execution (tests/plugins/forward.cc).
//
//   capi_forward_test BACKEND_DIRECTORY PLUGIN_DIRECTORY
#include "in_process.h"

static const float data[8] = {1.0f, 2.0f, 3.5f, -4.0f, 0.25f, 6.0f, 7.0f, 8.0f};

/* A model that passes its requests to another one. */
static void MakeForward(const char* name, const char* to, bool wait, int instances,
                        const char* plugins) {
  char config[1024];
  snprintf(config, sizeof(config),
           "backend: \"forward\" max_batch_size: 8\n"
           "input [ { name: \"INPUT0\" data_type: TYPE_FP32 dims: [ -1 ] } ]\n"
           "output [ { name: \"OUTPUT0\" data_type: TYPE_FP32 dims: [ -1 ] } ]\n"
           "instance_group { kind: KIND_CPU count: %d }\n"
           "parameters { key: \"to\" value: { string_value: \"%s\" } }\n"
           "parameters { key: \"wait\" value: { string_value: \"%s\" } }\n",
           instances, to, wait ? "true" : "false");
  MakeModelOf(name, config);
  LinkBackend(name, plugins, "forward");
}

static void TestAnswer(TRITONSERVER_Server* server, TRITONSERVER_ResponseAllocator* allocator,
                       const char* model) {
  Call call;
  InitCall(&call, server, model, allocator);
  SetInput(&call, data, 2, 8);
  Infer(server, &call, 1);
  CHECK(call.allocations == 1);  // the model at the end wrote into the caller's own buffer
  CheckAnswer(&call, model, data, 2, 8);

  // The answer of the other model is passed on.
  OK(TRITONSERVER_InferenceRequestSetStringParameter(call.request, "fail", "at the end"));
  Infer(server, &call, 2);
  CheckFailure(&call, TRITONSERVER_ERROR_INTERNAL, "at the end");
  DeleteCall(&call);
}

/* More requests in flight than instances, from one thread and from many. */
enum { kMany = 48, kRounds = 4 };

typedef struct Client {
  TRITONSERVER_Server* server;
  TRITONSERVER_ResponseAllocator* allocator;
  const char* model;
} Client;

static void* AskOften(void* argument) {
  const Client* client = argument;
  Call call;
  InitCall(&call, client->server, client->model, client->allocator);
  SetInput(&call, data, 1, 8);
  for (int round = 1; round <= kRounds; ++round) {
    Infer(client->server, &call, round);
    CheckAnswer(&call, client->model, data, 1, 8);
  }
  DeleteCall(&call);
  return NULL;
}

static void TestManyClients(TRITONSERVER_Server* server, TRITONSERVER_ResponseAllocator* allocator,
                            const char* model) {
  Client client = {server, allocator, model};
  pthread_t threads[kMany];
  for (int i = 0; i < kMany; ++i) {
    CHECK(pthread_create(&threads[i], NULL, AskOften, &client) == 0);
  }
  for (int i = 0; i < kMany; ++i) pthread_join(threads[i], NULL);
}

/* A model may call itself if its Execute does not wait for the answer. */
static void TestItself(TRITONSERVER_Server* server, TRITONSERVER_ResponseAllocator* allocator) {
  Call call;
  InitCall(&call, server, "later", allocator);
  SetInput(&call, data, 1, 8);
  OK(TRITONSERVER_InferenceRequestSetIntParameter(call.request, "depth", 20));
  Infer(server, &call, 1);
  CheckAnswer(&call, "later", data, 1, 8);
  DeleteCall(&call);

  TRITONSERVER_Message* message = NULL;
  OK(TRITONSERVER_ServerModelStatistics(server, "later", 1, &message));
  CheckMessage(message, "\"success\":{\"count\":");
}

static void TestUnknown(TRITONSERVER_Server* server, TRITONSERVER_ResponseAllocator* allocator) {
  Call call;
  InitCall(&call, server, "nowhere", allocator);
  SetInput(&call, data, 1, 8);
  Infer(server, &call, 1);
  CheckFailure(&call, TRITONSERVER_ERROR_NOT_FOUND, "absent");
  DeleteCall(&call);
}

// ---- The traces of a chain ----------------------------------------------------------------------

enum { kChain = 8 };

typedef struct Released {
  pthread_mutex_t mutex;
  pthread_cond_t changed;
  int count;
  struct {
    uint64_t id, parent;
    char model[16];
  } traces[2 * kChain];
} Released;

static void OnActivity(TRITONSERVER_InferenceTrace* trace,
                       TRITONSERVER_InferenceTraceActivity activity, uint64_t timestamp_ns,
                       void* userp) {
  (void)trace;
  (void)activity;
  (void)userp;
  CHECK(timestamp_ns != 0);
}

static void OnTraceRelease(TRITONSERVER_InferenceTrace* trace, void* userp) {
  Released* released = userp;
  const char* model = NULL;
  uint64_t id = 0, parent = 0;
  OK(TRITONSERVER_InferenceTraceId(trace, &id));
  OK(TRITONSERVER_InferenceTraceParentId(trace, &parent));
  OK(TRITONSERVER_InferenceTraceModelName(trace, &model));
  pthread_mutex_lock(&released->mutex);
  CHECK(released->count < 2 * kChain);
  released->traces[released->count].id = id;
  released->traces[released->count].parent = parent;
  snprintf(released->traces[released->count].model, 16, "%s", model);
  ++released->count;
  pthread_cond_signal(&released->changed);
  pthread_mutex_unlock(&released->mutex);
  OK(TRITONSERVER_InferenceTraceDelete(trace));
}

/* Every request of the chain has its own trace, whose parent is the trace of the previous request.
 */
static void TestChainOfTraces(TRITONSERVER_Server* server,
                              TRITONSERVER_ResponseAllocator* allocator) {
  Released released;
  memset(&released, 0, sizeof(released));
  pthread_mutex_init(&released.mutex, NULL);
  pthread_cond_init(&released.changed, NULL);
  TRITONSERVER_InferenceTrace* trace = NULL;
  OK(TRITONSERVER_InferenceTraceNew(&trace, TRITONSERVER_TRACE_LEVEL_TIMESTAMPS, 0, OnActivity,
                                    OnTraceRelease, &released));
  uint64_t id = 0;
  OK(TRITONSERVER_InferenceTraceId(trace, &id));
  Call call;
  InitCall(&call, server, "chain1", allocator);
  SetInput(&call, data, 1, 8);
  OK(TRITONSERVER_ServerInferAsync(server, call.request, trace));
  Await(&call, 1);
  CheckAnswer(&call, "chain1", data, 1, 8);
  pthread_mutex_lock(&released.mutex);
  while (released.count < kChain + 1) pthread_cond_wait(&released.changed, &released.mutex);
  pthread_mutex_unlock(&released.mutex);
  CHECK(released.count == kChain + 1);
  uint64_t parent = 0;
  for (int step = 1; step <= kChain + 1; ++step) {
    char model[16];
    snprintf(model, sizeof(model), step <= kChain ? "chain%d" : "one", step);
    int at = 0;
    while (at < released.count && strcmp(released.traces[at].model, model) != 0) ++at;
    CHECK(at < released.count);
    CHECK(released.traces[at].parent == parent);
    parent = released.traces[at].id;
    if (step == 1) CHECK(parent == id);
  }
  DeleteCall(&call);
}

// ---- One that waits for itself ------------------------------------------------------------------

typedef struct Queued {
  pthread_mutex_t mutex;
  pthread_cond_t changed;
  int count;
} Queued;

static void OnQueued(TRITONSERVER_InferenceTrace* trace,
                     TRITONSERVER_InferenceTraceActivity activity, uint64_t timestamp_ns,
                     void* userp) {
  (void)trace;
  (void)timestamp_ns;
  Queued* queued = userp;
  if (activity != TRITONSERVER_TRACE_QUEUE_START) return;
  pthread_mutex_lock(&queued->mutex);
  ++queued->count;
  pthread_cond_signal(&queued->changed);
  pthread_mutex_unlock(&queued->mutex);
}

static void DeleteTrace(TRITONSERVER_InferenceTrace* trace, void* userp) {
  (void)userp;
  OK(TRITONSERVER_InferenceTraceDelete(trace));
}

/* A model whose instances all wait for an answer of that same model hangs, as in Triton, until the
 * request is cancelled. Then it serves as before. */
static void TestWaitingForItself(TRITONSERVER_Server* server,
                                 TRITONSERVER_ResponseAllocator* allocator) {
  Queued queued;
  memset(&queued, 0, sizeof(queued));
  pthread_mutex_init(&queued.mutex, NULL);
  pthread_cond_init(&queued.changed, NULL);
  TRITONSERVER_InferenceTrace* trace = NULL;
  OK(TRITONSERVER_InferenceTraceNew(&trace, TRITONSERVER_TRACE_LEVEL_TIMESTAMPS, 0, OnQueued,
                                    DeleteTrace, &queued));
  Call call;
  InitCall(&call, server, "single", allocator);
  SetInput(&call, data, 1, 8);
  OK(TRITONSERVER_InferenceRequestSetIntParameter(call.request, "depth", 1));
  OK(TRITONSERVER_ServerInferAsync(server, call.request, trace));
  // The request is being executed, and the request that it made waits for its instance.
  pthread_mutex_lock(&queued.mutex);
  while (queued.count < 2) pthread_cond_wait(&queued.changed, &queued.mutex);
  pthread_mutex_unlock(&queued.mutex);
  CHECK(call.finals == 0);
  OK(TRITONSERVER_InferenceRequestCancel(call.request));
  Await(&call, 1);
  CheckFailure(&call, TRITONSERVER_ERROR_CANCELLED, "");
  DeleteCall(&call);
  TestAnswer(server, allocator, "single");
}

int main(int argc, char** argv) {
  if (argc != 3) {
    fprintf(stderr, "usage: %s BACKEND_DIRECTORY PLUGIN_DIRECTORY\n", argv[0]);
    return 2;
  }
  MakeRepository();
  MakeModel("one", "instance_group { kind: KIND_CPU count: 1 }\n");
  MakeForward("waiting", "one", true, 2, argv[2]);
  MakeForward("later", "one", false, 1, argv[2]);
  MakeForward("single", "one", true, 1, argv[2]);
  MakeForward("nowhere", "absent", true, 1, argv[2]);
  for (int i = 1; i <= kChain; ++i) {
    char name[32], to[32];
    snprintf(name, sizeof(name), "chain%d", i);
    snprintf(to, sizeof(to), i < kChain ? "chain%d" : "one", i + 1);
    MakeForward(name, to, true, 1, argv[2]);
  }
  TRITONSERVER_ServerOptions* options = NewOptions(argv[1]);
  OK(TRITONSERVER_ServerOptionsSetStartupModel(options, "*"));
  TRITONSERVER_Server* server = StartServer(options);
  TRITONSERVER_ResponseAllocator* allocator = NewAllocator();
  TestAnswer(server, allocator, "waiting");
  TestAnswer(server, allocator, "later");
  TestAnswer(server, allocator, "chain1");
  TestManyClients(server, allocator, "waiting");
  TestManyClients(server, allocator, "later");
  TestManyClients(server, allocator, "chain1");
  TestItself(server, allocator);
  TestWaitingForItself(server, allocator);
  TestUnknown(server, allocator);
  TestChainOfTraces(server, allocator);
  OK(TRITONSERVER_ServerDelete(server));
  OK(TRITONSERVER_ResponseAllocatorDelete(allocator));
  printf("all right\n");
  return 0;
}
