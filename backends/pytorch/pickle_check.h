// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "nereid/backend/error.h"

namespace nereid::pytorch {

using backend::Error;

/// The deepest allowed nesting of objects. PyTorch recurses for each level when it destroys or
/// traverses them.
constexpr uint32_t kDeepestPickle = 1000;

/// Called for each storage of a tensor, with its type ("FloatStorage"), the key of its record and
/// the number of its elements.
using StorageSeen =
    std::function<Error(std::string_view type, std::string_view key, int64_t elements)>;

/// Checks a pickle of a TorchScript file without creating any object. INVALID_ARG for errors that
/// would crash PyTorch or that it does not check: objects that are nested too deeply, contain
/// themselves, or are changed after another object has referenced them; memo indices above what a
/// file can need; and opcodes that such files do not contain. PyTorch detects other errors. Format:
/// https://docs.python.org/3/library/pickletools.html
Error CheckPickle(std::string_view pickle, const StorageSeen& storage);

}  // namespace nereid::pytorch
