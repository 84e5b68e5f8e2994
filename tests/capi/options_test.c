// SPDX-License-Identifier: Apache-2.0
// The options of a server and their effects; repositories that are registered and unregistered; the
// log.
//
//   capi_options_test BACKEND_DIRECTORY
#include "in_process.h"

static const float data[2] = {1.0f, 2.0f};

// ---- The log ------------------------------------------------------------------------------------

/* Returns whether the file contains the text. */
static bool FileContains(const char* path, const char* part) {
  static char text[65536];
  FILE* file = fopen(path, "r");
  CHECK(file != NULL);
  const size_t size = fread(text, 1, sizeof(text) - 1, file);
  text[size] = '\0';
  fclose(file);
  return strstr(text, part) != NULL;
}

/* The settings belong to the process: they need no options, and apply at once. */
static void TestLog(void) {
  char path[512];
  snprintf(path, sizeof(path), "%s/log.txt", RepositoryPath());
  OK(TRITONSERVER_ServerOptionsSetLogFile(NULL, path));
  OK(TRITONSERVER_ServerOptionsSetLogFormat(NULL, TRITONSERVER_LOG_ISO8601));
  OK(TRITONSERVER_LogMessage(TRITONSERVER_LOG_INFO, "some/file.c", 12, "an information"));
  CHECK(FileContains(path, "Z I ") && FileContains(path, "file.c:12] \"an information\""));
  OK(TRITONSERVER_ServerOptionsSetLogInfo(NULL, false));
  OK(TRITONSERVER_ServerOptionsSetLogWarn(NULL, false));
  OK(TRITONSERVER_ServerOptionsSetLogError(NULL, false));
  CHECK(!TRITONSERVER_LogIsEnabled(TRITONSERVER_LOG_INFO));
  CHECK(!TRITONSERVER_LogIsEnabled(TRITONSERVER_LOG_WARN));
  CHECK(!TRITONSERVER_LogIsEnabled(TRITONSERVER_LOG_ERROR));
  CHECK(!TRITONSERVER_LogIsEnabled(TRITONSERVER_LOG_VERBOSE));
  OK(TRITONSERVER_LogMessage(TRITONSERVER_LOG_ERROR, "some/file.c", 13, "not to be seen"));
  OK(TRITONSERVER_LogMessage(TRITONSERVER_LOG_VERBOSE, "some/file.c", 14, "not to be seen"));
  OK(TRITONSERVER_ServerOptionsSetLogVerbose(NULL, 1));
  CHECK(TRITONSERVER_LogIsEnabled(TRITONSERVER_LOG_VERBOSE));
  OK(TRITONSERVER_LogMessage(TRITONSERVER_LOG_VERBOSE, "some/file.c", 15, "in detail"));
  CHECK(FileContains(path, "in detail") && !FileContains(path, "not to be seen"));
  FAILS(TRITONSERVER_LogMessage((TRITONSERVER_LogLevel)9, "some/file.c", 16, "what"),
        TRITONSERVER_ERROR_INVALID_ARG, "unknown logging level '9'");

  OK(TRITONSERVER_ServerOptionsSetLogVerbose(NULL, 0));
  OK(TRITONSERVER_ServerOptionsSetLogInfo(NULL, true));
  OK(TRITONSERVER_ServerOptionsSetLogWarn(NULL, true));
  OK(TRITONSERVER_ServerOptionsSetLogError(NULL, true));
  OK(TRITONSERVER_ServerOptionsSetLogFormat(NULL, TRITONSERVER_LOG_DEFAULT));
  OK(TRITONSERVER_ServerOptionsSetLogFile(NULL, ""));
}

// ---- Repositories -------------------------------------------------------------------------------

static void CheckIndex(TRITONSERVER_Server* server, const char* part) {
  TRITONSERVER_Message* message = NULL;
  OK(TRITONSERVER_ServerModelIndex(server, 0, &message));
  CheckMessage(message, part);
}

static void CheckServes(TRITONSERVER_Server* server, TRITONSERVER_ResponseAllocator* allocator,
                        const char* model) {
  Call call;
  InitCall(&call, server, model, allocator);
  SetInput(&call, data, 1, 2);
  Infer(server, &call, 1);
  CheckAnswer(&call, model, data, 1, 2);
  DeleteCall(&call);
}

