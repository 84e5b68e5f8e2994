// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "nereid/backend/error.h"

namespace nereid::pytorch {

using backend::Error;

/// How deep objects may lie in each other. What PyTorch destroys or walks through goes one call
/// deeper for each level.
constexpr uint32_t kDeepestPickle = 1000;

/// Called for each storage of a tensor: its type ("FloatStorage"), the key of its record, and the
/// number of its elements.
using StorageSeen =
    std::function<Error(std::string_view type, std::string_view key, int64_t elements)>;

/// Reads a pickle of a TorchScript file without making anything of it. INVALID_ARG for what PyTorch
/// does not survive or does not check: objects nested too deeply, in themselves, or changed after
/// another object holds them, places in the memo beyond what a file can need, instructions that
/// such files do not have. Other mistakes are left to PyTorch, which finds them.
/// Format: https://docs.python.org/3/library/pickletools.html
Error CheckPickle(std::string_view pickle, const StorageSeen& storage);

}  // namespace nereid::pytorch
