// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fstream>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>

#include "api/access/access_file.h"
#include "api/access/parse_access.h"
#include "base/temporary_directory.h"

namespace nereid::api::testing {

/// An access file with a token for each role, which has the name of the role.
class RoleTokens {
 public:
  RoleTokens() {
    std::string text;
    for (const Role role : {Role::kInfer, Role::kObserve, Role::kManage}) {
      const std::string name = RoleWords({role});
      const NewToken token = MakeToken(name).value();
      text += TokenLine(name, {{role}, token.hash}) + "\n";
      tokens_[name] = token.text;
    }
    const std::string path = directory_->path() + "/access";
    std::ofstream(path) << text;
    auto opened = AccessFile::Open(path);
    if (!opened.ok()) throw std::runtime_error(opened.status().message());
    file_ = std::move(opened).value();
  }

  const std::shared_ptr<const AccessFile>& file() const { return file_; }
  /// Returns the value of the field Authorization for a role.
  std::string Bearer(const std::string& role) const { return "Bearer " + tokens_.at(role); }

 private:
  const std::unique_ptr<base::TemporaryDirectory> directory_ =
      std::move(base::TemporaryDirectory::Create()).value();
  std::map<std::string, std::string> tokens_;
  std::shared_ptr<const AccessFile> file_;
};

}  // namespace nereid::api::testing
