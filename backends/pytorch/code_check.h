// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string_view>

namespace nereid::pytorch {

/// How deep an expression may be. PyTorch's reader of code calls itself for each level, and its
/// stack ends some thousand levels below. What PyTorch writes has a few dozen.
constexpr uint32_t kDeepestCode = 500;

/// An upper bound of the depth of the deepest expression in TorchScript code: every operator, word
/// and bracket counts as a level, and so does each column of indentation; commas and statements
/// begin anew.
uint32_t DeepestExpression(std::string_view code);

/// How deep brackets lie in each other.
uint32_t DeepestBracket(std::string_view text);

}  // namespace nereid::pytorch