static void TestRepositories(TRITONSERVER_Server* server, TRITONSERVER_ResponseAllocator* allocator,
                             const char* more) {
  FAILS(TRITONSERVER_ServerLoadModel(server, "elsewhere"), TRITONSERVER_ERROR_NOT_FOUND,
        "failed to poll");
  FAILS(TRITONSERVER_ServerRegisterModelRepository(server, "/nonexistent", NULL, 0),
        TRITONSERVER_ERROR_INVALID_ARG, "repository not found");
  OK(TRITONSERVER_ServerRegisterModelRepository(server, more, NULL, 0));
  FAILS(TRITONSERVER_ServerRegisterModelRepository(server, more, NULL, 0),
        TRITONSERVER_ERROR_ALREADY_EXISTS, "has already been registered");
  OK(TRITONSERVER_ServerLoadModel(server, "elsewhere"));
  CheckServes(server, allocator, "elsewhere");
  CheckIndex(server, "{\"name\":\"elsewhere\",\"version\":\"1\",\"state\":\"READY\"}");

  // A served model continues to serve; a model that is not served is not found any more.
  OK(TRITONSERVER_ServerUnregisterModelRepository(server, more));
  FAILS(TRITONSERVER_ServerUnregisterModelRepository(server, more), TRITONSERVER_ERROR_INVALID_ARG,
        "repository not found");
  CheckServes(server, allocator, "elsewhere");
  OK(TRITONSERVER_ServerUnloadModel(server, "elsewhere"));
  FAILS(TRITONSERVER_ServerLoadModel(server, "elsewhere"), TRITONSERVER_ERROR_NOT_FOUND,
        "failed to poll");

  // With another name.
  const TRITONSERVER_Parameter* mapping[2] = {
      TRITONSERVER_ParameterNew("elsewhere", TRITONSERVER_PARAMETER_STRING, "renamed"),
      TRITONSERVER_ParameterNew("other", TRITONSERVER_PARAMETER_STRING, "renamed")};
  FAILS(TRITONSERVER_ServerRegisterModelRepository(server, more, mapping, 2),
        TRITONSERVER_ERROR_INVALID_ARG, "conflicting mapping for 'renamed'");
  OK(TRITONSERVER_ServerRegisterModelRepository(server, more, mapping, 1));
  OK(TRITONSERVER_ServerLoadModel(server, "renamed"));
  CheckServes(server, allocator, "renamed");
  CheckIndex(server, "{\"name\":\"renamed\",\"version\":\"1\",\"state\":\"READY\"}");
  FAILS(TRITONSERVER_ServerLoadModel(server, "elsewhere"), TRITONSERVER_ERROR_NOT_FOUND,
        "failed to poll");
  OK(TRITONSERVER_ServerUnregisterModelRepository(server, more));
  for (int i = 0; i < 2; ++i) TRITONSERVER_ParameterDelete((TRITONSERVER_Parameter*)mapping[i]);

  // A mapping has priority over the other repositories' directories of that name.
  const TRITONSERVER_Parameter* taken[1] = {
      TRITONSERVER_ParameterNew("elsewhere", TRITONSERVER_PARAMETER_STRING, "broken")};
  OK(TRITONSERVER_ServerRegisterModelRepository(server, more, taken, 1));
  OK(TRITONSERVER_ServerLoadModel(server, "broken"));
  CheckServes(server, allocator, "broken");
  CheckIndex(server, "{\"name\":\"broken\",\"version\":\"1\",\"state\":\"READY\"}");
  OK(TRITONSERVER_ServerUnloadModel(server, "broken"));
  OK(TRITONSERVER_ServerUnregisterModelRepository(server, more));
  TRITONSERVER_ParameterDelete((TRITONSERVER_Parameter*)taken[0]);

  const bool flag = true;
  const TRITONSERVER_Parameter* wrong[1] = {
      TRITONSERVER_ParameterNew("elsewhere", TRITONSERVER_PARAMETER_BOOL, &flag)};
  FAILS(TRITONSERVER_ServerRegisterModelRepository(server, more, wrong, 1),
        TRITONSERVER_ERROR_INVALID_ARG, "must be a string");
  TRITONSERVER_ParameterDelete((TRITONSERVER_Parameter*)wrong[0]);
  const TRITONSERVER_Parameter* outside[1] = {
      TRITONSERVER_ParameterNew("../models", TRITONSERVER_PARAMETER_STRING, "sneaky")};
  FAILS(TRITONSERVER_ServerRegisterModelRepository(server, more, outside, 1),
        TRITONSERVER_ERROR_INVALID_ARG, "'../models'");
  TRITONSERVER_ParameterDelete((TRITONSERVER_Parameter*)outside[0]);
}

