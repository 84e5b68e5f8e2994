// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "base/status.h"

namespace nereid::app {

/// Loads and initializes the backend <directory>/<name>/libtriton_<name>.so in a child process, so
/// that a library that crashes or hangs ends the child alone. Of a backend with worker processes in
/// Python, the child then runs their program, which looks whether it can run models there. Returns
/// the reason of the backend or of that program, and UNAVAILABLE if the child crashed or took more
/// than 30 s. The process must have one thread.
base::Status ProbeBackend(const std::string& directory, const std::string& name);

}  // namespace nereid::app
