// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "handover/local_sequences.h"
#include "repository/model_table.h"
#include "server/served_model.h"

namespace nereid::server {

/// The sequences of all models of a server. Thread-safe.
class ModelSequences final : public handover::LocalSequences {
 public:
  using GetTable = std::function<std::shared_ptr<const repository::ModelTable>()>;

  explicit ModelSequences(GetTable table) : table_(std::move(table)) {}

  base::Result<Held> Take(const handover::SequenceKey& key) override;
  base::Result<std::unique_ptr<handover::Hold>> Put(const handover::SequenceMessage& sequence,
                                                    bool needs_slot) override;
  bool Serves(const handover::SequenceKey& key) const override;

  /// Returns the first `limit` sequences that could be handed over, whatever they do.
  std::vector<handover::SequenceKey> List(size_t limit) const;

 private:
  /// Returns the versions of a model that may have sequences: those that serve, and those that they
  /// have replaced.
  std::vector<std::shared_ptr<ServedModel>> VersionsOf(const std::string& model) const;

  const GetTable table_;
};

}  // namespace nereid::server
