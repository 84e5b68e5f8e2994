// SPDX-License-Identifier: Apache-2.0
// TRITONBACKEND_Response*, TRITONBACKEND_ResponseFactory* and TRITONBACKEND_InferenceResponse*.
#include <span>

#include "abi/error.h"
#include "abi/handle.h"
#include "abi/tensor_types.h"
#include "request/inference_response.h"
#include "request/output_shape.h"
#include "request/response_factory.h"

using nereid::abi::Guard;
using nereid::abi::OutOfBounds;
using nereid::abi::ToDataType;
using nereid::abi::Unwrap;
using nereid::abi::Wrap;
using nereid::base::Status;
using nereid::request::InferenceResponse;
using nereid::request::ResponseFactory;

namespace {

TRITONSERVER_Error* NewResponse(const std::shared_ptr<ResponseFactory>& factory,
                                TRITONBACKEND_Response** response) {
  return Guard([&] {
    NEREID_ASSIGN_OR_RETURN(auto made, factory->NewResponse());
    *response = Wrap<TRITONBACKEND_Response>(made.release());
    return Status::Ok();
  });
}

TRITONSERVER_Error* SetParameter(TRITONBACKEND_Response* response, const char* name,
                                 nereid::request::Parameter::Value value) {
  return Guard([&] {
    auto& parameters = Unwrap(response).parameters();
    if (parameters.empty()) parameters.reserve(4);  // few responses have more
    parameters.push_back({name, std::move(value)});
    return Status::Ok();
  });
}

bool IsFinal(uint32_t flags) { return (flags & TRITONSERVER_RESPONSE_COMPLETE_FINAL) != 0; }

}  // namespace

