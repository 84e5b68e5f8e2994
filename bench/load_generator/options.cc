// SPDX-License-Identifier: Apache-2.0
#include "options.h"

#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string_view>

namespace nereid::bench {
namespace {

constexpr char kUsage[] =
    R"(usage: nereid-bench-client [OPTION VALUE]...

Keeps a fixed number of inference requests in flight for some seconds, then prints the results as
one JSON object.

  --protocol http|grpc     (http)
  --encoding binary|json   form of the tensor in HTTP requests (binary)
  --host ADDRESS           IPv4 address (127.0.0.1)
  --port N                 (8000)
  --tls yes|no             over TLS, without a check of the server's certificate (no)
  --connections N          (1)
  --streams N              requests in flight on each gRPC connection (1)
  --seconds S              length of the measurement (2)
  --warmup S               unmeasured requests before it (0.3)
  --server-pid PID         also print the CPU time that this process spent for each request
  --model NAME             (identity)
  --input NAME             (INPUT0)
  --datatype TYPE          FP32, FP64, INT32, INT64 or UINT8 (FP32)
  --shape N,N,...          (1,16)
  --sequence N             each N requests of a caller (a connection, a stream) are a sequence (0)
  --verify identity|none   whether the output of the first answer must equal the input (identity)
  --body FILE              the body of every request: JSON for HTTP, a ModelInferRequest for gRPC; the
                           tensors may be in shared memory, and the answers are not verified
)";

[[noreturn]] void Fail(const std::string& message) {
  std::fprintf(stderr, "nereid-bench-client: %s\n", message.c_str());
  std::exit(2);
}

template <typename T>
T Number(std::string_view flag, std::string_view text, T least, T most) {
  T value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || !(value >= least) ||
      !(value <= most)) {
    Fail(std::string(flag) + " needs a number from " + std::to_string(least) + " to " +
         std::to_string(most) + ", got '" + std::string(text) + "'");
  }
  return value;
}

/// Returns whether `text` is `yes`; it must be `yes` or `no`.
bool Choice(std::string_view flag, std::string_view text, std::string_view yes,
            std::string_view no) {
  if (text != yes && text != no) {
    Fail(std::string(flag) + " needs " + std::string(yes) + " or " + std::string(no) + ", got '" +
         std::string(text) + "'");
  }
  return text == yes;
}

std::vector<int64_t> Shape(std::string_view flag, std::string_view text) {
  std::vector<int64_t> shape;
  for (size_t begin = 0; begin <= text.size();) {
    const size_t comma = std::min(text.find(',', begin), text.size());
    shape.push_back(Number<int64_t>(flag, text.substr(begin, comma - begin), 1, 1 << 28));
    begin = comma + 1;
  }
  if (ElementCount(shape) > 1 << 28) Fail("--shape has more than 2^28 elements");
  return shape;
}

std::string Content(std::string_view flag, const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::string content((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  if (content.empty()) Fail(std::string(flag) + ": '" + path + "' cannot be read or is empty");
  return content;
}

void Set(Options& options, std::string_view flag, std::string_view value) {
  if (flag == "--protocol") {
    options.protocol = Choice(flag, value, "http", "grpc") ? Protocol::kHttp : Protocol::kGrpc;
  } else if (flag == "--encoding") {
    options.encoding = Choice(flag, value, "binary", "json") ? Encoding::kBinary : Encoding::kJson;
  } else if (flag == "--host") {
    options.host = value;
  } else if (flag == "--port") {
    options.port = Number<uint16_t>(flag, value, 1, 65535);
  } else if (flag == "--tls") {
    options.tls = Choice(flag, value, "yes", "no");
  } else if (flag == "--connections") {
    options.connections = Number(flag, value, 1, 4096);
  } else if (flag == "--streams") {
    options.streams = Number(flag, value, 1, 100);
  } else if (flag == "--seconds") {
    options.seconds = Number(flag, value, 0.01, 3600.0);
  } else if (flag == "--warmup") {
    options.warmup_seconds = Number(flag, value, 0.0, 3600.0);
  } else if (flag == "--server-pid") {
    options.server_pid = Number(flag, value, 1, 1 << 30);
  } else if (flag == "--model") {
    options.model = value;
  } else if (flag == "--input") {
    options.input = value;
  } else if (flag == "--datatype") {
    options.datatype = value;
  } else if (flag == "--shape") {
    options.shape = Shape(flag, value);
  } else if (flag == "--sequence") {
    options.sequence = Number(flag, value, 0, 1 << 20);
  } else if (flag == "--body") {
    options.body = Content(flag, std::string(value));
  } else if (flag == "--verify") {
    options.verify_identity = Choice(flag, value, "identity", "none");
  } else {
    Fail("unknown option '" + std::string(flag) + "' (see --help)");
  }
}

}  // namespace

int64_t ElementCount(const std::vector<int64_t>& shape) {
  int64_t count = 1;
  for (const int64_t dim : shape) {
    if (__builtin_mul_overflow(count, dim, &count)) return INT64_MAX;
  }
  return count;
}

Options ParseCommandLine(int argc, char** argv) {
  Options options;
  for (int i = 1; i < argc; i += 2) {
    const std::string_view flag = argv[i];
    if (flag == "--help" || flag == "-h") {
      std::fputs(kUsage, stdout);
      std::exit(0);
    }
    if (i + 1 == argc) Fail("'" + std::string(flag) + "' needs a value (see --help)");
    Set(options, flag, argv[i + 1]);
  }
  if (options.protocol == Protocol::kHttp && options.streams != 1) {
    Fail("--streams is for --protocol grpc");
  }
  if (options.protocol == Protocol::kGrpc && options.encoding == Encoding::kJson) {
    Fail("--encoding json is for --protocol http");
  }
  return options;
}

}  // namespace nereid::bench
