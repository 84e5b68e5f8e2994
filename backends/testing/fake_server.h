// SPDX-License-Identifier: Apache-2.0
#pragma once

// A stand-in for the server in the tests of plug-ins: it defines the part of the C API that they
// call, over plain structs which a test fills and looks at. One thread at a time.

#include <cstdint>
#include <cstring>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "triton/core/tritonbackend.h"

namespace nereid::backend::testing {

using ParameterValue = std::variant<std::string, int64_t, bool, double>;

/// Returns the elements of a tensor.
template <typename T>
std::vector<T> ValuesOf(const std::vector<char>& data) {
  std::vector<T> values(data.size() / sizeof(T));
  if (!values.empty()) {
    std::memcpy(values.data(), data.data(), values.size() * sizeof(T));
  }
  return values;
}

/// An output of a response.
struct FakeOutput {
  TRITONSERVER_DataType data_type = TRITONSERVER_TYPE_INVALID;
  std::vector<int64_t> shape;
  std::vector<char> data;
  /// Bytes in front of the buffer that the plug-in saw; cut off when the response is sent.
  size_t offset = 0;
  /// The buffer if it is in GPU memory.
  void* gpu_data = nullptr;

  template <typename T>
  std::vector<T> As() const {
    return ValuesOf<T>(data);
  }
};

/// A response as its client would see it.
struct FakeAnswer {
  bool final = false;
  bool failed = false;
  TRITONSERVER_Error_Code code = TRITONSERVER_ERROR_UNKNOWN;
  std::string message;
  std::map<std::string, FakeOutput> outputs;
  std::map<std::string, ParameterValue> parameters;
};

struct FakeRequestStatistics {
  bool success = false;
  uint64_t exec_start_ns = 0;
  uint64_t compute_start_ns = 0;
  uint64_t compute_end_ns = 0;
  uint64_t exec_end_ns = 0;
};

struct FakeBatchStatistics {
  uint64_t batch_size = 0;
};

/// Objects of the fake that exist at present; zero when a plug-in leaks none.
int LiveErrors();
int LiveMessages();
int LiveResponses();

/// How the next calls behave: failures that a test asks for, and verbose messages.
struct FakeFaults {
  bool logs_verbose = false;
  bool response_new_fails = false;
  bool reschedule_fails = false;
  bool output_buffer_fails = false;
  bool output_buffer_is_gpu = false;
  bool output_buffer_is_misaligned = false;
};
FakeFaults& Faults();

/// Allocates pinned memory for plug-ins; empty if there is none. The memory is freed by the test.
std::function<void*(uint64_t size)>& PinnedBuffers();

/// Allocates the buffers of outputs and states that a plug-in prefers in the memory of GPU 0. Empty
/// if there is no such memory.
std::function<void*(uint64_t size)>& GpuBuffers();

/// The log lines since the start of the program.
std::vector<std::string>& LogLines();

/// One BYTES tensor's content.
std::string BytesTensor(const std::vector<std::string>& elements);
/// The inverse, for well-formed content.
std::vector<std::string> BytesElements(const std::vector<char>& data);

}  // namespace nereid::backend::testing

struct TRITONBACKEND_Input {
  std::string name;
  TRITONSERVER_DataType data_type = TRITONSERVER_TYPE_INVALID;
  std::vector<int64_t> shape;
  uint64_t byte_size = 0;
  /// Each piece in memory of its own; `offset` bytes in, to make it misaligned.
  std::vector<std::vector<char>> pieces;
  size_t offset = 0;
  TRITONSERVER_MemoryType memory_type = TRITONSERVER_MEMORY_CPU;
  /// For each piece, if not empty: its place in GPU memory, or null if it is in host memory.
  std::vector<void*> gpu_pieces;
};

/// A state that a plug-in writes.
struct TRITONBACKEND_State {
  std::string name;
  TRITONSERVER_DataType data_type = TRITONSERVER_TYPE_INVALID;
  std::vector<int64_t> shape;
  std::vector<char> data;
  bool updated = false;
  /// The buffer if it is in GPU memory.
  void* gpu_data = nullptr;

  template <typename T>
  std::vector<T> As() const {
    return nereid::backend::testing::ValuesOf<T>(data);
  }
};

