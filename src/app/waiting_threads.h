// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <vector>

namespace nereid::app {

/// An environment variable.
struct EnvironmentVariable {
  const char* name = nullptr;
  const char* value = nullptr;
};

/// Returns the variables that make the threads of OpenMP sleep soon when they wait; none if the
/// environment already says how they wait. `find` returns the value of a variable or null.
std::vector<EnvironmentVariable> SleepingOpenMpThreads(
    const std::function<const char*(const char* name)>& find);

/// Makes the threads of OpenMP in this process and its children sleep soon when they wait, unless
/// the environment already says how they wait. Must run before any other thread exists, because it
/// changes the environment, and before a plug-in is opened: the libraries of OpenMP read the
/// environment when they are opened.
void LetOpenMpThreadsSleep();

}  // namespace nereid::app
