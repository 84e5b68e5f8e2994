// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cstdlib>
#include <deque>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "abi/error.h"
#include "abi/handle.h"
#include "api/testing/fake_inference_service.h"
#include "frontend/capi/callback_sink.h"
#include "frontend/capi/handles.h"
#include "request/binding.h"
#include "request/response_factory.h"

namespace nereid::frontend::capi {
namespace {

using abi::Unwrap;
using api::testing::FakeInferenceService;
using request::InferenceRequest;

#define EXPECT_SUCCESS(call) EXPECT_EQ(abi::TakeStatus(call).ToString(), "OK")
#define EXPECT_CODE(call, expected) \
  EXPECT_EQ(abi::TakeStatus(call).code(), base::StatusCode::expected)

/// A caller of the C API that keeps all that its callbacks were told. The engine under it is a
/// fake that answers on the thread that submits.
class RequestTest : public ::testing::Test {
 protected:
  void SetUp() override {
    server_.service.store(&service_);
    EXPECT_SUCCESS(TRITONSERVER_ResponseAllocatorNew(&allocator_, Allocate, Release, Start));
    EXPECT_SUCCESS(TRITONSERVER_InferenceRequestNew(&request_, &server_, "echo", -1));
    SetCallbacks(this);
  }

  void TearDown() override {
    DeleteResponses();
    EXPECT_SUCCESS(TRITONSERVER_InferenceRequestDelete(request_));
    EXPECT_SUCCESS(TRITONSERVER_ResponseAllocatorDelete(allocator_));
    EXPECT_EQ(allocated_, released_);
  }

  void SetCallbacks(RequestTest* receiver) {
    EXPECT_SUCCESS(TRITONSERVER_InferenceRequestSetReleaseCallback(request_, OnRelease, receiver));
    EXPECT_SUCCESS(TRITONSERVER_InferenceRequestSetResponseCallback(request_, allocator_, receiver,
                                                                    OnResponse, receiver));
  }

  void AddInput(std::string bytes) {
    const std::string& data = data_.emplace_back(std::move(bytes));
    const int64_t shape[] = {static_cast<int64_t>(data.size())};
    EXPECT_SUCCESS(TRITONSERVER_InferenceRequestAddInput(request_, "INPUT0",
                                                         TRITONSERVER_TYPE_UINT8, shape, 1));
    EXPECT_SUCCESS(TRITONSERVER_InferenceRequestAppendInputData(
        request_, "INPUT0", data.data(), data.size(), TRITONSERVER_MEMORY_CPU, 0));
  }

  TRITONSERVER_Error* Submit() {
    return TRITONSERVER_ServerInferAsync(&server_, request_, nullptr);
  }

  /// The bytes of output 0 of a response.
  static std::string Bytes(TRITONSERVER_InferenceResponse* response) {
    const char* name = nullptr;
    TRITONSERVER_DataType type = TRITONSERVER_TYPE_INVALID;
    const int64_t* shape = nullptr;
    uint64_t dim_count = 0;
    const void* base = nullptr;
    size_t size = 0;
    TRITONSERVER_MemoryType memory_type = TRITONSERVER_MEMORY_GPU;
    int64_t memory_type_id = -1;
    void* userp = nullptr;
    EXPECT_SUCCESS(TRITONSERVER_InferenceResponseOutput(response, 0, &name, &type, &shape,
                                                        &dim_count, &base, &size, &memory_type,
                                                        &memory_type_id, &userp));
    EXPECT_STREQ(name, "OUTPUT0");
    EXPECT_EQ(type, TRITONSERVER_TYPE_UINT8);
    EXPECT_EQ(dim_count, 1u);
    EXPECT_EQ(shape[0], static_cast<int64_t>(size));
    EXPECT_EQ(memory_type, TRITONSERVER_MEMORY_CPU);
    EXPECT_EQ(memory_type_id, 0);
    EXPECT_EQ(userp, const_cast<void*>(base));  // what Allocate gives
    return {static_cast<const char*>(base), size};
  }

  std::string OnlyError() {
    if (responses_.size() != 1 || responses_[0] == nullptr) return "no single response";
    // Not deleted: it belongs to the response.
    return TRITONSERVER_ErrorMessage(TRITONSERVER_InferenceResponseError(responses_[0]));
  }