struct TRITONSERVER_InferenceTrace {
  /// The names of what was reported, in order.
  std::vector<std::string> activities;
};

struct TRITONBACKEND_Request {
  std::deque<TRITONBACKEND_Input> inputs;
  std::vector<std::string> outputs;
  std::vector<std::pair<std::string, nereid::backend::testing::ParameterValue>> parameters;
  /// Null for a request that is not traced.
  TRITONSERVER_InferenceTrace* trace = nullptr;
  bool cancelled = false;
  /// The client gives up just before the plug-in asks for the n-th time; 0: never.
  int cancelled_at_poll = 0;
  int cancellation_polls = 0;

  /// Whether its model keeps states.
  bool has_states = false;

  // What became of it.
  std::deque<TRITONBACKEND_State> states;
  int releases = 0;
  /// Of the releases: how many were to have it executed again.
  int reschedules = 0;
  std::vector<nereid::backend::testing::FakeAnswer> answers;
  std::vector<nereid::backend::testing::FakeRequestStatistics> statistics;

  /// Adds an input whose content is `values`.
  template <typename T>
  TRITONBACKEND_Input& AddInput(const std::string& name, TRITONSERVER_DataType type,
                                std::vector<int64_t> shape, const std::vector<T>& values) {
    std::string bytes(values.size() * sizeof(T), '\0');
    if (!values.empty()) {
      std::memcpy(bytes.data(), values.data(), bytes.size());
    }
    return AddRaw(name, type, std::move(shape), bytes);
  }
  TRITONBACKEND_Input& AddRaw(const std::string& name, TRITONSERVER_DataType type,
                              std::vector<int64_t> shape, const std::string& bytes);
  /// The state of that name that was updated last; a test failure if there is none.
  const TRITONBACKEND_State& State(const std::string& name) const;
  /// The only answer; a test failure if there is not exactly one, final, after one release.
  const nereid::backend::testing::FakeAnswer& Answer() const;
};

struct TRITONBACKEND_Backend {
  std::string name = "test";
  std::string directory;
  std::string config = "{\"cmdline\":{}}";
  void* state = nullptr;
  TRITONBACKEND_ExecutionPolicy policy = TRITONBACKEND_EXECUTION_BLOCKING;
  std::unique_ptr<TRITONSERVER_Message> message;

  TRITONBACKEND_Backend();
  ~TRITONBACKEND_Backend();
};

struct TRITONBACKEND_Model {
  TRITONBACKEND_Backend* backend = nullptr;
  std::string name = "m";
  uint64_t version = 1;
  std::string directory;
  std::string config;
  bool auto_complete = false;
  void* state = nullptr;
};

struct TRITONBACKEND_ModelInstance {
  TRITONBACKEND_Model* model = nullptr;
  std::string name = "m_0";
  TRITONSERVER_InstanceGroupKind kind = TRITONSERVER_INSTANCEGROUPKIND_CPU;
  int32_t device_id = 0;
  std::vector<std::string> profiles;
  /// The ids of secondary devices, which are of kind KIND_NVDLA.
  std::vector<int64_t> dla_cores;
  void* state = nullptr;
  std::vector<nereid::backend::testing::FakeBatchStatistics> statistics;
};

namespace nereid::backend::testing {

/// A loaded model with one instance: calls the plug-in's entry points in the server's order, and
/// the Finalize functions at its end.
class FakeServer {
 public:
  FakeServer();
  ~FakeServer();

  TRITONBACKEND_Backend& backend() { return backend_; }
  TRITONBACKEND_Model& model() { return model_; }
  TRITONBACKEND_ModelInstance& instance() { return instance_; }

  /// Loads the model, after what an earlier call loaded; the text of the failure, or "".
  std::string Load();
  /// Whether the plug-in says that the instance can serve; the text of its reason, or "".
  std::string CheckReady();
  /// Runs one batch; the text of a failure of the call itself, or "".
  std::string Execute(const std::vector<TRITONBACKEND_Request*>& requests);

 private:
  void Unload();

  TRITONBACKEND_Backend backend_;
  TRITONBACKEND_Model model_;
  TRITONBACKEND_ModelInstance instance_;
  bool backend_initialized_ = false;
  bool model_initialized_ = false;
  bool instance_initialized_ = false;
};

}  // namespace nereid::backend::testing