// ---- Options ------------------------------------------------------------------------------------

/* Sets options without a visible effect on a machine without a GPU; they must be accepted. */
static void SetQuietOptions(TRITONSERVER_ServerOptions* options) {
  OK(TRITONSERVER_ServerOptionsSetPinnedMemoryPoolByteSize(options, 1 << 20));
  OK(TRITONSERVER_ServerOptionsSetCudaMemoryPoolByteSize(options, 0, 1 << 20));
  OK(TRITONSERVER_ServerOptionsSetMinSupportedComputeCapability(options, 7.5));
  OK(TRITONSERVER_ServerOptionsSetBufferManagerThreadCount(options, 2));
  OK(TRITONSERVER_ServerOptionsSetModelLoadThreadCount(options, 2));
  OK(TRITONSERVER_ServerOptionsSetModelLoadRetryCount(options, 1));
  OK(TRITONSERVER_ServerOptionsSetEnablePeerAccess(options, false));
  OK(TRITONSERVER_ServerOptionsSetGpuMetrics(options, false));
  OK(TRITONSERVER_ServerOptionsSetRepoAgentDirectory(options, "/nonexistent"));
  OK(TRITONSERVER_ServerOptionsSetCudaVirtualAddressSize(options, 0, 1 << 20));
}

/* Readiness that is not strict does not depend on the models. */
static void TestReadiness(const char* backends) {
  for (int strict = 0; strict <= 1; ++strict) {
    TRITONSERVER_ServerOptions* options = NewOptions(backends);
    OK(TRITONSERVER_ServerOptionsSetStrictReadiness(options, strict != 0));
    OK(TRITONSERVER_ServerOptionsSetExitOnError(options, false));
    OK(TRITONSERVER_ServerOptionsSetMetrics(options, strict == 0));
    OK(TRITONSERVER_ServerOptionsSetCpuMetrics(options, false));
    TRITONSERVER_Server* server = StartServer(options);
    OK(TRITONSERVER_ServerLoadModel(server, "copy"));
    TRITONSERVER_Error* error = TRITONSERVER_ServerLoadModel(server, "broken");
    CHECK(error != NULL);
    TRITONSERVER_ErrorDelete(error);
    bool ready = true;
    OK(TRITONSERVER_ServerIsReady(server, &ready));
    CHECK(ready == (strict == 0));
    if (strict == 0) CheckMetrics(server, "nv_inference_request_success{model=\"copy\"");
    TRITONSERVER_Metrics* metrics = NULL;
    OK(TRITONSERVER_ServerMetrics(server, &metrics));
    const char* base = NULL;
    size_t size = 0;
    OK(TRITONSERVER_MetricsFormatted(metrics, TRITONSERVER_METRIC_PROMETHEUS, &base, &size));
    CHECK(size == 0 || strstr(base, "nv_cpu_utilization") == NULL);
    OK(TRITONSERVER_MetricsDelete(metrics));
    OK(TRITONSERVER_ServerSetExitTimeout(server, 10));
    OK(TRITONSERVER_ServerDelete(server));
  }
}

/* The server waits no longer than the exit timeout for a request that is executed for a minute. */
static void TestExitTimeout(TRITONSERVER_Server* server,
                            TRITONSERVER_ResponseAllocator* allocator) {
  Call call;
  InitCall(&call, server, "slow", allocator);
  SetInput(&call, data, 1, 2);
  OK(TRITONSERVER_ServerInferAsync(server, call.request, NULL));
  OK(TRITONSERVER_ServerSetExitTimeout(server, 0));
  FAILS(TRITONSERVER_ServerStop(server), TRITONSERVER_ERROR_INTERNAL, "Exit timeout expired");
  OK(TRITONSERVER_InferenceRequestCancel(call.request));
  Await(&call, 1);
  CheckFailure(&call, TRITONSERVER_ERROR_CANCELLED, "");
  DeleteCall(&call);
  OK(TRITONSERVER_ServerSetExitTimeout(server, 20));
}