extern "C" {

TRITONSERVER_Error* TRITONBACKEND_ResponseFactoryNew(TRITONBACKEND_ResponseFactory** factory,
                                                     TRITONBACKEND_Request* request) {
  NEREID_CHECK_NOT_NULL(factory, request);
  return Guard([&] {
    *factory = Wrap<TRITONBACKEND_ResponseFactory>(
        new std::shared_ptr<ResponseFactory>(Unwrap(request).response_factory()));
    return Status::Ok();
  });
}

TRITONSERVER_Error* TRITONBACKEND_ResponseFactoryDelete(TRITONBACKEND_ResponseFactory* factory) {
  if (factory == nullptr) return nullptr;
  return Guard([&] {
    delete &Unwrap(factory);
    return Status::Ok();
  });
}

TRITONSERVER_Error* TRITONBACKEND_ResponseFactoryIsCancelled(TRITONBACKEND_ResponseFactory* factory,
                                                             bool* is_cancelled) {
  NEREID_CHECK_NOT_NULL(factory, is_cancelled);
  *is_cancelled = Unwrap(factory)->IsCancelled();
  return nullptr;
}

TRITONSERVER_Error* TRITONBACKEND_ResponseFactorySendFlags(TRITONBACKEND_ResponseFactory* factory,
                                                           const uint32_t send_flags) {
  NEREID_CHECK_NOT_NULL(factory);
  return Guard([&] {
    // Without the final flag there is nothing to send.
    if (IsFinal(send_flags)) Unwrap(factory)->SendFinal();
    return Status::Ok();
  });
}

TRITONSERVER_Error* TRITONBACKEND_ResponseNew(TRITONBACKEND_Response** response,
                                              TRITONBACKEND_Request* request) {
  NEREID_CHECK_NOT_NULL(response, request);
  return NewResponse(Unwrap(request).response_factory(), response);
}

TRITONSERVER_Error* TRITONBACKEND_ResponseNewFromFactory(TRITONBACKEND_Response** response,
                                                         TRITONBACKEND_ResponseFactory* factory) {
  NEREID_CHECK_NOT_NULL(response, factory);
  return NewResponse(Unwrap(factory), response);
}

TRITONSERVER_Error* TRITONBACKEND_ResponseDelete(TRITONBACKEND_Response* response) {
  if (response == nullptr) return nullptr;
  return Guard([&] {
    delete &Unwrap(response);
    return Status::Ok();
  });
}

TRITONSERVER_Error* TRITONBACKEND_ResponseSetStringParameter(TRITONBACKEND_Response* response,
                                                             const char* name, const char* value) {
  NEREID_CHECK_NOT_NULL(response, name, value);
  return SetParameter(response, name, std::string(value));
}

TRITONSERVER_Error* TRITONBACKEND_ResponseSetIntParameter(TRITONBACKEND_Response* response,
                                                          const char* name, const int64_t value) {
  NEREID_CHECK_NOT_NULL(response, name);
  return SetParameter(response, name, value);
}

TRITONSERVER_Error* TRITONBACKEND_ResponseSetBoolParameter(TRITONBACKEND_Response* response,
                                                           const char* name, const bool value) {
  NEREID_CHECK_NOT_NULL(response, name);
  return SetParameter(response, name, value);
}

TRITONSERVER_Error* TRITONBACKEND_ResponseSetDoubleParameter(TRITONBACKEND_Response* response,
                                                             const char* name, const double value) {
  NEREID_CHECK_NOT_NULL(response, name);
  return SetParameter(response, name, value);
}

TRITONSERVER_Error* TRITONBACKEND_ResponseOutput(TRITONBACKEND_Response* response,
                                                 TRITONBACKEND_Output** output, const char* name,
                                                 const TRITONSERVER_DataType datatype,
                                                 const int64_t* shape, const uint32_t dims_count) {
  NEREID_CHECK_NOT_NULL(response, output, name);
  if (dims_count > 0) NEREID_CHECK_NOT_NULL(shape);
  return Guard([&] {
    InferenceResponse& target = Unwrap(response);
    NEREID_ASSIGN_OR_RETURN(
        auto client_shape,
        nereid::request::ClientShape(*target.model().config, name, std::span(shape, dims_count)));
    NEREID_ASSIGN_OR_RETURN(auto* added,
                            target.AddOutput(name, ToDataType(datatype), std::move(client_shape)));
    *output = Wrap<TRITONBACKEND_Output>(added);
    return Status::Ok();
  });
}

TRITONSERVER_Error* TRITONBACKEND_ResponseSend(TRITONBACKEND_Response* response,
                                               const uint32_t send_flags,
                                               TRITONSERVER_Error* error) {
  NEREID_CHECK_NOT_NULL(response);
  return Guard([&] {
    std::unique_ptr<InferenceResponse> owned(&Unwrap(response));
    if (error != nullptr) owned->SetError(nereid::abi::ToStatus(error));
    // The response holds a reference to its factory and may be destroyed before Send returns.
    const std::shared_ptr<ResponseFactory> factory = ResponseFactory::Of(*owned);
    factory->Send(std::move(owned), IsFinal(send_flags));
    return Status::Ok();
  });
}

TRITONSERVER_Error* TRITONBACKEND_InferenceResponseOutput(TRITONBACKEND_Response* response,
                                                          const uint32_t index, const char** name,
                                                          TRITONSERVER_DataType* datatype,
                                                          const int64_t** shape,
                                                          uint64_t* dim_count) {
  NEREID_CHECK_NOT_NULL(response, name, datatype, shape, dim_count);
  return Guard([&] {
    const auto& outputs = Unwrap(response).outputs();
    if (index >= outputs.size()) return OutOfBounds(index, outputs.size(), "outputs");
    *name = outputs[index]->name.c_str();
    *datatype = ToDataType(outputs[index]->type);
    *shape = outputs[index]->shape.data();
    *dim_count = outputs[index]->shape.size();
    return Status::Ok();
  });
}

TRITONSERVER_Error* TRITONBACKEND_InferenceResponseOutputByName(TRITONBACKEND_Response* response,
                                                                const char* name,
                                                                TRITONSERVER_DataType* datatype,
                                                                const int64_t** shape,
                                                                uint64_t* dim_count) {
  NEREID_CHECK_NOT_NULL(response, name, datatype, shape, dim_count);
  return Guard([&] {
    for (const auto& output : Unwrap(response).outputs()) {
      if (output->name != name) continue;
      *datatype = ToDataType(output->type);
      *shape = output->shape.data();
      *dim_count = output->shape.size();
      return Status::Ok();
    }
    return Status::NotFound("output '" + std::string(name) + "' not found in the response");
  });
}

}  // extern "C"
