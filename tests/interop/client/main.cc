// SPDX-License-Identifier: Apache-2.0
// grpc_cpp_client ADDRESS CASE... [OPTION=VALUE]...: runs tests of a server with gRPC's C++
// library. Exits with 1 and a line on stderr if the server does not behave as a test requires.
//
//   --root=FILE --certificate=FILE --key=FILE   TLS, with these files in PEM form
//   --token=TEXT                                a bearer token
//   --compression=gzip|deflate                  of the requests
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "connection.h"

namespace nereid::interop {

void Connection::Prepare(grpc::ClientContext* context) const {
  context->set_deadline(std::chrono::system_clock::now() + std::chrono::seconds(30));
  context->set_compression_algorithm(compression);
  if (!token.empty()) context->AddMetadata("authorization", "Bearer " + token);
}

void Check(bool holds, const std::string& what) {
  if (holds) return;
  std::fprintf(stderr, "%s\n", what.c_str());
  std::exit(1);
}

void Expect(const grpc::Status& status, grpc::StatusCode code) {
  Check(status.error_code() == code, "status " + std::to_string(status.error_code()) + " (" +
                                         status.error_message() + "), expected " +
                                         std::to_string(code));
}

namespace {

using Options = std::map<std::string, std::string, std::less<>>;

std::string Value(const Options& options, std::string_view name) {
  const auto found = options.find(name);
  return found == options.end() ? std::string() : found->second;
}

std::string FileOf(const Options& options, std::string_view name) {
  const std::string path = Value(options, name);
  if (path.empty()) return path;
  std::ifstream file(path, std::ios::binary);
  Check(file.good(), "cannot read " + path);
  std::ostringstream content;
  content << file.rdbuf();
  return std::move(content).str();
}

Connection Connect(const std::string& address, const Options& options) {
  Connection connection;
  connection.token = Value(options, "--token");
  std::shared_ptr<grpc::ChannelCredentials> credentials = grpc::InsecureChannelCredentials();
  grpc::SslCredentialsOptions files;
  files.pem_root_certs = FileOf(options, "--root");
  files.pem_cert_chain = FileOf(options, "--certificate");
  files.pem_private_key = FileOf(options, "--key");
  if (!files.pem_root_certs.empty()) {
    credentials = grpc::SslCredentials(files);
    // The library sends a token of its own accord only where nobody can read it.
    if (!connection.token.empty()) {
      credentials = grpc::CompositeChannelCredentials(
          credentials, grpc::AccessTokenCredentials(std::exchange(connection.token, {})));
    }
  }
  const std::string compression = Value(options, "--compression");
  if (compression == "gzip") connection.compression = GRPC_COMPRESS_GZIP;
  if (compression == "deflate") connection.compression = GRPC_COMPRESS_DEFLATE;
  grpc::ChannelArguments arguments;
  arguments.SetMaxReceiveMessageSize(-1);
  connection.channel = grpc::CreateCustomChannel(address, credentials, arguments);
  return connection;
}

}  // namespace
}  // namespace nereid::interop

int main(int argc, char** argv) {
  using namespace nereid::interop;
  Check(argc > 2, "usage: grpc_cpp_client ADDRESS CASE... [OPTION=VALUE]...");
  Options options;
  std::vector<std::string> names;
  for (int i = 2; i < argc; ++i) {
    const std::string word = argv[i];
    const size_t equals = word.find('=');
    if (equals == std::string::npos) {
      names.push_back(word);
    } else {
      options[word.substr(0, equals)] = word.substr(equals + 1);
    }
  }
  const Connection connection = Connect(argv[1], options);
  for (const std::string& name : names) {
    Case found = FindInteropCase(name);
    if (found == nullptr) found = FindInferenceCase(name);
    Check(found != nullptr, "no case " + name);
    found(connection);
  }
  return 0;
}
