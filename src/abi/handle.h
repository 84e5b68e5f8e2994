// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <type_traits>

#include "triton/core/tritonbackend.h"
#include "triton/core/tritonserver.h"

namespace nereid::memory {
struct BufferAttributes;
}
namespace nereid::request {
class InferenceRequest;
class InferenceResponse;
class ResponseFactory;
class Trace;
struct Input;
struct Output;
struct OutputState;
}  // namespace nereid::request

namespace nereid::abi {

// The C APIs name objects by pointers to opaque types ("handles"). The object behind a handle is
// one of these:
//
// - an object that does not know its handles (a request, a response, an input): ObjectOf below
//   lists these handles, and Wrap and Unwrap convert;
// - an object that gives out its own handle, with the members handle() and From() (Backend,
//   AgentModel, CacheEntry);
// - a definition of the C type itself (TRITONSERVER_Message, TRITONSERVER_Parameter): no
//   conversion is needed;
// - TRITONSERVER_Error, whose pointer carries a flag (abi/error.h).

/// `ObjectOf<Handle>::type` is the type of the object behind a handle.
template <typename Handle>
struct ObjectOf;

template <>
struct ObjectOf<TRITONSERVER_BufferAttributes> : std::type_identity<memory::BufferAttributes> {};
/// The sink of such a request is a frontend::capi::CallbackSink.
template <>
struct ObjectOf<TRITONSERVER_InferenceRequest> : std::type_identity<request::InferenceRequest> {};
template <>
struct ObjectOf<TRITONSERVER_InferenceResponse> : std::type_identity<request::InferenceResponse> {};
template <>
struct ObjectOf<TRITONSERVER_InferenceTrace> : std::type_identity<request::Trace> {};
template <>
struct ObjectOf<TRITONBACKEND_Request> : std::type_identity<request::InferenceRequest> {};
template <>
struct ObjectOf<TRITONBACKEND_Response> : std::type_identity<request::InferenceResponse> {};
/// A shared_ptr on the heap, so that the plug-in shares ownership of the factory.
template <>
struct ObjectOf<TRITONBACKEND_ResponseFactory>
    : std::type_identity<std::shared_ptr<request::ResponseFactory>> {};
template <>
struct ObjectOf<TRITONBACKEND_Input> : std::type_identity<request::Input> {};
template <>
struct ObjectOf<TRITONBACKEND_Output> : std::type_identity<request::Output> {};
template <>
struct ObjectOf<TRITONBACKEND_State> : std::type_identity<request::OutputState> {};

/// Returns the object behind a handle, which must not be null.
template <typename Handle>
typename ObjectOf<Handle>::type& Unwrap(Handle* handle) {
  // The caller may delete the object, so it must have included the header of its type.
  static_assert(sizeof(typename ObjectOf<Handle>::type) > 0);
  return *reinterpret_cast<typename ObjectOf<Handle>::type*>(handle);
}

/// Returns the handle of an object; null for null. The type of the handle is given, because an
/// object may have a handle in several APIs: `Wrap<TRITONBACKEND_Request>(request)`.
template <typename Handle>
Handle* Wrap(typename ObjectOf<Handle>::type* object) {
  return reinterpret_cast<Handle*>(object);
}

}  // namespace nereid::abi
