// SPDX-License-Identifier: Apache-2.0
// A program with a server in its process that has tensors in GPU memory: inputs, outputs, an
// ensemble, strings, failures. The GPUs are those of the fake driver.
//
//   capi_gpu_test BACKEND_DIRECTORY PLUGIN_DIRECTORY
#include <string>

#include "device/context.h"
#include "device/cuda_driver.h"
#include "in_process.h"
#include "tests/fake_gpu/control.h"

namespace {

using nereid::device::CudaDriver;
using nereid::device::CuPointer;
using nereid::device::ScopedDevice;
using nereid::fake_gpu::Control;

const CudaDriver& Driver() {
  const auto driver = CudaDriver::Get();
  CHECK(driver.ok());
  return **driver;
}

void* AllocateGpu(int gpu, size_t size) {
  const auto current = ScopedDevice::Enter(gpu);
  CuPointer data = 0;
  CHECK(current.ok() && Driver().MemAlloc(&data, size == 0 ? 1 : size) == 0);
  return reinterpret_cast<void*>(data);
}

void FreeGpu(int gpu, void* data) {
  const auto current = ScopedDevice::Enter(gpu);
  CHECK(current.ok() && Driver().MemFree(reinterpret_cast<CuPointer>(data)) == 0);
}

char* HostAddress(const void* data, size_t size) {
  void* const at = Control::Get().host_address(reinterpret_cast<uint64_t>(data), size);
  CHECK(at != nullptr);
  return static_cast<char*>(at);
}

/// GPU memory of the program with some bytes.
class GpuBytes {
 public:
  GpuBytes(int gpu, const std::string& bytes)
      : gpu_(gpu), size_(bytes.size()), data_(AllocateGpu(gpu, bytes.size())) {
    memcpy(HostAddress(data_, size_), bytes.data(), size_);
  }
  GpuBytes(const GpuBytes&) = delete;
  GpuBytes& operator=(const GpuBytes&) = delete;
  ~GpuBytes() { FreeGpu(gpu_, data_); }

  int gpu() const { return gpu_; }
  size_t size() const { return size_; }
  const void* data() const { return data_; }

