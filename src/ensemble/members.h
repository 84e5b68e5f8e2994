// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "base/result.h"
#include "model/model_version.h"

namespace nereid::ensemble {

/// A model version that an ensemble calls. It stays loaded as long as `identity` is held.
struct Member {
  std::shared_ptr<const request::ModelIdentity> identity;
  model::ModelVersion* version = nullptr;
  /// Follows the requests of the step; may be null.
  std::shared_ptr<model::SubmissionWatch> watch = nullptr;
};

/// Finds the members of ensembles among the served models. Implemented by the server. Thread-safe.
class MemberDirectory {
 public:
  virtual ~MemberDirectory() = default;
  /// Returns the served version of a model; -1 means the version that the version policy prefers.
  /// `space` is the namespace of the model; empty if the server uses none. Fails as a request for
  /// the model would. `request` is the ensemble's, or null: if it continues a sequence of a version
  /// that was replaced, the result is that version.
  virtual base::Result<Member> Find(const std::string& space, const std::string& model,
                                    int64_t version,
                                    const request::RequestFields* request = nullptr) const = 0;
};

}  // namespace nereid::ensemble
