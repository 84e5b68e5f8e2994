// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <functional>
#include <string>

namespace nereid::base {

/// Calls `work` once on each of `threads` threads, of which the caller's is one, and returns when
/// all calls have returned. A thread that the system does not provide is left out, with a warning:
/// `work` must be such that fewer calls do all of it. The first exception that leaves a call is
/// thrown here.
void RunOnThreads(const std::string& name, size_t threads, const std::function<void()>& work);

/// Calls `body` once with each number below `count`, on up to `threads` threads, of which the
/// caller's is one. See RunOnThreads. An exception ends the work: not all numbers are done then.
void ForEachOnThreads(const std::string& name, size_t threads, size_t count,
                      const std::function<void(size_t)>& body);

}  // namespace nereid::base