 private:
  const int gpu_;
  const size_t size_;
  void* const data_;
};

/// Where the program's allocator puts outputs.
struct Wish {
  bool as_preferred = true;
  TRITONSERVER_MemoryType type = TRITONSERVER_MEMORY_CPU;
  int64_t id = 0;
};
Wish wish;
int buffers_in_use = 0;

TRITONSERVER_Error* Allocate(TRITONSERVER_ResponseAllocator*, const char*, size_t size,
                             TRITONSERVER_MemoryType type, int64_t id, void*, void** buffer,
                             void** buffer_userp, TRITONSERVER_MemoryType* actual_type,
                             int64_t* actual_id) {
  *actual_type = wish.as_preferred ? type : wish.type;
  *actual_id = wish.as_preferred ? id : wish.id;
  *buffer = *actual_type == TRITONSERVER_MEMORY_GPU
                ? AllocateGpu(static_cast<int>(*actual_id), size)
                : malloc(size + 1);
  *buffer_userp = nullptr;
  __atomic_fetch_add(&buffers_in_use, 1, __ATOMIC_SEQ_CST);
  return nullptr;
}

TRITONSERVER_Error* Release(TRITONSERVER_ResponseAllocator*, void* buffer, void*, size_t,
                            TRITONSERVER_MemoryType type, int64_t id) {
  __atomic_fetch_sub(&buffers_in_use, 1, __ATOMIC_SEQ_CST);
  if (type == TRITONSERVER_MEMORY_GPU) {
    FreeGpu(static_cast<int>(id), buffer);
  } else {
    free(buffer);
  }
  return nullptr;
}

TRITONSERVER_Error* Query(TRITONSERVER_ResponseAllocator*, void*, const char*, size_t*,
                          TRITONSERVER_MemoryType* type, int64_t* id) {
  if (!wish.as_preferred) {
    *type = wish.type;
    *id = wish.id;
  }
  return nullptr;
}

void SetInput(Call* call, const char* name, TRITONSERVER_DataType datatype, int64_t count,
              const GpuBytes& bytes) {
  OK(TRITONSERVER_InferenceRequestRemoveAllInputs(call->request));
  OK(TRITONSERVER_InferenceRequestAddInput(call->request, name, datatype, &count, 1));
  OK(TRITONSERVER_InferenceRequestAppendInputData(call->request, name, bytes.data(), bytes.size(),
                                                  TRITONSERVER_MEMORY_GPU, bytes.gpu()));
}

/// Checks the only output and deletes the response.
void CheckOutput(Call* call, const std::string& bytes, TRITONSERVER_MemoryType type, int64_t id) {
  OK(TRITONSERVER_InferenceResponseError(call->response));
  const char* name = nullptr;
  TRITONSERVER_DataType datatype = TRITONSERVER_TYPE_INVALID;
  const int64_t* shape = nullptr;
  uint64_t rank = 0;
  const void* base = nullptr;
  size_t size = 0;
  TRITONSERVER_MemoryType actual = TRITONSERVER_MEMORY_CPU_PINNED;
  int64_t actual_id = -1;
  void* userp = nullptr;
  OK(TRITONSERVER_InferenceResponseOutput(call->response, 0, &name, &datatype, &shape, &rank, &base,
                                          &size, &actual, &actual_id, &userp));
  CHECK(actual == type);
  CHECK(actual_id == id);
  CHECK(size == bytes.size());
  const char* const content =
      actual == TRITONSERVER_MEMORY_GPU ? HostAddress(base, size) : static_cast<const char*>(base);
  CHECK(memcmp(content, bytes.data(), size) == 0);
  OK(TRITONSERVER_InferenceResponseDelete(call->response));
  CHECK(buffers_in_use == 0);
}

const std::string kBytes = "four floats here";  // 16 bytes

void TestOnTheGpu(TRITONSERVER_Server* server, TRITONSERVER_ResponseAllocator* allocator) {
  const GpuBytes same(0, kBytes), other(1, kBytes);
  int submissions = 0;
  Call call;
  InitCall(&call, server, "on_gpu", allocator);
  for (const GpuBytes* const input : {&same, &other}) {
    SetInput(&call, "INPUT0", TRITONSERVER_TYPE_FP32, 4, *input);
    wish = {};
    Infer(server, &call, ++submissions);
    CheckOutput(&call, kBytes, TRITONSERVER_MEMORY_GPU, 0);
    wish = {false, TRITONSERVER_MEMORY_CPU, 0};
    Infer(server, &call, ++submissions);
    CheckOutput(&call, kBytes, TRITONSERVER_MEMORY_CPU, 0);
    wish = {false, TRITONSERVER_MEMORY_GPU, 1};
    Infer(server, &call, ++submissions);
    CheckOutput(&call, kBytes, TRITONSERVER_MEMORY_GPU, 1);
  }
  DeleteCall(&call);
}

/* A model on the CPU gets host memory; the request keeps its own. */
void TestOnTheCpu(TRITONSERVER_Server* server, TRITONSERVER_ResponseAllocator* allocator) {
  const GpuBytes input(1, kBytes);
  wish = {};
  Call call;
  InitCall(&call, server, "copy", allocator);
  const int64_t shape[2] = {1, 4};
  OK(TRITONSERVER_InferenceRequestAddInput(call.request, "INPUT0", TRITONSERVER_TYPE_FP32, shape,
                                           2));
  OK(TRITONSERVER_InferenceRequestAppendInputData(call.request, "INPUT0", input.data(), 16,
                                                  TRITONSERVER_MEMORY_GPU, 1));
  for (int i = 1; i <= 3; ++i) {
    memset(HostAddress(input.data(), 1), 'a' + i, 1);
    Infer(server, &call, i);
    CheckOutput(&call, std::string(1, char('a' + i)) + kBytes.substr(1), TRITONSERVER_MEMORY_CPU,
                0);
  }
  // A failure of the driver is the answer, and the next request succeeds.
  Control::Get().fail("cuMemcpyAsync=1");
  Infer(server, &call, 4);
  CheckFailure(&call, TRITONSERVER_ERROR_INTERNAL, "input 'INPUT0': cannot copy 16 bytes on GPU 1");
  Control::Get().fail("");
  Infer(server, &call, 5);
  CheckOutput(&call, "d" + kBytes.substr(1), TRITONSERVER_MEMORY_CPU, 0);
  DeleteCall(&call);
}

void TestAttributes(TRITONSERVER_Server* server, TRITONSERVER_ResponseAllocator* allocator) {
  const GpuBytes input(0, kBytes);
  wish = {};
  TRITONSERVER_BufferAttributes* attributes = nullptr;
  OK(TRITONSERVER_BufferAttributesNew(&attributes));
  OK(TRITONSERVER_BufferAttributesSetMemoryType(attributes, TRITONSERVER_MEMORY_GPU));
  OK(TRITONSERVER_BufferAttributesSetMemoryTypeId(attributes, 0));
  OK(TRITONSERVER_BufferAttributesSetByteSize(attributes, 16));
  Call call;
  InitCall(&call, server, "on_gpu", allocator);
  const int64_t count = 4;
  OK(TRITONSERVER_InferenceRequestAddInput(call.request, "INPUT0", TRITONSERVER_TYPE_FP32, &count,
                                           1));
  OK(TRITONSERVER_InferenceRequestAppendInputDataWithBufferAttributes(call.request, "INPUT0",
                                                                      input.data(), attributes));
  Infer(server, &call, 1);
  CheckOutput(&call, kBytes, TRITONSERVER_MEMORY_GPU, 0);
  OK(TRITONSERVER_BufferAttributesDelete(attributes));
  DeleteCall(&call);
}

/* The lengths of strings are checked before a model reads them. */
void TestStrings(TRITONSERVER_Server* server, TRITONSERVER_ResponseAllocator* allocator) {
  wish = {};
  const std::string good("\3\0\0\0one", 7), bad("\xff\xff\xff\xffone", 7);
  const GpuBytes input(0, good), wrong(0, bad);
  Call call;
  InitCall(&call, server, "text", allocator);
  SetInput(&call, "INPUT0", TRITONSERVER_TYPE_BYTES, 1, input);
  Infer(server, &call, 1);
  CheckOutput(&call, good, TRITONSERVER_MEMORY_CPU, 0);
  SetInput(&call, "INPUT0", TRITONSERVER_TYPE_BYTES, 1, wrong);
  FAILS(TRITONSERVER_ServerInferAsync(server, call.request, nullptr),
        TRITONSERVER_ERROR_INVALID_ARG, "INPUT0");
  SetInput(&call, "INPUT0", TRITONSERVER_TYPE_BYTES, 1, input);
  Infer(server, &call, 2);
  CheckOutput(&call, good, TRITONSERVER_MEMORY_CPU, 0);
  DeleteCall(&call);
}

/* An ensemble of two models on GPU 0 and one on GPU 1. */
void TestEnsemble(TRITONSERVER_Server* server, TRITONSERVER_ResponseAllocator* allocator) {
  const GpuBytes input(0, kBytes);
  Call call;
  InitCall(&call, server, "chain", allocator);
  SetInput(&call, "x", TRITONSERVER_TYPE_FP32, 4, input);
  wish = {};
  Infer(server, &call, 1);
  CheckOutput(&call, kBytes, TRITONSERVER_MEMORY_GPU, 1);
  wish = {false, TRITONSERVER_MEMORY_CPU, 0};
  Infer(server, &call, 2);
  CheckOutput(&call, kBytes, TRITONSERVER_MEMORY_CPU, 0);
  // The input is in host memory, and the output is wanted in GPU memory.
  const int64_t count = 4;
  OK(TRITONSERVER_InferenceRequestRemoveAllInputs(call.request));
  OK(TRITONSERVER_InferenceRequestAddInput(call.request, "x", TRITONSERVER_TYPE_FP32, &count, 1));
  OK(TRITONSERVER_InferenceRequestAppendInputData(call.request, "x", kBytes.data(), 16,
                                                  TRITONSERVER_MEMORY_CPU, 0));
  wish = {false, TRITONSERVER_MEMORY_GPU, 0};
  Infer(server, &call, 3);
  CheckOutput(&call, kBytes, TRITONSERVER_MEMORY_GPU, 0);
  DeleteCall(&call);
}

void MakeGpuModel(const char* name, int gpu, const char* plugins) {
  char config[512];
  snprintf(config, sizeof(config),
           "backend: \"on_gpu\" instance_group { kind: KIND_GPU gpus: [ %d ] }\n"
           "input { name: \"INPUT0\" data_type: TYPE_FP32 dims: [ -1 ] }\n"
           "output { name: \"OUTPUT0\" data_type: TYPE_FP32 dims: [ -1 ] }\n",
           gpu);
  MakeModelOf(name, config);
  LinkBackend(name, plugins, "on_gpu");
}

}  // namespace

