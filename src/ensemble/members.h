// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "ensemble/ensemble_plan.h"
#include "model/model_version.h"

namespace nereid::ensemble {

/// A model version that an ensemble calls. It stays loaded as long as `identity` is held.
struct Member {
  std::shared_ptr<const request::ModelIdentity> identity;
  model::ModelVersion* version = nullptr;
  /// Follows the requests of the step; may be null.
  std::shared_ptr<model::SubmissionWatch> watch = nullptr;
  /// Takes the request of the step instead of the version, once; may be null.
  std::shared_ptr<model::RequestReceiver> chosen = nullptr;

  model::RequestReceiver& receiver() const { return chosen == nullptr ? *version : *chosen; }
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

/// Returns the tensors of these names, each once. Unknown names are left out.
std::vector<size_t> TensorsOf(const EnsemblePlan& plan, const std::vector<std::string>& names);

/// Returns, by step, the members that a request for these tensors needs; the others are empty. On
/// failure sets `failed` to the step.
base::Result<std::vector<Member>> FindMembers(const EnsemblePlan& plan,
                                              const MemberDirectory& directory,
                                              const request::RequestFields& request,
                                              const std::vector<size_t>& tensors, size_t* failed);

}  // namespace nereid::ensemble
