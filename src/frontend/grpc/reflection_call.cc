// SPDX-License-Identifier: Apache-2.0
#include "frontend/grpc/reflection_call.h"

#include <google/protobuf/arena.h>
#include <google/protobuf/descriptor.h>
#include <google/protobuf/descriptor.pb.h>

#include <map>
#include <set>
#include <string>
#include <vector>

#include "base/mutex.h"
#include "grpc_service.pb.h"
#include "health.pb.h"
#include "reflection.pb.h"
#include "reflection_v1alpha.pb.h"

namespace nereid::frontend::grpc {
namespace {

using google::protobuf::DescriptorPool;
using google::protobuf::FileDescriptor;
using ::grpc::reflection::v1::ServerReflectionRequest;
using ::grpc::reflection::v1::ServerReflectionResponse;

constexpr int kGrpcNotFound = 5;

// The files that define a service. Naming the messages makes the linker keep them.
const std::vector<const FileDescriptor*>& ServiceFiles() {
  static const std::vector<const FileDescriptor*> files = {
      inference::ModelInferRequest::descriptor()->file(),
      ::grpc::health::v1::HealthCheckRequest::descriptor()->file(),
      ::grpc::reflection::v1::ServerReflectionRequest::descriptor()->file(),
      ::grpc::reflection::v1alpha::ServerReflectionRequest::descriptor()->file(),
  };
  return files;
}

void SetError(int code, const std::string& text, ServerReflectionResponse* response) {
  response->mutable_error_response()->set_error_code(code);
  response->mutable_error_response()->set_error_message(text);
}

// Returns the encoded descriptor of a file. Each is encoded once, because that takes a millisecond
// and clients may ask any number of times.
const std::string& Encoded(const FileDescriptor* file) {
  static base::Mutex mutex;
  // Never erased from: the result refers to an entry.
  static std::map<const FileDescriptor*, std::string> known NEREID_GUARDED_BY(mutex);
  const base::MutexLock lock(mutex);
  std::string& encoded = known[file];
  if (encoded.empty()) {
    google::protobuf::FileDescriptorProto proto;
    file->CopyTo(&proto);
    encoded = proto.SerializeAsString();
  }
  return encoded;
}

// Adds a file and the files that it imports.
void AddFile(const FileDescriptor* file, std::set<const FileDescriptor*>* added,
             ServerReflectionResponse* response) {
  if (!added->insert(file).second) return;
  response->mutable_file_descriptor_response()->add_file_descriptor_proto(Encoded(file));
  for (int i = 0; i < file->dependency_count(); ++i) AddFile(file->dependency(i), added, response);
}

void Answer(const FileDescriptor* file, const std::string& name,
            ServerReflectionResponse* response) {
  if (file == nullptr) return SetError(kGrpcNotFound, "'" + name + "' is not known", response);
  std::set<const FileDescriptor*> added;
  AddFile(file, &added, response);
}

void Answer(const ServerReflectionRequest& request, ServerReflectionResponse* response) {
  const DescriptorPool* const pool = DescriptorPool::generated_pool();
  response->set_valid_host(request.host());
  *response->mutable_original_request() = request;
  switch (request.message_request_case()) {
    case ServerReflectionRequest::kListServices:
      for (const FileDescriptor* file : ServiceFiles()) {
        for (int i = 0; i < file->service_count(); ++i) {
          response->mutable_list_services_response()->add_service()->set_name(
              file->service(i)->full_name());
        }
      }
      return;
    case ServerReflectionRequest::kFileByFilename:
      return Answer(pool->FindFileByName(request.file_by_filename()), request.file_by_filename(),
                    response);
    case ServerReflectionRequest::kFileContainingSymbol:
      return Answer(pool->FindFileContainingSymbol(request.file_containing_symbol()),
                    request.file_containing_symbol(), response);
    default:
      SetError(kGrpcUnimplemented, "the messages here have no extensions", response);
  }
}

}  // namespace

void ReflectionCall::OnMessage(StoredBytes message) {
  google::protobuf::Arena arena;
  auto* const request = google::protobuf::Arena::CreateMessage<ServerReflectionRequest>(&arena);
  auto* const response = google::protobuf::Arena::CreateMessage<ServerReflectionResponse>(&arena);
  if (!request->ParseFromArray(message.bytes.data(), static_cast<int>(message.bytes.size()))) {
    Finish({kGrpcInternal, "failed to parse the ServerReflectionRequest message"});
    return;
  }
  Answer(*request, response);
  SendSmallAnswer(FrameMessage(response->SerializeAsString()));
}

}  // namespace nereid::frontend::grpc
