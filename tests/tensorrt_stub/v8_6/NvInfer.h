// SPDX-License-Identifier: Apache-2.0
#pragma once

// NOT TensorRT's header: see nv_infer.h in the folder above.

#define NV_TENSORRT_MAJOR 8
#define NV_TENSORRT_MINOR 6
#define NV_TENSORRT_PATCH 1

#include "../nv_infer.h"
