// SPDX-License-Identifier: Apache-2.0
#include "process_cpu.h"

#include <unistd.h>

#include <fstream>
#include <sstream>
#include <string>

namespace nereid::bench {

std::optional<ProcessCpu> ReadProcessCpu(int pid) {
  std::ifstream file("/proc/" + std::to_string(pid) + "/stat");
  std::string text;
  if (!std::getline(file, text)) return std::nullopt;
  // The second field is the program's name in parentheses, which may contain blanks and
  // parentheses.
  const size_t end = text.rfind(')');
  if (end == text.npos) return std::nullopt;
  std::istringstream rest(text.substr(end + 1));
  std::string skipped;
  constexpr int kFieldsBeforeUtime = 11;  // of proc(5): state is field 3, utime field 14
  for (int i = 0; i < kFieldsBeforeUtime; ++i) rest >> skipped;
  uint64_t user = 0;
  uint64_t system = 0;
  if (!(rest >> user >> system)) return std::nullopt;
  const auto tick_us = static_cast<uint64_t>(1000000 / sysconf(_SC_CLK_TCK));
  return ProcessCpu{user * tick_us, system * tick_us};
}

}  // namespace nereid::bench
