// SPDX-License-Identifier: Apache-2.0
// grpc_fake_server [PORT [LOOPS [COMPRESSION]]]: serves the echo service of the tests until a
// signal comes. Prints the port.
#include <csignal>
#include <cstdio>
#include <cstdlib>

#include "api/testing/fake_inference_service.h"
#include "frontend/grpc/grpc_server.h"

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
  options.loops = argc > 2 ? std::atoi(argv[2]) : 0;
  options.response_compression =
      static_cast<frontend::grpc::CompressionLevel>(argc > 3 ? std::atoi(argv[3]) : 0);
  frontend::grpc::GrpcServer server(options, service);
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
