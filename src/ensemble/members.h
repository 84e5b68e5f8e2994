// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "base/result.h"
#include "model/model_version.h"

namespace nereid::ensemble {

/// A version of a model that an ensemble calls. It stays loaded for as long as `identity` is held.
struct Member {
  std::shared_ptr<const request::ModelIdentity> identity;
  model::ModelVersion* version = nullptr;
};

/// Where ensembles find their members: what is served at the moment. Implemented by the server.
/// Thread-safe.
class MemberDirectory {
 public:
  virtual ~MemberDirectory() = default;
  /// The version that serves; -1 asks for the one that the model's version policy prefers. Fails
  /// as a request for the model would.
  /// `space` is the namespace that the model is in; empty where the server has none.
  virtual base::Result<Member> Find(const std::string& space, const std::string& model,
                                    int64_t version) const = 0;
};

}  // namespace nereid::ensemble
