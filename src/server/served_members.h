// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "ensemble/members.h"
#include "repository/model_table.h"

namespace nereid::server {

class ModelRollouts;

/// Finds the members of ensembles in the repository's current table.
class ServedMembers final : public ensemble::MemberDirectory {
 public:
  using Table = std::function<std::shared_ptr<const repository::ModelTable>()>;
  /// `rollouts` must outlive the object.
  ServedMembers(Table table, const ModelRollouts& rollouts)
      : table_(std::move(table)), rollouts_(rollouts) {}
  base::Result<ensemble::Member> Find(const std::string& space, const std::string& model,
                                      int64_t version,
                                      const request::RequestFields* request) const override;

 private:
  const Table table_;
  const ModelRollouts& rollouts_;
};

}  // namespace nereid::server
