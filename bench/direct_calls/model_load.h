// SPDX-License-Identifier: Apache-2.0
// A load of a framework's own calls, without a server: what bench/real_models compares servers
// with. The programs direct_model_* have one framework each.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace nereid::bench {

/// One input of the call: a line `NAME DATATYPE DIM,DIM,... FILE` of the request's file, or `-` in
/// place of the dimensions of a scalar. `bytes` is the content of FILE, elements in row-major
/// order.
struct InputTensor {
  std::string name;
  std::string datatype;  // as in the protocol: FP32, INT64, …
  std::vector<int64_t> shape;
  std::vector<char> bytes;
};

/// Reads the file of a request. Exits with a message if it cannot be read.
std::vector<InputTensor> ReadInputs(const std::string& path);

/// Serves measurements until standard input ends. Each line `CALLERS WARMUP SECONDS` starts that
/// many threads, each of which makes `call()` again and again, and is answered by a line of JSON:
/// requests, seconds, throughput (1/s), mean_us, p50_us, p99_us, cpu_us (of the process, for a
/// call). `begin` runs on each thread before its first call.
int ServeMeasurements(const std::function<void()>& begin, const std::function<void()>& call);

}  // namespace nereid::bench
