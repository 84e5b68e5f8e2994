// SPDX-License-Identifier: Apache-2.0
// The comments by which `nereid init` marks what its user must correct. `nereid check` finds them.
#pragma once

#include <string_view>

namespace nereid::config {

/// After the name of an input or output that is not the model's.
inline constexpr std::string_view kExampleNameComment = "# an example; replace it";
/// After a data type or dims that the file does not contain.
inline constexpr std::string_view kUnknownValueComment = "# not in the file; correct it";

}  // namespace nereid::config
