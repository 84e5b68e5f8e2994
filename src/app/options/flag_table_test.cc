// SPDX-License-Identifier: Apache-2.0
#include "app/options/flag_table.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <iterator>
#include <set>
#include <sstream>
#include <string>
#include <vector>

namespace nereid::app {
namespace {

// The names that scripts written for Triton use. Names may be added to this list, but not removed.
TEST(FlagTableTest, HasEveryFlagOfTriton) {
  std::set<std::string> names;
  for (const FlagSpec& flag : AllFlags()) {
    EXPECT_TRUE(names.emplace(flag.name).second) << flag.name << " twice";
    EXPECT_FALSE(flag.help.empty()) << flag.name;
  }
  std::istringstream words(
      "help id exit-timeout-secs log-verbose log-info log-warning log-error log-format log-file "
      "model-store model-repository exit-on-error disable-auto-complete-config strict-readiness "
      "model-control-mode repository-poll-secs load-model model-config-name "
      "model-load-thread-count "
      "model-load-retry-count model-namespacing enable-peer-access allow-http http-address "
      "http-port "
      "reuse-http-port http-header-forward-pattern http-thread-count http-max-input-size "
      "http-restricted-api allow-grpc grpc-address grpc-port reuse-grpc-port "
      "grpc-header-forward-pattern grpc-infer-thread-count grpc-infer-allocation-pool-size "
      "grpc-max-response-pool-size grpc-use-ssl grpc-use-ssl-mutual grpc-server-cert "
      "grpc-server-key grpc-root-cert grpc-infer-response-compression-level grpc-keepalive-time "
      "grpc-keepalive-timeout grpc-keepalive-permit-without-calls "
      "grpc-http2-max-pings-without-data "
      "grpc-http2-min-recv-ping-interval-without-data grpc-http2-max-ping-strikes "
      "grpc-max-connection-age grpc-max-connection-age-grace grpc-restricted-protocol "
      "allow-sagemaker sagemaker-port sagemaker-safe-port-range sagemaker-thread-count "
      "allow-vertex-ai vertex-ai-port vertex-ai-thread-count vertex-ai-default-model allow-metrics "
      "allow-gpu-metrics allow-cpu-metrics metrics-address metrics-port metrics-interval-ms "
      "metrics-config trace-config backend-directory backend-config repoagent-directory "
      "cache-config cache-directory rate-limit rate-limit-resource pinned-memory-pool-byte-size "
      "cuda-memory-pool-byte-size cuda-virtual-address-size min-supported-compute-capability "
      "buffer-manager-thread-count host-policy model-load-gpu-limit allow-client-shm "
      "strict-model-config response-cache-byte-size trace-file trace-level trace-rate trace-count "
      "trace-log-frequency");
  const std::vector<std::string> triton{std::istream_iterator<std::string>(words), {}};
  for (const std::string& name : triton) EXPECT_TRUE(names.contains(name)) << name;
  const auto flags = AllFlags();
  const auto extensions = std::count_if(flags.begin(), flags.end(),
                                        [](const FlagSpec& flag) { return flag.is_extension; });
  EXPECT_EQ(names.size(), triton.size() + static_cast<size_t>(extensions));
}

}  // namespace
}  // namespace nereid::app