  void DeleteResponses() {
    for (auto* response : responses_) {
      EXPECT_SUCCESS(TRITONSERVER_InferenceResponseDelete(response));
    }
    responses_.clear();
    flags_.clear();
  }

  static TRITONSERVER_Error* Allocate(TRITONSERVER_ResponseAllocator*, const char*, size_t size,
                                      TRITONSERVER_MemoryType, int64_t, void* userp, void** buffer,
                                      void** buffer_userp, TRITONSERVER_MemoryType* type,
                                      int64_t* id) {
    auto* test = static_cast<RequestTest*>(userp);
    if (test->refuse_allocation_) {
      return TRITONSERVER_ErrorNew(TRITONSERVER_ERROR_UNAVAILABLE, "no room");
    }
    ++allocated_;
    *buffer = test->give_null_ ? nullptr : std::malloc(size + 1);
    *buffer_userp = *buffer;
    *type = TRITONSERVER_MEMORY_CPU;
    *id = 0;
    return nullptr;
  }

  static TRITONSERVER_Error* Release(TRITONSERVER_ResponseAllocator*, void* buffer, void* userp,
                                     size_t, TRITONSERVER_MemoryType, int64_t) {
    EXPECT_EQ(buffer, userp);
    ++released_;
    std::free(buffer);
    return nullptr;
  }

  static TRITONSERVER_Error* Start(TRITONSERVER_ResponseAllocator*, void* userp) {
    ++static_cast<RequestTest*>(userp)->started_;
    return nullptr;
  }

  static void OnRelease(TRITONSERVER_InferenceRequest* request, uint32_t flags, void* userp) {
    auto* test = static_cast<RequestTest*>(userp);
    EXPECT_EQ(flags, static_cast<uint32_t>(TRITONSERVER_REQUEST_RELEASE_ALL));
    EXPECT_EQ(request, test->request_);
    ++test->releases_;
  }

  static void OnResponse(TRITONSERVER_InferenceResponse* response, uint32_t flags, void* userp) {
    auto* test = static_cast<RequestTest*>(userp);
    test->responses_.push_back(response);
    test->flags_.push_back(flags);
  }

  static inline int allocated_ = 0;
  static inline int released_ = 0;

