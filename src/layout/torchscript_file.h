// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "base/byte_source.h"
#include "base/result.h"
#include "layout/torchscript_code.h"

namespace nereid::layout {

/// Reads what the code of a TorchScript file says about its root module, without PyTorch. The file
/// is not trusted: at most 64 MiB of code are unpacked. INVALID_ARGUMENT with the reason if the
/// file is damaged or has no module with a method forward.
base::Result<TorchScriptModule> ReadTorchScript(const base::ByteSource& file);

}  // namespace nereid::layout
