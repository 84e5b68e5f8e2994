// SPDX-License-Identifier: Apache-2.0
#include "python/inner_response.h"

#include <string>
#include <string_view>

#include "python/gpu_sharing.h"
#include "python/messages.h"
#include "python/parameters_text.h"

namespace nereid::python {

using backend::Error;

InnerOutput::~InnerOutput() {
  if (segment_.id != 0 && !passed_) {
    pool_.Return(segment_);
  }
}

Error InnerOutput::Allocate(uint64_t size, int gpu) {
  if (size > 0 && gpu >= 0 && FindSharedGpu(gpu) != nullptr &&
      pool_.Take(size, &segment_, gpu).ok()) {
    return {};
  }
  if (size > kMaxInlineTensor) {
    return pool_.Take(size, &segment_);
  }
  small_.resize(size + 1);  // an output of 0 bytes gets an address as well
  return {};
}

char* InnerOutput::data() { return segment_.id != 0 ? segment_.memory->data() : small_.data(); }

namespace {

/// Writes a kInferResponse message.
class ResponseMessage {
 public:
  ResponseMessage(uint64_t id, bool final, const std::vector<uint32_t>& read) : out_(&message_) {
    WriteHeader(&out_, MessageType::kInferResponse, id, read);
    out_.Number(uint32_t{final});
    data_field_ = out_.size();
    out_.Number(uint32_t{0});  // where the data begin
  }

  void WriteNone() { out_.Number(static_cast<uint32_t>(ResultKind::kNone)); }

  void WriteError(TRITONSERVER_Error* error) {
    out_.Number(static_cast<uint32_t>(ResultKind::kError));
    out_.Number(static_cast<uint32_t>(TRITONSERVER_ErrorCode(error)));
    out_.Text(TRITONSERVER_ErrorMessage(error));
  }

  Error Write(TRITONSERVER_InferenceResponse* response) {
    std::string parameters;
    NEREID_BACKEND_TRY(ReadParameters(response, &parameters));
    uint32_t count = 0;
    NEREID_BACKEND_TRY(TRITONSERVER_InferenceResponseOutputCount(response, &count));
    out_.Number(static_cast<uint32_t>(ResultKind::kResponse));
    out_.Text(parameters);
    out_.Number(count);
    for (uint32_t i = 0; i < count; ++i) {
      NEREID_BACKEND_TRY(WriteOutput(response, i));
    }
    return {};
  }

  /// Ends the message and passes it. Returns false if the worker does not take it.
  bool Pass(Channel* channel, bool urgent) {
    while (message_.size() % kAlignment != 0) {
      message_.push_back('\0');
    }
    out_.Patch(data_field_, static_cast<uint32_t>(message_.size()));
    for (const Bytes part : contents_) {
      out_.Raw({part.data(), part.size()});
      while (message_.size() % kAlignment != 0) {
        message_.push_back('\0');
      }
    }
    if (!channel->Post(std::move(message_), segments_, urgent)) {
      return false;
    }
    for (InnerOutput* output : outputs_) {
      output->MarkPassed();
    }
    return true;
  }

 private:
  static constexpr size_t kAlignment = 16;

  static Error ReadParameters(TRITONSERVER_InferenceResponse* response, std::string* text) {
    uint32_t count = 0;
    NEREID_BACKEND_TRY(TRITONSERVER_InferenceResponseParameterCount(response, &count));
    if (count == 0) {
      return {};
    }
    ParametersText parameters;
    for (uint32_t i = 0; i < count; ++i) {
      const char* name = nullptr;
      TRITONSERVER_ParameterType type = TRITONSERVER_PARAMETER_STRING;
      const void* value = nullptr;
      NEREID_BACKEND_TRY(
          TRITONSERVER_InferenceResponseParameter(response, i, &name, &type, &value));
      NEREID_BACKEND_TRY(parameters.Add(name, type, value));
    }
    *text = parameters.Finish();
    return {};
  }

  Error WriteOutput(TRITONSERVER_InferenceResponse* response, uint32_t index) {
    const char* name = nullptr;
    TRITONSERVER_DataType type = TRITONSERVER_TYPE_INVALID;
    const int64_t* shape = nullptr;
    uint64_t rank = 0;
    const void* base = nullptr;
    size_t size = 0;
    TRITONSERVER_MemoryType memory_type = TRITONSERVER_MEMORY_CPU;
    int64_t memory_type_id = 0;
    void* userp = nullptr;
    NEREID_BACKEND_TRY(TRITONSERVER_InferenceResponseOutput(response, index, &name, &type, &shape,
                                                            &rank, &base, &size, &memory_type,
                                                            &memory_type_id, &userp));
    WireTensor tensor;
    tensor.data_type = static_cast<uint32_t>(type);
    tensor.name = name;
    tensor.shape.assign(shape, shape + rank);
    tensor.size = size;
    auto* output = static_cast<InnerOutput*>(userp);
    if (output != nullptr && output->segment().id != 0) {
      tensor.segment = output->segment().id;
      segments_.push_back(output->segment());
      outputs_.push_back(output);
    } else {
      tensor.offset = data_size_;
      data_size_ += (size + kAlignment - 1) / kAlignment * kAlignment;
      contents_.emplace_back(static_cast<const char*>(base), size);
    }
    WriteTensor(&out_, tensor);
    return {};
  }

  std::vector<char> message_;
  WireWriter out_;
  size_t data_field_ = 0;
  uint64_t data_size_ = 0;
  std::vector<Bytes> contents_;
  std::vector<TakenSegment> segments_;
  std::vector<InnerOutput*> outputs_;
};

}  // namespace

void PassResponse(TRITONSERVER_InferenceResponse* response, bool final, InnerCall* call) {
  ResponseMessage message(call->id, final, call->worker->segments.read->Take());
  Error failed;
  if (response == nullptr) {
    message.WriteNone();
  } else if (TRITONSERVER_Error* error = TRITONSERVER_InferenceResponseError(response);
             error != nullptr) {
    message.WriteError(error);
  } else {
    failed = message.Write(response);
  }
  if (!failed.ok()) {
    PassError(*call, failed);
    call->closed = true;
  } else if (!message.Pass(&call->worker->call, false)) {
    PassError(*call, Error(TRITONSERVER_ERROR_UNAVAILABLE,
                           "the Python model does not read the responses of its calls"));
    call->closed = true;
  }
}

void PassError(const InnerCall& call, const Error& error) {
  ResponseMessage message(call.id, true, call.worker->segments.read->Take());
  message.WriteError(error.get());
  message.Pass(&call.worker->call, true);
}

}  // namespace nereid::python