  FakeInferenceService service_;
  TRITONSERVER_Server server_;
  std::deque<std::string> data_;  // what inputs refer to
  TRITONSERVER_ResponseAllocator* allocator_ = nullptr;
  TRITONSERVER_InferenceRequest* request_ = nullptr;
  bool refuse_allocation_ = false;
  bool give_null_ = false;
  int started_ = 0;
  int releases_ = 0;
  std::vector<TRITONSERVER_InferenceResponse*> responses_;
  std::vector<uint32_t> flags_;
};

TEST_F(RequestTest, AnswersWithTheBytes) {
  AddInput("hello");
  EXPECT_SUCCESS(TRITONSERVER_InferenceRequestSetId(request_, "r1"));
  EXPECT_SUCCESS(Submit());
  ASSERT_EQ(responses_.size(), 1u);
  EXPECT_EQ(flags_[0], static_cast<uint32_t>(TRITONSERVER_RESPONSE_COMPLETE_FINAL));
  EXPECT_EQ(TRITONSERVER_InferenceResponseError(responses_[0]), nullptr);
  EXPECT_EQ(Bytes(responses_[0]), "hello");
  const char *name = nullptr, *id = nullptr;
  int64_t version = 0;
  EXPECT_SUCCESS(TRITONSERVER_InferenceResponseModel(responses_[0], &name, &version));
  EXPECT_SUCCESS(TRITONSERVER_InferenceResponseId(responses_[0], &id));
  EXPECT_STREQ(name, "echo");
  EXPECT_EQ(version, 1);
  EXPECT_STREQ(id, "r1");
  uint32_t count = 9;
  EXPECT_SUCCESS(TRITONSERVER_InferenceResponseOutputCount(responses_[0], &count));
  EXPECT_EQ(count, 1u);
  const char* label = "x";
  EXPECT_SUCCESS(
      TRITONSERVER_InferenceResponseOutputClassificationLabel(responses_[0], 0, 0, &label));
  EXPECT_EQ(label, nullptr);
  EXPECT_EQ(started_, 1);
  EXPECT_EQ(releases_, 1);
}

TEST_F(RequestTest, LabelsOfClasses) {
  service_.labels = {{"OUTPUT0", {"cat", "", "dog"}}};
  AddInput("x");
  EXPECT_SUCCESS(Submit());
  ASSERT_EQ(responses_.size(), 1u);
  const auto label = [&](size_t class_index) {
    const char* text = "unset";
    EXPECT_SUCCESS(TRITONSERVER_InferenceResponseOutputClassificationLabel(responses_[0], 0,
                                                                           class_index, &text));
    return std::string(text == nullptr ? "none" : text);
  };
  EXPECT_EQ(label(0), "cat");
  EXPECT_EQ(label(1), "none");  // an empty line is no label
  EXPECT_EQ(label(2), "dog");
  EXPECT_EQ(label(3), "none");
  EXPECT_EQ(label(SIZE_MAX), "none");
  const char* text = nullptr;
  EXPECT_CODE(TRITONSERVER_InferenceResponseOutputClassificationLabel(responses_[0], 1, 0, &text),
              kInvalidArgument);
}

TEST_F(RequestTest, ReusesAReleasedRequest) {
  AddInput("one");
  EXPECT_SUCCESS(Submit());
  bool cancelled = false;
  EXPECT_SUCCESS(TRITONSERVER_InferenceRequestCancel(request_));
  EXPECT_SUCCESS(TRITONSERVER_InferenceRequestIsCancelled(request_, &cancelled));
  EXPECT_TRUE(cancelled);
  EXPECT_SUCCESS(TRITONSERVER_InferenceRequestRemoveAllInputData(request_, "INPUT0"));
  EXPECT_SUCCESS(TRITONSERVER_InferenceRequestAppendInputData(request_, "INPUT0", "t", 1,
                                                              TRITONSERVER_MEMORY_CPU, 0));
  EXPECT_SUCCESS(TRITONSERVER_InferenceRequestAppendInputData(request_, "INPUT0", "wo", 2,
                                                              TRITONSERVER_MEMORY_CPU, 0));
  EXPECT_SUCCESS(Submit());
  EXPECT_SUCCESS(TRITONSERVER_InferenceRequestIsCancelled(request_, &cancelled));
  EXPECT_FALSE(cancelled);
  ASSERT_EQ(responses_.size(), 2u);
  EXPECT_EQ(Bytes(responses_[0]), "one");
  EXPECT_EQ(Bytes(responses_[1]), "two");
  EXPECT_EQ(releases_, 2);
}

TEST_F(RequestTest, ARequestInFlightIsTheServers) {
  service_.handler = service_.HoldHandler();
  AddInput("x");
  EXPECT_SUCCESS(Submit());
  EXPECT_CODE(Submit(), kInvalidArgument);
  EXPECT_CODE(TRITONSERVER_InferenceRequestSetId(request_, "late"), kInvalidArgument);
  EXPECT_CODE(TRITONSERVER_InferenceRequestRemoveAllInputs(request_), kInvalidArgument);
  EXPECT_CODE(TRITONSERVER_InferenceRequestDelete(request_), kInvalidArgument);
  EXPECT_SUCCESS(TRITONSERVER_InferenceRequestCancel(request_));
  auto held = service_.TakeHeld();
  EXPECT_TRUE(held->IsCancelled());
  FakeInferenceService::Echo(std::move(held));
  EXPECT_EQ(releases_, 1);
  EXPECT_SUCCESS(TRITONSERVER_InferenceRequestSetId(request_, "now"));
}

TEST_F(RequestTest, ARefusedRequestStaysWithTheCaller) {
  AddInput("x");
  service_.infer_refusal = base::Status::Unavailable("stopping");
  EXPECT_CODE(Submit(), kUnavailable);
  EXPECT_EQ(releases_, 0);
  EXPECT_TRUE(responses_.empty());
  service_.infer_refusal = base::Status::Ok();
  EXPECT_SUCCESS(Submit());
  ASSERT_EQ(responses_.size(), 1u);
  EXPECT_EQ(Bytes(responses_[0]), "x");
}

TEST_F(RequestTest, TheModelIsFreeBetweenSubmissions) {
  std::weak_ptr<const request::ModelIdentity> model;
  service_.handler = [&](std::unique_ptr<InferenceRequest> request) {
    model = request->model();
    FakeInferenceService::AnswerNothing(std::move(request));
  };
  EXPECT_SUCCESS(Submit());
  EXPECT_TRUE(model.expired());
}

TEST_F(RequestTest, FinalAloneComesWithNull) {
  service_.handler = FakeInferenceService::AnswerNothing;
  EXPECT_SUCCESS(Submit());
  ASSERT_EQ(responses_.size(), 1u);
  EXPECT_EQ(responses_[0], nullptr);
  EXPECT_EQ(flags_[0], static_cast<uint32_t>(TRITONSERVER_RESPONSE_COMPLETE_FINAL));
}

TEST_F(RequestTest, ErrorBelongsToTheResponse) {
  service_.handler = [](std::unique_ptr<InferenceRequest> request) {
    FakeInferenceService::Fail(std::move(request), base::Status::Internal("broken"));
  };
  EXPECT_SUCCESS(Submit());
  ASSERT_EQ(responses_.size(), 1u);
  TRITONSERVER_Error* error = TRITONSERVER_InferenceResponseError(responses_[0]);
  ASSERT_NE(error, nullptr);
  EXPECT_EQ(TRITONSERVER_ErrorCode(error), TRITONSERVER_ERROR_INTERNAL);
  EXPECT_STREQ(TRITONSERVER_ErrorMessage(error), "broken");
}

TEST_F(RequestTest, AllocatorFailuresBecomeErrorResponses) {
  AddInput("x");
  refuse_allocation_ = true;
  EXPECT_SUCCESS(Submit());
  EXPECT_EQ(OnlyError(), "no room");
  DeleteResponses();
  refuse_allocation_ = false;
  give_null_ = true;
  EXPECT_SUCCESS(Submit());
  EXPECT_EQ(OnlyError(), "the output got no buffer");
}

// As in Triton: the backend decides what an output without a buffer means.
TEST_F(RequestTest, NoBufferIsPassedOnToTheBackend) {
  give_null_ = true;
  service_.handler = [](std::unique_ptr<InferenceRequest> request) {
    auto response = request->response_factory()->NewResponse();
    ASSERT_TRUE(response.ok());
    auto output = (*response)->AddOutput("OUTPUT0", tensor::DataType::kUint8, {2});
    memory::MemoryType type = memory::MemoryType::kCpu;
    int64_t id = 0;
    EXPECT_TRUE((*response)->AllocateOutput(*output, 2, &type, &id).ok());
    EXPECT_EQ((*output)->data, nullptr);
    // The server itself needs a buffer.
    auto lent = (*response)->AddOutput("OUTPUT1", tensor::DataType::kUint8, {2});
    char bytes[] = "ab";
    const auto refused = (*response)->LendOutput(*lent, {.data = bytes, .size = 2});
    EXPECT_NE(refused.message().find("no buffer"), std::string::npos);
    request->response_factory()->Send(std::move(response).value(), true);
    request::ReleaseRequest(std::move(request));
  };
  AddInput("x");
  EXPECT_SUCCESS(Submit());
  EXPECT_EQ(OnlyError(), "");
  const request::Output& output = *Unwrap(responses_[0]).outputs()[0];
  EXPECT_EQ(output.data, nullptr);
  EXPECT_EQ(output.size, 0u) << "no one may read bytes that do not exist";
}

TEST_F(RequestTest, BufferAttributesFunctionSeesTheBuffer) {
  EXPECT_SUCCESS(TRITONSERVER_ResponseAllocatorSetBufferAttributesFunction(
      allocator_, [](TRITONSERVER_ResponseAllocator*, const char* name,
                     TRITONSERVER_BufferAttributes* attributes, void*, void*) {
        size_t size = 0;
        EXPECT_STREQ(name, "OUTPUT0");
        EXPECT_SUCCESS(TRITONSERVER_BufferAttributesByteSize(attributes, &size));
        return size == 4 ? nullptr
                         : TRITONSERVER_ErrorNew(TRITONSERVER_ERROR_INTERNAL, "not four bytes");
      }));
  AddInput("four");
  EXPECT_SUCCESS(Submit());
  EXPECT_EQ(OnlyError(), "");
  DeleteResponses();
  EXPECT_SUCCESS(TRITONSERVER_InferenceRequestRemoveAllInputs(request_));
  AddInput("three");
  EXPECT_SUCCESS(Submit());
  EXPECT_EQ(OnlyError(), "not four bytes");
}

TEST_F(RequestTest, QueryFunctionAnswersForTheAllocator) {
  const auto sink = Unwrap(request_).sink();
  memory::MemoryType type = memory::MemoryType::kGpu;
  int64_t id = 7;
  size_t size = 5;
  const base::Status unknown = sink->QueryOutput("OUT", &size, &type, &id);
  EXPECT_EQ(unknown.code(), base::StatusCode::kUnavailable);
  EXPECT_EQ(unknown.message(), "Output properties are not available");
  EXPECT_SUCCESS(TRITONSERVER_ResponseAllocatorSetQueryFunction(
      allocator_, [](TRITONSERVER_ResponseAllocator*, void*, const char* name, size_t*,
                     TRITONSERVER_MemoryType* asked, int64_t* asked_id) {
        *asked = name == nullptr ? TRITONSERVER_MEMORY_CPU : TRITONSERVER_MEMORY_CPU_PINNED;
        *asked_id = 0;
        return static_cast<TRITONSERVER_Error*>(nullptr);
      }));
  EXPECT_TRUE(sink->QueryOutput("OUT", &size, &type, &id).ok());
  EXPECT_EQ(type, memory::MemoryType::kCpuPinned);
  EXPECT_EQ(id, 0);
  EXPECT_TRUE(sink->QueryOutput("", nullptr, &type, &id).ok());
  EXPECT_EQ(type, memory::MemoryType::kCpu);
}

TEST_F(RequestTest, WhatTheCoreFillsInIsTakenBack) {
  service_.handler = [](std::unique_ptr<InferenceRequest> request) {
    request->requested_outputs = {"OUTPUT0"};
    FakeInferenceService::Echo(std::move(request));
  };
  AddInput("x");
  EXPECT_SUCCESS(Submit());
  EXPECT_TRUE(Unwrap(request_).requested_outputs.empty());
  EXPECT_SUCCESS(TRITONSERVER_InferenceRequestAddRequestedOutput(request_, "OUTPUT0"));
  EXPECT_SUCCESS(Submit());
  EXPECT_EQ(Unwrap(request_).requested_outputs.size(), 1u);
}

TEST_F(RequestTest, ARawInputKeepsItsName) {
  service_.handler = [](std::unique_ptr<InferenceRequest> request) {
    // As Normalize does: the model's input stands in for the raw one.
    auto pieces = request->inputs()[0].pieces;
    request->inputs().Clear();
    auto input = request->AddInput("INPUT0", tensor::DataType::kUint8, {3});
    ASSERT_TRUE(input.ok());
    (*input)->pieces = pieces;
    FakeInferenceService::Echo(std::move(request));
  };
  EXPECT_SUCCESS(TRITONSERVER_InferenceRequestAddRawInput(request_, "raw"));
  EXPECT_CODE(TRITONSERVER_InferenceRequestAddRawInput(request_, "raw2"), kInvalidArgument);
  EXPECT_SUCCESS(TRITONSERVER_InferenceRequestAppendInputData(request_, "raw", "abc", 3,
                                                              TRITONSERVER_MEMORY_CPU, 0));
  EXPECT_SUCCESS(Submit());
  EXPECT_SUCCESS(TRITONSERVER_InferenceRequestRemoveAllInputData(request_, "raw"));
  EXPECT_SUCCESS(TRITONSERVER_InferenceRequestAppendInputData(request_, "raw", "def", 3,
                                                              TRITONSERVER_MEMORY_CPU, 0));
  EXPECT_SUCCESS(Submit());
  ASSERT_EQ(responses_.size(), 2u);
  EXPECT_EQ(Bytes(responses_[0]), "abc");
  EXPECT_EQ(Bytes(responses_[1]), "def");
}

TEST_F(RequestTest, LateResponsesGoToTheCallbacksOfTheirSubmission) {
  // A decoupled model may release the request first and answer later.
  std::shared_ptr<request::ResponseFactory> first;
  service_.handler = [&](std::unique_ptr<InferenceRequest> request) {
    first = request->response_factory();
    const auto sink = request->sink();
    sink->RequestReleased(std::move(request));
  };
  EXPECT_SUCCESS(Submit());
  EXPECT_EQ(releases_, 1);
  std::vector<uint32_t> other;
  EXPECT_SUCCESS(TRITONSERVER_InferenceRequestSetResponseCallback(
      request_, allocator_, this,
      [](TRITONSERVER_InferenceResponse* response, uint32_t flags, void* userp) {
        EXPECT_EQ(response, nullptr);
        static_cast<std::vector<uint32_t>*>(userp)->push_back(flags);
      },
      &other));
  first->SendFinal();
  EXPECT_EQ(responses_.size(), 1u);
  EXPECT_TRUE(other.empty());
  service_.handler = FakeInferenceService::AnswerNothing;
  EXPECT_SUCCESS(Submit());
  EXPECT_EQ(other.size(), 1u);
  EXPECT_EQ(responses_.size(), 1u);
}

TEST_F(RequestTest, NeedsItsCallbacks) {
  TRITONSERVER_InferenceRequest* bare = nullptr;
  ASSERT_EQ(TRITONSERVER_InferenceRequestNew(&bare, &server_, "echo", 2), nullptr);
  EXPECT_CODE(TRITONSERVER_ServerInferAsync(&server_, bare, nullptr), kInvalidArgument);
  EXPECT_SUCCESS(TRITONSERVER_InferenceRequestSetReleaseCallback(bare, OnRelease, this));
  EXPECT_CODE(TRITONSERVER_ServerInferAsync(&server_, bare, nullptr), kInvalidArgument);
  EXPECT_CODE(
      TRITONSERVER_InferenceRequestSetResponseCallback(bare, nullptr, nullptr, OnResponse, nullptr),
      kInvalidArgument);
  EXPECT_SUCCESS(TRITONSERVER_InferenceRequestDelete(bare));
}

TEST_F(RequestTest, NeedsAModelAndAServer) {
  TRITONSERVER_InferenceRequest* none = nullptr;
  EXPECT_CODE(TRITONSERVER_InferenceRequestNew(&none, &server_, "nobody", -1), kNotFound);
  EXPECT_CODE(TRITONSERVER_InferenceRequestNew(&none, &server_, "echo", 5), kNotFound);
  EXPECT_CODE(TRITONSERVER_InferenceRequestNew(&none, nullptr, "echo", 1), kInvalidArgument);
  EXPECT_CODE(TRITONSERVER_InferenceRequestNew(&none, &server_, nullptr, 1), kInvalidArgument);
  TRITONSERVER_Server unborn;
  EXPECT_CODE(TRITONSERVER_InferenceRequestNew(&none, &unborn, "echo", 1), kUnavailable);
  EXPECT_EQ(none, nullptr);
}

TEST_F(RequestTest, ATraceComesBackWithARefusal) {
  int released = 0;
  TRITONSERVER_InferenceTrace* trace = nullptr;
  EXPECT_SUCCESS(TRITONSERVER_InferenceTraceNew(
      &trace, TRITONSERVER_TRACE_LEVEL_TIMESTAMPS, 0,
      [](TRITONSERVER_InferenceTrace*, TRITONSERVER_InferenceTraceActivity, uint64_t, void*) {},
      [](TRITONSERVER_InferenceTrace* mine, void* userp) {
        ++*static_cast<int*>(userp);
        EXPECT_SUCCESS(TRITONSERVER_InferenceTraceDelete(mine));
      },
      &released));
  TRITONSERVER_Server unborn;
  EXPECT_CODE(TRITONSERVER_ServerInferAsync(&unborn, request_, trace), kUnavailable);
  EXPECT_EQ(released, 1);
}

TEST_F(RequestTest, ChecksInputsAndOutputs) {
  const int64_t shape[] = {2};
  EXPECT_CODE(
      TRITONSERVER_InferenceRequestAddInput(request_, "A", TRITONSERVER_TYPE_FP32, nullptr, 1),
      kInvalidArgument);
  EXPECT_SUCCESS(
      TRITONSERVER_InferenceRequestAddInput(request_, "A", TRITONSERVER_TYPE_FP32, shape, 1));
  EXPECT_CODE(
      TRITONSERVER_InferenceRequestAddInput(request_, "A", TRITONSERVER_TYPE_FP32, shape, 1),
      kInvalidArgument);
  EXPECT_CODE(TRITONSERVER_InferenceRequestAppendInputData(request_, "A", nullptr, 4,
                                                           TRITONSERVER_MEMORY_CPU, 0),
              kInvalidArgument);
  EXPECT_SUCCESS(TRITONSERVER_InferenceRequestAppendInputData(request_, "A", nullptr, 0,
                                                              TRITONSERVER_MEMORY_CPU, 0));
  EXPECT_CODE(TRITONSERVER_InferenceRequestAppendInputData(request_, "B", shape, 4,
                                                           TRITONSERVER_MEMORY_CPU, 0),
              kInvalidArgument);
  EXPECT_CODE(TRITONSERVER_InferenceRequestAppendInputData(
                  request_, "A", shape, 4, static_cast<TRITONSERVER_MemoryType>(3), 0),
              kInvalidArgument);
  EXPECT_SUCCESS(TRITONSERVER_InferenceRequestAppendInputDataWithHostPolicy(
      request_, "A", shape, 8, TRITONSERVER_MEMORY_CPU, 0, "cpu"));
  EXPECT_TRUE(Unwrap(request_).inputs()[0].pieces.empty());
  EXPECT_CODE(TRITONSERVER_InferenceRequestRemoveInput(request_, "B"), kInvalidArgument);
  EXPECT_SUCCESS(TRITONSERVER_InferenceRequestRemoveInput(request_, "A"));
  EXPECT_SUCCESS(TRITONSERVER_InferenceRequestAddRequestedOutput(request_, "O"));
  EXPECT_CODE(TRITONSERVER_InferenceRequestAddRequestedOutput(request_, "O"), kInvalidArgument);
  EXPECT_SUCCESS(TRITONSERVER_InferenceRequestRemoveRequestedOutput(request_, "O"));
  EXPECT_SUCCESS(TRITONSERVER_InferenceRequestAddRequestedOutput(request_, "O"));
  EXPECT_SUCCESS(TRITONSERVER_InferenceRequestRemoveAllRequestedOutputs(request_));
  EXPECT_TRUE(Unwrap(request_).requested_outputs.empty());
}

TEST_F(RequestTest, BufferAttributesTravelWithTheInput) {
  const int64_t shape[] = {1};
  TRITONSERVER_BufferAttributes* attributes = nullptr;
  EXPECT_SUCCESS(TRITONSERVER_BufferAttributesNew(&attributes));
  EXPECT_SUCCESS(TRITONSERVER_BufferAttributesSetByteSize(attributes, 8));
  EXPECT_SUCCESS(
      TRITONSERVER_BufferAttributesSetMemoryType(attributes, TRITONSERVER_MEMORY_CPU_PINNED));
  EXPECT_SUCCESS(
      TRITONSERVER_InferenceRequestAddInput(request_, "A", TRITONSERVER_TYPE_INT64, shape, 1));
  EXPECT_SUCCESS(TRITONSERVER_InferenceRequestAppendInputDataWithBufferAttributes(
      request_, "A", shape, attributes));
  EXPECT_SUCCESS(TRITONSERVER_BufferAttributesDelete(attributes));
  const request::Input& input = Unwrap(request_).inputs()[0];
  ASSERT_EQ(input.pieces.size(), 1u);
  EXPECT_EQ(input.pieces[0].size, 8u);
  EXPECT_EQ(input.pieces[0].memory_type, memory::MemoryType::kCpuPinned);
}

TEST_F(RequestTest, SettingsReadBack) {
  uint32_t flags = 0, priority = 0;
  uint64_t number = 0;
  const char* text = nullptr;
  EXPECT_SUCCESS(TRITONSERVER_InferenceRequestId(request_, &text));
  EXPECT_STREQ(text, "");
  EXPECT_SUCCESS(
      TRITONSERVER_InferenceRequestSetFlags(request_, TRITONSERVER_REQUEST_FLAG_SEQUENCE_END));
  EXPECT_SUCCESS(TRITONSERVER_InferenceRequestFlags(request_, &flags));
  EXPECT_EQ(flags, 2u);
  EXPECT_SUCCESS(TRITONSERVER_InferenceRequestSetPriorityUInt64(request_, uint64_t{1} << 32));
  EXPECT_CODE(TRITONSERVER_InferenceRequestPriority(request_, &priority), kInvalidArgument);
  EXPECT_SUCCESS(TRITONSERVER_InferenceRequestSetPriority(request_, 3));
  EXPECT_SUCCESS(TRITONSERVER_InferenceRequestPriority(request_, &priority));
  EXPECT_EQ(priority, 3u);
  EXPECT_SUCCESS(TRITONSERVER_InferenceRequestSetTimeoutMicroseconds(request_, 99));
  EXPECT_SUCCESS(TRITONSERVER_InferenceRequestTimeoutMicroseconds(request_, &number));
  EXPECT_EQ(number, 99u);

  EXPECT_CODE(TRITONSERVER_InferenceRequestCorrelationIdString(request_, &text), kInvalidArgument);
  EXPECT_SUCCESS(
      TRITONSERVER_InferenceRequestSetCorrelationIdString(request_, std::string(128, 'c').c_str()));
  EXPECT_CODE(
      TRITONSERVER_InferenceRequestSetCorrelationIdString(request_, std::string(129, 'c').c_str()),
      kUnsupported);
  EXPECT_SUCCESS(TRITONSERVER_InferenceRequestCorrelationIdString(request_, &text));
  EXPECT_EQ(std::string(text), std::string(128, 'c'));
  EXPECT_CODE(TRITONSERVER_InferenceRequestCorrelationId(request_, &number), kInvalidArgument);
  EXPECT_SUCCESS(TRITONSERVER_InferenceRequestSetCorrelationId(request_, 41));
  EXPECT_SUCCESS(TRITONSERVER_InferenceRequestCorrelationId(request_, &number));
  EXPECT_EQ(number, 41u);
}

TEST_F(RequestTest, ParametersGoInAndComeOut) {
  EXPECT_SUCCESS(TRITONSERVER_InferenceRequestSetStringParameter(request_, "s", "text"));
  EXPECT_SUCCESS(TRITONSERVER_InferenceRequestSetIntParameter(request_, "i", -3));
  EXPECT_SUCCESS(TRITONSERVER_InferenceRequestSetBoolParameter(request_, "b", true));
  EXPECT_SUCCESS(TRITONSERVER_InferenceRequestSetDoubleParameter(request_, "d", 0.5));
  EXPECT_SUCCESS(TRITONSERVER_InferenceRequestSetIntParameter(request_, "i", 4));
  service_.handler = [](std::unique_ptr<InferenceRequest> request) {
    auto response = request->response_factory()->NewResponse();
    ASSERT_TRUE(response.ok());
    (*response)->parameters() = request->parameters;
    request->response_factory()->Send(std::move(response).value(), true);
    const auto sink = request->sink();
    sink->RequestReleased(std::move(request));
  };
  EXPECT_SUCCESS(Submit());
  ASSERT_EQ(responses_.size(), 1u);
  uint32_t count = 0;
  EXPECT_SUCCESS(TRITONSERVER_InferenceResponseParameterCount(responses_[0], &count));
  ASSERT_EQ(count, 5u);
  const char* name = nullptr;
  const void* value = nullptr;
  TRITONSERVER_ParameterType type = TRITONSERVER_PARAMETER_BYTES;
  const auto read = [&](uint32_t index) {
    EXPECT_SUCCESS(
        TRITONSERVER_InferenceResponseParameter(responses_[0], index, &name, &type, &value));
    return type;
  };
  EXPECT_EQ(read(0), TRITONSERVER_PARAMETER_STRING);
  EXPECT_STREQ(name, "s");
  EXPECT_STREQ(static_cast<const char*>(value), "text");
  EXPECT_EQ(read(1), TRITONSERVER_PARAMETER_INT);
  EXPECT_EQ(*static_cast<const int64_t*>(value), -3);
  EXPECT_EQ(read(2), TRITONSERVER_PARAMETER_BOOL);
  EXPECT_TRUE(*static_cast<const bool*>(value));
  EXPECT_EQ(read(3), TRITONSERVER_PARAMETER_DOUBLE);
  EXPECT_EQ(*static_cast<const double*>(value), 0.5);
  EXPECT_EQ(read(4), TRITONSERVER_PARAMETER_INT);
  EXPECT_CODE(TRITONSERVER_InferenceResponseParameter(responses_[0], 5, &name, &type, &value),
              kInvalidArgument);
}

}  // namespace
}  // namespace nereid::frontend::capi