int main(int argc, char** argv) {
  CHECK(argc == 3);
  setenv("NEREID_FAKE_GPUS", "2", 1);
  CHECK(Control::Get().fail != nullptr);
  MakeRepository();
  MakeModel("copy", "");
  MakeModelOf("text",
              "backend: \"identity\"\n"
              "input { name: \"INPUT0\" data_type: TYPE_STRING dims: [ -1 ] }\n"
              "output { name: \"OUTPUT0\" data_type: TYPE_STRING dims: [ -1 ] }\n");
  MakeGpuModel("on_gpu", 0, argv[2]);
  MakeGpuModel("second", 0, argv[2]);
  MakeGpuModel("third", 1, argv[2]);
  MakeModelOf("chain",
              "platform: \"ensemble\"\n"
              "input { name: \"x\" data_type: TYPE_FP32 dims: [ -1 ] }\n"
              "output { name: \"y\" data_type: TYPE_FP32 dims: [ -1 ] }\n"
              "ensemble_scheduling {\n"
              "step { model_name: \"on_gpu\" model_version: -1"
              " input_map { key: \"INPUT0\" value: \"x\" }"
              " output_map { key: \"OUTPUT0\" value: \"a\" } }\n"
              "step { model_name: \"second\" model_version: -1"
              " input_map { key: \"INPUT0\" value: \"a\" }"
              " output_map { key: \"OUTPUT0\" value: \"b\" } }\n"
              "step { model_name: \"third\" model_version: -1"
              " input_map { key: \"INPUT0\" value: \"b\" }"
              " output_map { key: \"OUTPUT0\" value: \"y\" } } }\n");
  const size_t before = Control::Get().allocated_bytes(0) + Control::Get().allocated_bytes(1);
  TRITONSERVER_Server* const server = StartServer(NewOptions(argv[1]));
  for (const char* const model : {"copy", "text", "chain"}) {
    OK(TRITONSERVER_ServerLoadModel(server, model));
  }
  TRITONSERVER_ResponseAllocator* allocator = nullptr;
  OK(TRITONSERVER_ResponseAllocatorNew(&allocator, Allocate, Release, nullptr));
  OK(TRITONSERVER_ResponseAllocatorSetQueryFunction(allocator, Query));
  TestOnTheGpu(server, allocator);
  TestOnTheCpu(server, allocator);
  TestAttributes(server, allocator);
  TestStrings(server, allocator);
  TestEnsemble(server, allocator);
  CheckMetrics(server, "nereid_cuda_memory_pool_used_bytes{gpu_uuid=\"");
  OK(TRITONSERVER_ServerStop(server));
  OK(TRITONSERVER_ServerDelete(server));
  OK(TRITONSERVER_ResponseAllocatorDelete(allocator));
  CHECK(Control::Get().allocated_bytes(0) + Control::Get().allocated_bytes(1) == before);
  CHECK(Control::Get().pinned_bytes() == 0);
  printf("ok\n");
  return 0;
}