static void TestPriority(TRITONSERVER_Server* server, TRITONSERVER_ResponseAllocator* allocator) {
  Call call;
  uint64_t priority = 0;
  uint32_t small = 0;
  InitCall(&call, server, "copy", allocator);
  OK(TRITONSERVER_InferenceRequestSetPriorityUInt64(call.request, (uint64_t)1 << 40));
  OK(TRITONSERVER_InferenceRequestPriorityUInt64(call.request, &priority));
  CHECK(priority == (uint64_t)1 << 40);
  FAILS(TRITONSERVER_InferenceRequestPriority(call.request, &small), TRITONSERVER_ERROR_INVALID_ARG,
        "32 bits");
  DeleteCall(&call);
}

/* The metrics that the program creates are on the server's page. */
static void TestCustomMetrics(TRITONSERVER_Server* server) {
  TRITONSERVER_MetricFamily* family = NULL;
  TRITONSERVER_Metric* metric = NULL;
  TRITONSERVER_MetricKind kind = TRITONSERVER_METRIC_KIND_COUNTER;
  double value = 0;
  OK(TRITONSERVER_MetricFamilyNew(&family, TRITONSERVER_METRIC_KIND_GAUGE, "my_gauge",
                                  "What I see"));
  OK(TRITONSERVER_GetMetricFamilyKind(family, &kind));
  CHECK(kind == TRITONSERVER_METRIC_KIND_GAUGE);
  TRITONSERVER_Parameter* label =
      TRITONSERVER_ParameterNew("where", TRITONSERVER_PARAMETER_STRING, "here");
  const TRITONSERVER_Parameter* labels[1] = {label};
  OK(TRITONSERVER_MetricNew(&metric, family, labels, 1));
  TRITONSERVER_ParameterDelete(label);
  OK(TRITONSERVER_MetricSet(metric, 2.5));
  OK(TRITONSERVER_MetricIncrement(metric, 1));
  OK(TRITONSERVER_MetricValue(metric, &value));
  CHECK(value == 3.5);
  CheckMetrics(server, "my_gauge{where=\"here\"} 3.5\n");
  FAILS(TRITONSERVER_MetricFamilyDelete(family), TRITONSERVER_ERROR_INTERNAL, "");
  OK(TRITONSERVER_MetricDelete(metric));
  OK(TRITONSERVER_MetricFamilyDelete(family));
}

int main(int argc, char** argv) {
  if (argc != 2) {
    fprintf(stderr, "usage: %s BACKEND_DIRECTORY\n", argv[0]);
    return 2;
  }
  MakeRepository();
  char more[256];
  snprintf(more, sizeof(more), "%s", MakeFolder("more"));
  MakeModel("copy", "");
  MakeModel("slow",
            "parameters { key: \"execute_delay_ms\" value: { string_value: \"60000\" } }\n");
  MakeModelOf("broken", "backend: \"nobody\"\n");
  MakeModel("more/elsewhere", "");
  TestLog();
  TestReadiness(argv[1]);

  TRITONSERVER_ServerOptions* options = NewOptions(argv[1]);
  SetQuietOptions(options);
  TRITONSERVER_Server* server = StartServer(options);
  TRITONSERVER_ResponseAllocator* allocator = NewAllocator();
  OK(TRITONSERVER_ServerLoadModel(server, "copy"));
  OK(TRITONSERVER_ServerLoadModel(server, "slow"));
  TestRepositories(server, allocator, more);
  TestPriority(server, allocator);
  TestCustomMetrics(server);
  TestExitTimeout(server, allocator);
  OK(TRITONSERVER_ServerDelete(server));
  OK(TRITONSERVER_ResponseAllocatorDelete(allocator));

  // Repositories can be registered only in mode EXPLICIT.
  options = NewOptions(argv[1]);
  OK(TRITONSERVER_ServerOptionsSetModelControlMode(options, TRITONSERVER_MODEL_CONTROL_NONE));
  OK(TRITONSERVER_ServerOptionsSetExitOnError(options, false));
  server = StartServer(options);
  FAILS(TRITONSERVER_ServerRegisterModelRepository(server, more, NULL, 0),
        TRITONSERVER_ERROR_UNSUPPORTED, "EXPLICIT");
  FAILS(TRITONSERVER_ServerUnregisterModelRepository(server, more), TRITONSERVER_ERROR_UNSUPPORTED,
        "EXPLICIT");
  OK(TRITONSERVER_ServerDelete(server));
  printf("all right\n");
  return 0;
}
