// SPDX-License-Identifier: Apache-2.0
// Tests of the inference service. The models that they use echo their inputs: "ints" (INT32) and
// "text" (BYTES) of any length, "slow", which needs a second, and "loadable" (INT32).
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <map>
#include <memory>
#include <numeric>
#include <string>
#include <string_view>
#include <vector>

#include "connection.h"
#include "grpc_service.grpc.pb.h"

namespace nereid::interop {
namespace {

// Not `using namespace inference`: its names are those of the cases.
namespace pb = ::inference;
using Stub = pb::GRPCInferenceService::Stub;

constexpr size_t kCalls = 20;

template <typename Request, typename Response>
using Method = grpc::Status (Stub::*)(grpc::ClientContext*, const Request&, Response*);

template <typename Request, typename Response>
grpc::Status Try(const Connection& connection, Method<Request, Response> method,
                 const Request& request, Response* response) {
  grpc::ClientContext context;
  connection.Prepare(&context);
  const auto stub = pb::GRPCInferenceService::NewStub(connection.channel);
  return ((*stub).*method)(&context, request, response);
}

/// Makes a call that must succeed.
template <typename Request, typename Response>
Response Call(const Connection& connection, Method<Request, Response> method,
              const Request& request = {}) {
  Response response;
  Expect(Try(connection, method, request, &response), grpc::StatusCode::OK);
  return response;
}

std::string Numbers(size_t count, int first = 0) {
  std::vector<int> values(count);
  std::iota(values.begin(), values.end(), first);
  return {reinterpret_cast<const char*>(values.data()), count * sizeof(int)};
}

pb::ModelInferRequest Request(const std::string& model, const std::string& datatype, size_t count,
                              const std::string& bytes) {
  pb::ModelInferRequest request;
  request.set_model_name(model);
  request.set_id(model + "-1");
  auto* const input = request.add_inputs();
  input->set_name("INPUT0");
  input->set_datatype(datatype);
  input->add_shape(static_cast<int64_t>(count));
  if (!bytes.empty()) request.add_raw_input_contents(bytes);
  return request;
}

void CheckEcho(const pb::ModelInferResponse& response, const std::string& datatype, size_t count,
               const std::string& bytes) {
  Check(response.outputs_size() == 1 && response.raw_output_contents_size() == 1, "one output");
  const auto& output = response.outputs(0);
  Check(output.name() == "OUTPUT0" && output.datatype() == datatype, "name or datatype");
  Check(output.shape_size() == 1 && output.shape(0) == static_cast<int64_t>(count), "shape");
  Check(response.raw_output_contents(0) == bytes, "other bytes");
}

pb::ModelInferResponse Infer(const Connection& connection, const pb::ModelInferRequest& request) {
  return Call(connection, &Stub::ModelInfer, request);
}

void Health(const Connection& connection) {
  Check(Call(connection, &Stub::ServerLive).live(), "not live");
  Check(Call(connection, &Stub::ServerReady).ready(), "not ready");
  pb::ModelReadyRequest request;
  request.set_name("ints");
  Check(Call(connection, &Stub::ModelReady, request).ready(), "the model is not ready");
}

void Metadata(const Connection& connection) {
  const auto server = Call(connection, &Stub::ServerMetadata);
  const auto& extensions = server.extensions();
  Check(!server.name().empty() && !server.version().empty(), "no name");
  Check(std::find(extensions.begin(), extensions.end(), "binary_tensor_data") != extensions.end(),
        "an extension is missing");
  pb::ModelMetadataRequest request;
  request.set_name("ints");
  const auto model = Call(connection, &Stub::ModelMetadata, request);
  Check(model.name() == "ints" && model.inputs_size() == 1, "metadata of the model");
  Check(model.inputs(0).name() == "INPUT0" && model.inputs(0).datatype() == "INT32" &&
            model.inputs(0).shape_size() == 1 && model.inputs(0).shape(0) == -1,
        "metadata of the input");
}

void Configuration(const Connection& connection) {
  pb::ModelConfigRequest request;
  request.set_name("text");
  const auto config = Call(connection, &Stub::ModelConfig, request).config();
  Check(config.name() == "text" && config.input_size() == 1, "another configuration");
  Check(config.input(0).data_type() == pb::TYPE_STRING, "another data type");
}

void Statistics(const Connection& connection) {
  Infer(connection, Request("ints", "INT32", 4, Numbers(4)));
  pb::ModelStatisticsRequest request;
  request.set_name("ints");
  const auto answer = Call(connection, &Stub::ModelStatistics, request);
  Check(answer.model_stats_size() == 1 && answer.model_stats(0).inference_count() > 0,
        "no statistics");
}

void Ints(const Connection& connection) {
  const auto response = Infer(connection, Request("ints", "INT32", 16, Numbers(16)));
  Check(response.id() == "ints-1" && response.model_name() == "ints", "id or name");
  CheckEcho(response, "INT32", 16, Numbers(16));
}

/// The values are in the fields of the message that depend on their type.
void TypedContents(const Connection& connection) {
  auto request = Request("ints", "INT32", 16, "");
  auto* const contents = request.mutable_inputs(0)->mutable_contents()->mutable_int_contents();
  for (int i = 0; i < 16; ++i) contents->Add(i);
  CheckEcho(Infer(connection, request), "INT32", 16, Numbers(16));
}

void Strings(const Connection& connection) {
  std::string bytes;
  const std::vector<std::string> texts = {"one", "", std::string("\xff\0\n", 3)};
  for (const std::string& text : texts) {
    const auto size = static_cast<uint32_t>(text.size());
    bytes.append(reinterpret_cast<const char*>(&size), sizeof(size)).append(text);
  }
  CheckEcho(Infer(connection, Request("text", "BYTES", 3, bytes)), "BYTES", 3, bytes);
}

void LargeTensors(const Connection& connection) {
  constexpr size_t kCount = size_t{1} << 18;
  const std::string bytes = Numbers(kCount);
  CheckEcho(Infer(connection, Request("ints", "INT32", kCount, bytes)), "INT32", kCount, bytes);
}

/// Calls that one thread has in flight, and a completion queue.
void AsyncInfer(const Connection& connection) {
  struct Pending {
    grpc::ClientContext context;
    pb::ModelInferResponse response;
    grpc::Status status;
    std::unique_ptr<grpc::ClientAsyncResponseReader<pb::ModelInferResponse>> reader;
  };
  const auto stub = pb::GRPCInferenceService::NewStub(connection.channel);
  grpc::CompletionQueue queue;
  std::vector<Pending> calls(kCalls);
  for (size_t i = 0; i < kCalls; ++i) {
    connection.Prepare(&calls[i].context);
    const auto request = Request("ints", "INT32", i + 1, Numbers(i + 1));
    calls[i].reader = stub->AsyncModelInfer(&calls[i].context, request, &queue);
    calls[i].reader->Finish(&calls[i].response, &calls[i].status, &calls[i]);
  }
  for (size_t i = 0; i < kCalls; ++i) {
    void* tag = nullptr;
    bool is_good = false;
    Check(queue.Next(&tag, &is_good) && is_good, "the queue ended");
  }
  for (size_t i = 0; i < kCalls; ++i) {
    Expect(calls[i].status, grpc::StatusCode::OK);
    CheckEcho(calls[i].response, "INT32", i + 1, Numbers(i + 1));
  }
}

/// Sends all requests, then reads the responses.
void StreamInfer(const Connection& connection) {
  grpc::ClientContext context;
  connection.Prepare(&context);
  const auto stub = pb::GRPCInferenceService::NewStub(connection.channel);
  const auto stream = stub->ModelStreamInfer(&context);
  for (size_t i = 1; i <= kCalls; ++i) {
    Check(stream->Write(Request("ints", "INT32", 100 * i, Numbers(100 * i))), "the stream ended");
  }
  stream->WritesDone();
  pb::ModelStreamInferResponse response;
  for (size_t i = 1; i <= kCalls; ++i) {
    Check(stream->Read(&response), "a response is missing");
    Check(response.error_message().empty(), response.error_message());
    CheckEcho(response.infer_response(), "INT32", 100 * i, Numbers(100 * i));
  }
  Check(!stream->Read(&response), "one response too many");
  Expect(stream->Finish(), grpc::StatusCode::OK);
}

/// A request that fails does not end the stream.
void StreamError(const Connection& connection) {
  grpc::ClientContext context;
  connection.Prepare(&context);
  const auto stub = pb::GRPCInferenceService::NewStub(connection.channel);
  const auto stream = stub->ModelStreamInfer(&context);
  pb::ModelStreamInferResponse response;
  Check(stream->Write(Request("absent", "INT32", 1, Numbers(1))), "the stream ended");
  Check(stream->Read(&response), "a response is missing");
  Check(response.error_message().find("'absent'") != std::string::npos, response.error_message());
  Check(stream->Write(Request("ints", "INT32", 1, Numbers(1))), "the stream ended");
  Check(stream->Read(&response), "a response is missing");
  CheckEcho(response.infer_response(), "INT32", 1, Numbers(1));
  stream->WritesDone();
  Check(!stream->Read(&response), "one response too many");
  Expect(stream->Finish(), grpc::StatusCode::OK);
}

std::string StateOf(const Connection& connection, std::string_view model) {
  const pb::RepositoryIndexResponse index = Call(connection, &Stub::RepositoryIndex);
  for (const auto& row : index.models()) {
    if (row.name() == model) return row.state();
  }
  return "absent";
}

void RepositoryIndex(const Connection& connection) {
  Check(StateOf(connection, "ints") == "READY", StateOf(connection, "ints"));
  Check(StateOf(connection, "absent") == "absent", "an unknown model");
}

void ModelControl(const Connection& connection) {
  pb::RepositoryModelUnloadRequest unload;
  unload.set_model_name("loadable");
  Call(connection, &Stub::RepositoryModelUnload, unload);
  const auto request = Request("loadable", "INT32", 1, Numbers(1));
  pb::ModelInferResponse response;
  const grpc::Status status = Try(connection, &Stub::ModelInfer, request, &response);
  Check(!status.ok(), "the unloaded model answers");
  pb::RepositoryModelLoadRequest load;
  load.set_model_name("loadable");
  Call(connection, &Stub::RepositoryModelLoad, load);
  CheckEcho(Infer(connection, request), "INT32", 1, Numbers(1));
}

void ErrorStatus(const Connection& connection) {
  pb::ModelInferResponse response;
  grpc::Status status =
      Try(connection, &Stub::ModelInfer, Request("absent", "INT32", 1, Numbers(1)), &response);
  Expect(status, grpc::StatusCode::NOT_FOUND);
  Check(status.error_message() == "Request for unknown model: 'absent' is not found",
        status.error_message());
  status = Try(connection, &Stub::ModelInfer, Request("ints", "FP32", 1, Numbers(1)), &response);
  Expect(status, grpc::StatusCode::INVALID_ARGUMENT);
  Check(status.error_message().find("INPUT0") != std::string::npos, status.error_message());
}

void Deadline(const Connection& connection) {
  grpc::ClientContext context;
  connection.Prepare(&context);
  context.set_deadline(std::chrono::system_clock::now() + std::chrono::milliseconds(100));
  pb::ModelInferResponse response;
  const auto stub = pb::GRPCInferenceService::NewStub(connection.channel);
  Expect(stub->ModelInfer(&context, Request("slow", "INT32", 1, Numbers(1)), &response),
         grpc::StatusCode::DEADLINE_EXCEEDED);
}

void Cancel(const Connection& connection) {
  grpc::ClientContext context;
  connection.Prepare(&context);
  const auto stub = pb::GRPCInferenceService::NewStub(connection.channel);
  grpc::CompletionQueue queue;
  pb::ModelInferResponse response;
  grpc::Status status;
  const auto reader =
      stub->AsyncModelInfer(&context, Request("slow", "INT32", 1, Numbers(1)), &queue);
  reader->Finish(&response, &status, &context);
  context.TryCancel();
  void* tag = nullptr;
  bool is_good = false;
  Check(queue.Next(&tag, &is_good), "the queue ended");
  Expect(status, grpc::StatusCode::CANCELLED);
}

/// An object of shared memory that is deleted in the end.
class SharedObject {
 public:
  explicit SharedObject(size_t size)
      : name_("/nereid_cpp_client_" + std::to_string(getpid())), size_(size) {
    const int file = shm_open(name_.c_str(), O_RDWR | O_CREAT | O_EXCL, 0600);
    Check(file >= 0 && ftruncate(file, static_cast<off_t>(size)) == 0, "shm_open");
    void* const address = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    Check(address != MAP_FAILED, "mmap");
    bytes_ = static_cast<char*>(address);
    close(file);
  }
  ~SharedObject() {
    munmap(bytes_, size_);
    shm_unlink(name_.c_str());
  }
  SharedObject(const SharedObject&) = delete;
  SharedObject& operator=(const SharedObject&) = delete;

