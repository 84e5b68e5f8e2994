// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <grpcpp/grpcpp.h>

#include <memory>
#include <string>
#include <string_view>

namespace nereid::interop {

/// The way to a server, and what each call sends in addition to its messages.
struct Connection {
  std::shared_ptr<grpc::Channel> channel;
  /// A bearer token that each call sends as metadata; empty if the channel does it, or for none.
  std::string token;
  grpc_compression_algorithm compression = GRPC_COMPRESS_NONE;

  /// Gives a call the token, the compression and a deadline.
  void Prepare(grpc::ClientContext* context) const;
};

/// Ends the program with 1, and with `what` on stderr, unless the condition holds.
void Check(bool holds, const std::string& what);
void Expect(const grpc::Status& status, grpc::StatusCode code);

/// A test. It returns if the server behaves as it requires, otherwise Check() ends the program.
using Case = void (*)(const Connection&);

/// Return the test of that name; null for an unknown name. The tests of the first function are
/// those of the gRPC project, for grpc.testing.TestService; the tests of the second are for the
/// inference service.
Case FindInteropCase(std::string_view name);
Case FindInferenceCase(std::string_view name);

}  // namespace nereid::interop
