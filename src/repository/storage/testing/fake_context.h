// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/temporary_directory.h"
#include "curl/testing/fake_http_client.h"
#include "repository/storage/store_context.h"

namespace nereid::repository::storage::testing {

/// A network of one function, a clock that stands, and environment variables: HOME is an empty
/// directory.
class FakeContext {
 public:
  static constexpr uint64_t kStartSecs = 1'369'353'600;  // 2013-05-24T00:00:00Z

  explicit FakeContext(curl::testing::FakeHttpClient::Answer answer)
      : http_(std::make_shared<curl::testing::FakeHttpClient>(std::move(answer))),
        home_(std::move(base::TemporaryDirectory::Create()).value()) {
    variables["HOME"] = home_->path();
  }
  FakeContext(const FakeContext&) = delete;
  FakeContext& operator=(const FakeContext&) = delete;

  /// The object must outlive what is made of the context.
  StoreContext Get() {
    return {http_,
            [this](const char* name) -> const char* {
              const auto found = variables.find(name);
              return found == variables.end() ? nullptr : found->second.c_str();
            },
            &clock};
  }
  std::vector<curl::HttpRequest> requests() const { return http_->requests(); }

  /// Writes a file below HOME and returns its path.
  std::string Write(const std::string& name, const std::string& content) {
    const std::filesystem::path path = std::filesystem::path(home_->path()) / name;
    std::filesystem::create_directories(path.parent_path());
    std::ofstream(path) << content;
    return path.string();
  }

  std::map<std::string, std::string> variables;
  base::FakeClock clock{kStartSecs * 1'000'000'000};

 private:
  const std::shared_ptr<curl::testing::FakeHttpClient> http_;
  const std::unique_ptr<base::TemporaryDirectory> home_;
};

/// A network without any server.
inline curl::testing::FakeReply NoServer(const curl::HttpRequest&) {
  return {{}, base::Status::Unavailable("no route to host")};
}

}  // namespace nereid::repository::storage::testing
