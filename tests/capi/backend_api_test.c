// SPDX-License-Identifier: Apache-2.0
// Calls every function that the server provides to backends and repository agents. The plug-ins
// tests/plugins/every_call.cc and every_agent.cc make the checks; this program sends the requests.
//
//   capi_backend_api_test BACKEND_DIRECTORY PLUGIN_DIRECTORY AGENT_DIRECTORY
#include "in_process.h"

static const float data[3] = {1.0f, 2.0f, 3.0f};
/* The same tensor for another host policy, with different values. */
static const float policy_data[3] = {10.0f, 20.0f, 30.0f};

static TRITONSERVER_Error* Query(TRITONSERVER_ResponseAllocator* allocator, void* userp,
                                 const char* tensor_name, size_t* byte_size,
                                 TRITONSERVER_MemoryType* memory_type, int64_t* memory_type_id) {
  (void)allocator;
  (void)userp;
  CHECK(strcmp(tensor_name, "OUTPUT0") == 0 && *byte_size == 12);
  CHECK(*memory_type == TRITONSERVER_MEMORY_GPU && *memory_type_id == 7);
  *memory_type = TRITONSERVER_MEMORY_CPU;
  *memory_type_id = 0;
  return NULL;
}

static int attribute_calls = 0;

static TRITONSERVER_Error* Attributes(TRITONSERVER_ResponseAllocator* allocator,
                                      const char* tensor_name,
                                      TRITONSERVER_BufferAttributes* buffer_attributes, void* userp,
                                      void* buffer_userp) {
  (void)allocator;
  (void)userp;
  (void)buffer_userp;
  size_t size = 0;
  CHECK(strcmp(tensor_name, "OUTPUT0") == 0);
  OK(TRITONSERVER_BufferAttributesByteSize(buffer_attributes, &size));
  CHECK(size == 12);
  ++attribute_calls;
  return NULL;
}

static void OnActivity(TRITONSERVER_InferenceTrace* trace,
                       TRITONSERVER_InferenceTraceActivity activity, uint64_t timestamp_ns,
                       void* userp) {
  (void)trace;
  (void)activity;
  (void)timestamp_ns;
  (void)userp;
}

static void DeleteTrace(TRITONSERVER_InferenceTrace* trace, void* userp) {
  (void)userp;
  OK(TRITONSERVER_InferenceTraceDelete(trace));
}

static void FillRequest(TRITONSERVER_InferenceRequest* request) {
  const int64_t shape[2] = {1, 3};
  OK(TRITONSERVER_InferenceRequestAddInput(request, "INPUT0", TRITONSERVER_TYPE_FP32, shape, 2));
  OK(TRITONSERVER_InferenceRequestAppendInputData(request, "INPUT0", data, 4,
                                                  TRITONSERVER_MEMORY_CPU, 0));
  OK(TRITONSERVER_InferenceRequestAppendInputData(request, "INPUT0", data + 1, 8,
                                                  TRITONSERVER_MEMORY_CPU, 0));
  OK(TRITONSERVER_InferenceRequestAppendInputDataWithHostPolicy(
      request, "INPUT0", policy_data, 12, TRITONSERVER_MEMORY_CPU, 0, "here"));
  OK(TRITONSERVER_InferenceRequestSetId(request, "the id"));
  OK(TRITONSERVER_InferenceRequestSetCorrelationIdString(request, "the sequence"));
  OK(TRITONSERVER_InferenceRequestSetFlags(request, TRITONSERVER_REQUEST_FLAG_SEQUENCE_START));
  OK(TRITONSERVER_InferenceRequestSetTimeoutMicroseconds(request, 60000000));
  OK(TRITONSERVER_InferenceRequestSetStringParameter(request, "text", "a text"));
  OK(TRITONSERVER_InferenceRequestSetIntParameter(request, "number", -5));
  OK(TRITONSERVER_InferenceRequestSetBoolParameter(request, "flag", true));
  OK(TRITONSERVER_InferenceRequestSetDoubleParameter(request, "half", 0.5));
}

/* Checks the parameters that the backend gave its response. */
static void CheckParameters(TRITONSERVER_InferenceResponse* response) {
  uint32_t count = 0;
  const char* name = NULL;
  TRITONSERVER_ParameterType type;
  const void* value = NULL;
  OK(TRITONSERVER_InferenceResponseParameterCount(response, &count));
  CHECK(count == 4);
  OK(TRITONSERVER_InferenceResponseParameter(response, 0, &name, &type, &value));
  CHECK(strcmp(name, "text") == 0 && strcmp(value, "a text") == 0);
  OK(TRITONSERVER_InferenceResponseParameter(response, 1, &name, &type, &value));
  CHECK(type == TRITONSERVER_PARAMETER_INT && *(const int64_t*)value == -5);
  OK(TRITONSERVER_InferenceResponseParameter(response, 2, &name, &type, &value));
  CHECK(type == TRITONSERVER_PARAMETER_BOOL && *(const bool*)value);
  OK(TRITONSERVER_InferenceResponseParameter(response, 3, &name, &type, &value));
  CHECK(type == TRITONSERVER_PARAMETER_DOUBLE && *(const double*)value == 0.5);
  FAILS(TRITONSERVER_InferenceResponseParameter(response, 4, &name, &type, &value),
        TRITONSERVER_ERROR_INVALID_ARG, "out of bounds index 4");
}

