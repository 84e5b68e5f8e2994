// SPDX-License-Identifier: Apache-2.0
#include "testing/fake_server.h"

#include <gtest/gtest.h>

namespace nereid::backend::testing {
namespace {

std::string Consume(TRITONSERVER_Error* error) {
  std::string text = error == nullptr ? "" : TRITONSERVER_ErrorMessage(error);
  TRITONSERVER_ErrorDelete(error);
  return text;
}

}  // namespace

std::string BytesTensor(const std::vector<std::string>& elements) {
  std::string bytes;
  for (const std::string& element : elements) {
    const auto length = static_cast<uint32_t>(element.size());
    bytes.append(reinterpret_cast<const char*>(&length), sizeof(length)).append(element);
  }
  return bytes;
}

std::vector<std::string> BytesElements(const std::vector<char>& data) {
  std::vector<std::string> elements;
  size_t at = 0;
  while (at + sizeof(uint32_t) <= data.size()) {
    uint32_t length = 0;
    std::memcpy(&length, data.data() + at, sizeof(length));
    at += sizeof(length);
    if (length > data.size() - at) {
      ADD_FAILURE() << "malformed BYTES content";
      break;
    }
    elements.emplace_back(data.data() + at, length);
    at += length;
  }
  return elements;
}

std::function<void*(uint64_t size)>& PinnedBuffers() {
  static std::function<void*(uint64_t size)> allocate;
  return allocate;
}

std::function<void*(uint64_t size)>& GpuBuffers() {
  static std::function<void*(uint64_t size)> allocate;
  return allocate;
}

FakeServer::FakeServer() {
  model_.backend = &backend_;
  instance_.model = &model_;
}

FakeServer::~FakeServer() { Unload(); }

void FakeServer::Unload() {
  if (instance_initialized_) {
    EXPECT_EQ(Consume(TRITONBACKEND_ModelInstanceFinalize(&instance_)), "");
  }
  if (model_initialized_) {
    EXPECT_EQ(Consume(TRITONBACKEND_ModelFinalize(&model_)), "");
  }
  if (backend_initialized_) {
    // A plug-in need not have this entry point; the weak default below stands in.
    EXPECT_EQ(Consume(TRITONBACKEND_Finalize(&backend_)), "");
  }
  instance_initialized_ = model_initialized_ = backend_initialized_ = false;
}

std::string FakeServer::CheckReady() {
  return Consume(TRITONBACKEND_ModelInstanceReady(&instance_));
}

std::string FakeServer::Load() {
  Unload();
  std::string failure = Consume(TRITONBACKEND_Initialize(&backend_));
  if (!failure.empty()) {
    return failure;
  }
  backend_initialized_ = true;
  failure = Consume(TRITONBACKEND_ModelInitialize(&model_));
  if (!failure.empty()) {
    return failure;
  }
  model_initialized_ = true;
  failure = Consume(TRITONBACKEND_ModelInstanceInitialize(&instance_));
  instance_initialized_ = failure.empty();
  return failure;
}

std::string FakeServer::Execute(const std::vector<TRITONBACKEND_Request*>& requests) {
  // The array is valid during the call only.
  auto array = std::make_unique<TRITONBACKEND_Request*[]>(requests.size());
  std::copy(requests.begin(), requests.end(), array.get());
  return Consume(TRITONBACKEND_ModelInstanceExecute(&instance_, array.get(),
                                                    static_cast<uint32_t>(requests.size())));
}

}  // namespace nereid::backend::testing

TRITONBACKEND_Input& TRITONBACKEND_Request::AddRaw(const std::string& name,
                                                   TRITONSERVER_DataType type,
                                                   std::vector<int64_t> shape,
                                                   const std::string& bytes) {
  TRITONBACKEND_Input& input = inputs.emplace_back();
  input.name = name;
  input.data_type = type;
  input.shape = std::move(shape);
  input.byte_size = bytes.size();
  input.pieces.emplace_back(bytes.begin(), bytes.end());
  return input;
}

const TRITONBACKEND_State& TRITONBACKEND_Request::State(const std::string& name) const {
  static const TRITONBACKEND_State kNone;
  for (auto state = states.rbegin(); state != states.rend(); ++state) {
    if (state->name == name && state->updated) {
      return *state;
    }
  }
  ADD_FAILURE() << "the state '" << name << "' was not updated";
  return kNone;
}

const nereid::backend::testing::FakeAnswer& TRITONBACKEND_Request::Answer() const {
  static const nereid::backend::testing::FakeAnswer kNone;
  EXPECT_EQ(answers.size(), 1u);
  EXPECT_EQ(releases, 1);
  EXPECT_EQ(statistics.size(), 1u);
  if (answers.empty()) {
    return kNone;
  }
  EXPECT_TRUE(answers[0].final);
  if (!statistics.empty()) {
    EXPECT_EQ(statistics[0].success, !answers[0].failed);
  }
  return answers[0];
}

// The entry points of tests without a plug-in: FakeServer alone calls them.
#define NEREID_NO_ENTRY_POINT(name, ...) \
  extern "C" __attribute__((weak)) TRITONSERVER_Error* name(__VA_ARGS__) { return nullptr; }
NEREID_NO_ENTRY_POINT(TRITONBACKEND_Initialize, TRITONBACKEND_Backend*)
NEREID_NO_ENTRY_POINT(TRITONBACKEND_Finalize, TRITONBACKEND_Backend*)
NEREID_NO_ENTRY_POINT(TRITONBACKEND_ModelInitialize, TRITONBACKEND_Model*)
NEREID_NO_ENTRY_POINT(TRITONBACKEND_ModelFinalize, TRITONBACKEND_Model*)
NEREID_NO_ENTRY_POINT(TRITONBACKEND_ModelInstanceInitialize, TRITONBACKEND_ModelInstance*)
NEREID_NO_ENTRY_POINT(TRITONBACKEND_ModelInstanceFinalize, TRITONBACKEND_ModelInstance*)
NEREID_NO_ENTRY_POINT(TRITONBACKEND_ModelInstanceReady, TRITONBACKEND_ModelInstance*)
NEREID_NO_ENTRY_POINT(TRITONBACKEND_ModelInstanceExecute, TRITONBACKEND_ModelInstance*,
                      TRITONBACKEND_Request**, uint32_t)
