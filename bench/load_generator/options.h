// SPDX-License-Identifier: Apache-2.0
// The command line of nereid-bench-client.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace nereid::bench {

enum class Protocol { kHttp, kGrpc };
enum class Encoding { kBinary, kJson };

struct Options {
  Protocol protocol = Protocol::kHttp;
  // The form of a tensor in an HTTP request; gRPC always uses raw bytes.
  Encoding encoding = Encoding::kBinary;
  std::string host = "127.0.0.1";
  uint16_t port = 8000;
  bool tls = false;
  int connections = 1;
  // Requests in flight on each connection; HTTP has one.
  int streams = 1;
  double seconds = 2;
  double warmup_seconds = 0.3;
  // The process whose CPU time is read; 0 for none.
  int server_pid = 0;
  std::string model = "identity";
  std::string input = "INPUT0";
  std::string datatype = "FP32";
  std::vector<int64_t> shape = {1, 16};
  // The number of requests of a caller that form a sequence with its own id; 0: no sequences.
  int sequence = 0;
  // The body of every request instead of a tensor in it: JSON, or a ModelInferRequest. Empty: none.
  std::string body;
  // Whether the output of the first answer must equal the input.
  bool verify_identity = true;
};

/// Reads the command line. Prints one line to stderr and exits with code 2 if it is wrong; --help
/// prints the text and exits with 0.
Options ParseCommandLine(int argc, char** argv);

/// Returns the product of `shape`.
int64_t ElementCount(const std::vector<int64_t>& shape);

}  // namespace nereid::bench
