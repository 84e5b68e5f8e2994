// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "base/result.h"
#include "repository/model_table.h"
#include "request/request_fields.h"
#include "rollout/rollout.h"

namespace nereid::server {

/// Returns the version that answers a request to a model with a rollout. The rules, in this order:
///  1. A request that names a version number goes to that version.
///  2. A request of an open sequence goes to the version that has the sequence. If that version was
///     rolled back, a START begins a new sequence elsewhere, and other requests get UNAVAILABLE or
///     continue, as the plan says.
///  3. A label leads to its version; after a rollback, as the plan says, to rule 4.
///  4. The split decides among the versions that are ready and were not rolled back. Only versions
///     that are decoupled like the first one take part.
///  5. Without a split, and if the split has no such version, the greatest ready version answers
///     that was not rolled back. UNAVAILABLE if there is none.
/// Errors are those of ModelTable::Find, where it applies.
base::Result<std::shared_ptr<repository::LoadedModel>> ChooseVersion(
    const repository::ModelTable& table, const rollout::Rollout& rollout,
    const request::RequestFields& request);

/// Returns a version that is like all those among which rules 4 and 5 choose.
base::Result<std::shared_ptr<repository::LoadedModel>> TypicalVersion(
    const repository::ModelTable& table, const rollout::Rollout& rollout);

}  // namespace nereid::server
