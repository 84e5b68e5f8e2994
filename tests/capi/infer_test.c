// SPDX-License-Identifier: Apache-2.0
// A plain C program with a server in its own process: it loads a model, sends requests, and stops.
//
//   capi_infer_test BACKEND_DIRECTORY
#include "in_process.h"

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
  FAILS(TRITONSERVER_ServerLoadModel(server, "absent"), TRITONSERVER_ERROR_NOT_FOUND, "absent");

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

/* One request is executed for a minute, and one waits behind it: a cancellation ends both at once.
 */
static void TestCancel(TRITONSERVER_Server* server, TRITONSERVER_ResponseAllocator* allocator) {
  static const float data[2] = {1.0f, 2.0f};
  Call calls[2];
  OK(TRITONSERVER_ServerLoadModel(server, "slow"));
  for (int i = 0; i < 2; ++i) {
    InitCall(&calls[i], server, "slow", allocator);
    SetInput(&calls[i], data, 1, 2);
    OK(TRITONSERVER_ServerInferAsync(server, calls[i].request, NULL));
  }
  for (int i = 1; i >= 0; --i) {
    OK(TRITONSERVER_InferenceRequestCancel(calls[i].request));
    Await(&calls[i], 1);
    CheckFailure(&calls[i], TRITONSERVER_ERROR_CANCELLED, "");
    DeleteCall(&calls[i]);
  }
  OK(TRITONSERVER_ServerUnloadModel(server, "slow"));
}

/* One request object, used five times. */
static void TestRequest(TRITONSERVER_Server* server, TRITONSERVER_ResponseAllocator* allocator) {
  static const float first[6] = {0.5f, -1.0f, 2.25f, 3.0f, 4.0f, -5.5f};
  static const float second[3] = {7.0f, 8.0f, 9.0f};
  Call call;
  InitCall(&call, server, "copy", allocator);

  // The input is in two buffers, as a batch of two.
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
  CheckAnswer(&call, "copy", first, 2, 6);

  // The same request with other data and a named output.
  SetInput(&call, second, 1, 3);
  OK(TRITONSERVER_InferenceRequestAddRequestedOutput(call.request, "OUTPUT0"));
  OK(TRITONSERVER_ServerInferAsync(server, call.request, NULL));
  Await(&call, 2);
  CheckAnswer(&call, "copy", second, 1, 3);

  // The submission fails: no callback is called, and the caller still owns the request.
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
  CheckAnswer(&call, "copy", first, 1, 5);

  // The backend refuses the request: the response is the error.
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
    InitCall(&calls[i], server, "copy", allocator);
    SetInput(&calls[i], data[i], 2, 16);
  }
  for (int round = 1; round <= 3; ++round) {
    for (int i = 0; i < kMany; ++i) {
      OK(TRITONSERVER_ServerInferAsync(server, calls[i].request, NULL));
    }
    for (int i = 0; i < kMany; ++i) {
      Await(&calls[i], round);
      CheckAnswer(&calls[i], "copy", data[i], 2, 16);
    }
  }
  for (int i = 0; i < kMany; ++i) DeleteCall(&calls[i]);
}

static void TestStatistics(TRITONSERVER_Server* server) {
  // The successful requests: one batch of 2, two of 1, and 3 rounds in batches of 2. One request
  // failed.
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

/* A request that is not in flight does not keep its model loaded. */
static void TestUnload(TRITONSERVER_Server* server, TRITONSERVER_ResponseAllocator* allocator) {
  static const float data[2] = {1.0f, 2.0f};
  Call call;
  InitCall(&call, server, "copy", allocator);
  SetInput(&call, data, 1, 2);
  OK(TRITONSERVER_ServerInferAsync(server, call.request, NULL));
  Await(&call, 1);
  CheckAnswer(&call, "copy", data, 1, 2);

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
  CheckAnswer(&call, "copy", data, 1, 2);

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
  MakeModel("copy", "");
  MakeModel("slow",
            "instance_group { kind: KIND_CPU count: 1 }\n"
            "parameters { key: \"execute_delay_ms\" value: { string_value: \"60000\" } }\n");
  TestVersion();
  TRITONSERVER_Server* server = StartServer(NewOptions(argv[1]));
  TRITONSERVER_ResponseAllocator* allocator = NewAllocator();
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
