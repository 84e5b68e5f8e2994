// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string_view>

namespace nereid::pytorch {

/// The deepest allowed expression. PyTorch's parser recurses for each level, and its stack
/// overflows after some thousand levels. Code that PyTorch writes has a few dozen levels.
constexpr uint32_t kDeepestCode = 500;

/// Returns an upper bound of the depth of the deepest expression in TorchScript code. Every
/// operator, word and bracket counts as a level, and so does each column of indentation. Commas and
/// new statements reset the depth.
uint32_t DeepestExpression(std::string_view code);

/// Returns the nesting depth of brackets.
uint32_t DeepestBracket(std::string_view text);

}  // namespace nereid::pytorch