static void TestRequest(TRITONSERVER_Server* server, TRITONSERVER_ResponseAllocator* allocator) {
  Call call;
  InitCall(&call, server, "every", allocator);
  FillRequest(call.request);
  TRITONSERVER_InferenceTrace* trace = NULL;
  OK(TRITONSERVER_InferenceTraceNew(&trace, TRITONSERVER_TRACE_LEVEL_TIMESTAMPS, 0, OnActivity,
                                    DeleteTrace, NULL));
  OK(TRITONSERVER_ServerInferAsync(server, call.request, trace));
  Await(&call, 1);
  TRITONSERVER_Error* error = TRITONSERVER_InferenceResponseError(call.response);
  if (error != NULL) fprintf(stderr, "%s\n", TRITONSERVER_ErrorMessage(error));
  CHECK(error == NULL);
  CheckParameters(call.response);
  CheckAnswer(&call, "every", policy_data, 1, 3);
  CHECK(attribute_calls == 1);

  // The data for a policy must be a whole tensor, like the other data.
  OK(TRITONSERVER_InferenceRequestAppendInputDataWithHostPolicy(
      call.request, "INPUT0", policy_data, 4, TRITONSERVER_MEMORY_CPU, 0, "here"));
  FAILS(TRITONSERVER_ServerInferAsync(server, call.request, NULL), TRITONSERVER_ERROR_INVALID_ARG,
        "host policy 'here'");
  OK(TRITONSERVER_InferenceRequestRemoveAllInputData(call.request, "INPUT0"));
  FAILS(TRITONSERVER_InferenceRequestAppendInputDataWithHostPolicy(
            call.request, "INPUT1", policy_data, 4, TRITONSERVER_MEMORY_CPU, 0, "here"),
        TRITONSERVER_ERROR_INVALID_ARG, "INPUT1");
  DeleteCall(&call);
}

static void TestReports(TRITONSERVER_Server* server) {
  static const char* const parts[] = {
      "\"execution_count\":1", "\"inference_count\":1",
      /* The last report of the instance, and the model's. */
      "\"memory_usage\":[{\"type\":\"CPU\",\"id\":0,\"byte_size\":1234},"
      "{\"type\":\"CPU\",\"id\":0,\"byte_size\":4321}]",
      "\"response_stats\":{\"0\":{"};
  for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); ++i) {
    TRITONSERVER_Message* message = NULL;
    OK(TRITONSERVER_ServerModelStatistics(server, "every", 1, &message));
    CheckMessage(message, parts[i]);
  }
  bool ready = false;
  OK(TRITONSERVER_ServerModelIsReady(server, "every", -1, &ready));
  CHECK(ready);
  // The configuration that the backend completed.
  TRITONSERVER_Message* message = NULL;
  OK(TRITONSERVER_ServerModelMetadata(server, "every", -1, &message));
  CheckMessage(message, "{\"name\":\"OUTPUT0\",\"datatype\":\"FP32\",\"shape\":[-1,-1]}");
}

/* The agent moves the model: the served model has the agent's label. */
static void TestAgent(TRITONSERVER_Server* server, TRITONSERVER_ResponseAllocator* allocator) {
  Call call;
  InitCall(&call, server, "moved", allocator);
  SetInput(&call, data, 1, 3);
  Infer(server, &call, 1);
  const char* label = NULL;
  OK(TRITONSERVER_InferenceResponseOutputClassificationLabel(call.response, 0, 0, &label));
  CHECK(strcmp(label, "moved") == 0);
  CheckAnswer(&call, "moved", data, 1, 3);
  DeleteCall(&call);
  FAILS(TRITONSERVER_ServerLoadModel(server, "refused"), TRITONSERVER_ERROR_INTERNAL, "refused");
}

int main(int argc, char** argv) {
  if (argc != 4) {
    fprintf(stderr, "usage: %s BACKENDS PLUGINS AGENTS\n", argv[0]);
    return 2;
  }
  MakeRepository();
  MakeModelOf("every",
              "backend: \"every_call\" max_batch_size: 8\n"
              "input [ { name: \"INPUT0\" data_type: TYPE_FP32 dims: [ -1 ] } ]\n"
              "instance_group { name: \"the_group\" kind: KIND_CPU count: 1\n"
              "  host_policy: \"here\"\n"
              "  secondary_devices { kind: KIND_NVDLA device_id: 5 } }\n");
  LinkBackend("every", argv[2], "every_call");
  MakeModel("moved",
            "model_repository_agents { agents { name: \"every_agent\"\n"
            "  parameters { key: \"label\" value: \"moved\" } } }\n");
  MakeModel("refused",
            "model_repository_agents { agents { name: \"every_agent\"\n"
            "  parameters { key: \"label\" value: \"none\" } } }\n");

  TRITONSERVER_ServerOptions* options = NewOptions(argv[1]);
  OK(TRITONSERVER_ServerOptionsSetBackendConfig(options, "every_call", "asked", "for"));
  OK(TRITONSERVER_ServerOptionsSetHostPolicy(options, "here", "cpu-cores", "0-0"));
  OK(TRITONSERVER_ServerOptionsSetRepoAgentDirectory(options, argv[3]));
  TRITONSERVER_Server* server = StartServer(options);
  TRITONSERVER_ResponseAllocator* allocator = NewAllocator();
  OK(TRITONSERVER_ResponseAllocatorSetQueryFunction(allocator, Query));
  OK(TRITONSERVER_ResponseAllocatorSetBufferAttributesFunction(allocator, Attributes));
  OK(TRITONSERVER_ServerLoadModel(server, "every"));
  OK(TRITONSERVER_ServerLoadModel(server, "moved"));
  TestRequest(server, allocator);
  TestReports(server);
  TestAgent(server, allocator);
  OK(TRITONSERVER_ServerDelete(server));
  OK(TRITONSERVER_ResponseAllocatorDelete(allocator));
  printf("all right\n");
  return 0;
}
