// SPDX-License-Identifier: Apache-2.0
#pragma once

// A fake of TensorRT's runtime library, behind the stand-in headers of this folder. It needs the
// fake CUDA driver of tests/fake_gpu. README.md describes its plans.

#include <atomic>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace nereid::tensorrt::testing {

/// What a test can see and change. Tests and the fake use it without a lock: one thread at a time.
struct FakeTensorRt {
  // Injected failures.
  /// TensorRT cannot use the driver: it returns an address that is neither null nor valid.
  bool start_fails = false;
  /// TensorRT logs an error while it starts, and starts.
  bool start_complains = false;
  bool no_context = false;
  bool enqueue_fails = false;
  bool profile_fails = false;

  // The last run.
  int last_profile = -1;
  std::map<std::string, std::vector<int64_t>> last_shapes;
  std::map<std::string, std::vector<int64_t>> last_values;  // of shape tensors
  /// Runs that were started by TensorRT's function; a run of a CUDA graph does not count.
  int enqueued = 0;
  /// Whether a run has found an input or output smaller than its shape says.
  std::atomic<bool> overrun{false};

  int last_dla_core = -1;
  int plans_read = 0;
  // Objects that live.
  int engines = 0;
  int contexts = 0;
};

/// Returns the only instance of the process.
extern "C" FakeTensorRt* nereid_fake_tensorrt();

}  // namespace nereid::tensorrt::testing
