// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace nereid::fake_gpu {

/// What the environment says about the GPUs; README.md explains the variables. Read once.
struct Settings {
  struct Gpu {
    int major = 9;
    int minor = 0;
    int physical = 0;  // number among all GPUs; CUDA_VISIBLE_DEVICES may hide and reorder GPUs
  };

  int physical_count = 1;
  std::vector<Gpu> visible;
  size_t memory = size_t{1} << 30;
  size_t used_by_others = 0;
  int version = 13000;
  int delay_us = 0;
  bool peer_access = true;
  bool host_access = false;
  bool same_process_ipc = false;
  bool file_handles = true;

  static const Settings& Get();
};

/// Returns the name, PCI id and UUID text of a GPU, the same in both libraries.
std::string GpuName(int physical);
std::string GpuPciId(int physical);
std::string GpuUuid(int physical);

}  // namespace nereid::fake_gpu
