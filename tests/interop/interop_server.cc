// SPDX-License-Identifier: Apache-2.0
// interop_server [PORT]: serves grpc.testing.TestService on 127.0.0.1 until a signal comes. Prints
// the port.
#include <csignal>
#include <cstdio>
#include <cstdlib>

#include "api/header_forwarding.h"
#include "api/testing/fake_inference_service.h"
#include "frontend/grpc/grpc_server.h"
#include "test_service.h"

int main(int argc, char** argv) {
  using namespace nereid;
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGINT);
  sigaddset(&signals, SIGTERM);
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  api::testing::FakeInferenceService service;
  frontend::grpc::GrpcOptions options;
  options.address = "127.0.0.1";
  options.port = argc > 1 ? static_cast<uint16_t>(std::atoi(argv[1])) : 0;
  options.loops = 1;
  options.response_compression = frontend::grpc::CompressionLevel::kLow;
  options.kept_fields = std::make_shared<api::FieldFilter>(
      nullptr, *api::HeaderForwarding::Make("^x-grpc-test-echo-"));
  frontend::grpc::GrpcServer server(options, service, &interop::MakeTestCall);
  const base::Status status = server.Start();
  if (!status.ok()) {
    std::fprintf(stderr, "%s\n", status.message().c_str());
    return 1;
  }
  std::printf("%u\n", server.port());
  std::fflush(stdout);
  int signal = 0;
  sigwait(&signals, &signal);
  server.Stop(5000);
  return 0;
}
