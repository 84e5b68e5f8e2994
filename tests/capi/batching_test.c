// SPDX-License-Identifier: Apache-2.0
// A custom batching library (tests/plugins/at_most.cc) closes the batches of a model.
//
//   capi_batching_test BACKEND_DIRECTORY PLUGIN_DIRECTORY
#include "in_process.h"

static const float data[2] = {1.0f, 2.0f};

/* A model whose requests wait for an hour unless the library closes their batch. */
static const char kBatching[] =
    "instance_group { kind: KIND_CPU count: 1 }\n"
    "dynamic_batching { max_queue_delay_microseconds: 3600000000 }\n"
    "parameters { key: \"at_most\" value: { string_value: \"2\" } }\n";

static void Submit(TRITONSERVER_Server* server, Call* call) {
  OK(TRITONSERVER_ServerInferAsync(server, call->request, NULL));
}

static void CheckStatistics(TRITONSERVER_Server* server, const char* model, const char* part) {
  TRITONSERVER_Message* message = NULL;
  OK(TRITONSERVER_ServerModelStatistics(server, model, 1, &message));
  CheckMessage(message, part);
}

/* The third request closes the batch of the first two. */
static void TestClosing(TRITONSERVER_Server* server, TRITONSERVER_ResponseAllocator* allocator,
                        const char* model) {
  Call calls[3];
  for (int i = 0; i < 3; ++i) {
    InitCall(&calls[i], server, model, allocator);
    SetInput(&calls[i], data, 1, 2);
    Submit(server, &calls[i]);
  }
  for (int i = 0; i < 2; ++i) {
    Await(&calls[i], 1);
    CheckAnswer(&calls[i], model, data, 1, 2);
  }
  CheckStatistics(server, model, "\"execution_count\":1,");
  CheckStatistics(server, model, "\"batch_size\":2,");
  char part[128];
  snprintf(part, sizeof(part),
           "nereid_batch_closed_total{model=\"%s\",reason=\"strategy\",version=\"1\"} 1\n", model);
  CheckMetrics(server, part);
  CHECK(calls[2].finals == 0);
  OK(TRITONSERVER_InferenceRequestCancel(calls[2].request));
  Await(&calls[2], 1);
  CheckFailure(&calls[2], TRITONSERVER_ERROR_CANCELLED, "");
  for (int i = 0; i < 3; ++i) DeleteCall(&calls[i]);
}

/* If the library fails, its decision is ignored: the batch grows to max_batch_size. */
static void TestFailing(TRITONSERVER_Server* server, TRITONSERVER_ResponseAllocator* allocator) {
  Call calls[8];
  for (int i = 0; i < 8; ++i) {
    InitCall(&calls[i], server, "confused", allocator);
    SetInput(&calls[i], data, 1, 2);
    OK(TRITONSERVER_InferenceRequestSetBoolParameter(calls[i].request, "confuse", true));
    Submit(server, &calls[i]);
  }
  for (int i = 0; i < 8; ++i) {
    Await(&calls[i], 1);
    CheckAnswer(&calls[i], "confused", data, 1, 2);
    DeleteCall(&calls[i]);
  }
  CheckStatistics(server, "confused", "\"batch_size\":8,");
}

int main(int argc, char** argv) {
  if (argc != 3) {
    fprintf(stderr, "usage: %s BACKEND_DIRECTORY PLUGIN_DIRECTORY\n", argv[0]);
    return 2;
  }
  char more[1024];
  MakeRepository();
  MakeModel("found", kBatching);
  LinkPlugin("found", "batchstrategy.so", argv[2], "batchstrategy_at_most.so");
  snprintf(more, sizeof(more), "%s%s", kBatching,
           "parameters { key: \"TRITON_BATCH_STRATEGY_PATH\" value: { string_value: "
           "\"1/other.so\" } }\n");
  MakeModel("named", more);
  LinkPlugin("named", "1/other.so", argv[2], "batchstrategy_at_most.so");
  MakeModel("confused", kBatching);
  LinkPlugin("confused", "1/batchstrategy.so", argv[2], "batchstrategy_at_most.so");
  snprintf(more, sizeof(more), "%s%s", kBatching,
           "parameters { key: \"TRITON_BATCH_STRATEGY_PATH\" value: { string_value: "
           "\"../found/batchstrategy.so\" } }\n");
  MakeModel("outside", more);
  MakeModel("unwilling", "dynamic_batching { }\n");
  LinkPlugin("unwilling", "batchstrategy.so", argv[2], "batchstrategy_at_most.so");
  MakeModel("no_library", "dynamic_batching { }\n");
  WriteFile("no_library/batchstrategy.so", "no shared object\n");

  TRITONSERVER_Server* server = StartServer(NewOptions(argv[1]));
  TRITONSERVER_ResponseAllocator* allocator = NewAllocator();
  OK(TRITONSERVER_ServerLoadModel(server, "found"));
  OK(TRITONSERVER_ServerLoadModel(server, "named"));
  OK(TRITONSERVER_ServerLoadModel(server, "confused"));
  TestClosing(server, allocator, "found");
  TestClosing(server, allocator, "named");
  TestFailing(server, allocator);
  FAILS(TRITONSERVER_ServerLoadModel(server, "outside"), TRITONSERVER_ERROR_INVALID_ARG,
        "outside of the model's directory");
  FAILS(TRITONSERVER_ServerLoadModel(server, "unwilling"), TRITONSERVER_ERROR_INVALID_ARG,
        "needs the parameter 'at_most'");
  FAILS(TRITONSERVER_ServerLoadModel(server, "no_library"), TRITONSERVER_ERROR_INVALID_ARG,
        "batchstrategy.so");
  OK(TRITONSERVER_ServerDelete(server));
  OK(TRITONSERVER_ResponseAllocatorDelete(allocator));
  printf("all right\n");
  return 0;
}
