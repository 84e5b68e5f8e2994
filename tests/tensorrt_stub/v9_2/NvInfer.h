// SPDX-License-Identifier: Apache-2.0
#pragma once

// NOT TensorRT's header: see nv_infer.h in the folder above.

#define NV_TENSORRT_MAJOR 9
#define NV_TENSORRT_MINOR 2
#define NV_TENSORRT_PATCH 0

#include "../nv_infer.h"