  const std::string& name() const { return name_; }
  char* bytes() { return bytes_; }

 private:
  const std::string name_;
  const size_t size_;
  char* bytes_ = nullptr;
};

template <typename Tensor>
void PutInRegion(Tensor* tensor, const std::string& region, int64_t size, int64_t offset) {
  auto& parameters = *tensor->mutable_parameters();
  parameters["shared_memory_region"].set_string_param(region);
  parameters["shared_memory_byte_size"].set_int64_param(size);
  parameters["shared_memory_offset"].set_int64_param(offset);
}

void SharedMemory(const Connection& connection) {
  constexpr size_t kSize = 8192, kTensor = 4096;
  SharedObject object(kSize);
  const std::string region = "cpp_client_" + std::to_string(getpid());
  pb::SystemSharedMemoryRegisterRequest request;
  request.set_name(region);
  request.set_key(object.name());
  request.set_byte_size(kSize);
  Call(connection, &Stub::SystemSharedMemoryRegister, request);
  const auto regions = Call(connection, &Stub::SystemSharedMemoryStatus).regions();
  Check(regions.count(region) == 1 && regions.at(region).byte_size() == kSize, "the status");

  constexpr size_t kCount = kTensor / sizeof(int);
  const std::string bytes = Numbers(kCount, 7);
  std::memcpy(object.bytes(), bytes.data(), kTensor);
  auto infer = Request("ints", "INT32", kCount, "");
  PutInRegion(infer.mutable_inputs(0), region, kTensor, 0);
  auto* const output = infer.add_outputs();
  output->set_name("OUTPUT0");
  PutInRegion(output, region, kTensor, kTensor);
  const auto response = Infer(connection, infer);
  Check(response.outputs_size() == 1 && response.outputs(0).datatype() == "INT32", "the output");
  Check(std::string(object.bytes() + kTensor, kTensor) == bytes, "other bytes");

  pb::SystemSharedMemoryUnregisterRequest unregister;
  unregister.set_name(region);
  Call(connection, &Stub::SystemSharedMemoryUnregister, unregister);
  Check(Call(connection, &Stub::SystemSharedMemoryStatus).regions().count(region) == 0,
        "the region is still registered");
}

/// Prints the status of a call that needs a role.
void PrintStatus(const Connection& connection) {
  pb::RepositoryIndexResponse response;
  const grpc::Status status = Try(connection, &Stub::RepositoryIndex, {}, &response);
  std::printf("%d %s\n", status.error_code(), status.error_message().c_str());
}

}  // namespace

Case FindInferenceCase(std::string_view name) {
  static const std::map<std::string_view, Case> kCases = {
      {"health", Health},
      {"metadata", Metadata},
      {"configuration", Configuration},
      {"statistics", Statistics},
      {"infer", Ints},
      {"typed_contents", TypedContents},
      {"strings", Strings},
      {"large_tensors", LargeTensors},
      {"async_infer", AsyncInfer},
      {"stream_infer", StreamInfer},
      {"stream_error", StreamError},
      {"repository_index", RepositoryIndex},
      {"model_control", ModelControl},
      {"error_status", ErrorStatus},
      {"deadline", Deadline},
      {"cancel", Cancel},
      {"shared_memory", SharedMemory},
      {"status", PrintStatus},
  };
  const auto found = kCases.find(name);
  return found == kCases.end() ? nullptr : found->second;
}

}  // namespace nereid::interop
