// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <NvInfer.h>

/// The version of TensorRT's headers for #if, such as 806 for 8.6 and 1016 for 10.16.
/// (NV_TENSORRT_VERSION is not a constant of the preprocessor in 8.6.)
#define NEREID_NV_VERSION (NV_TENSORRT_MAJOR * 100 + NV_TENSORRT_MINOR)

#if NEREID_NV_VERSION < 806
#error "TensorRT 8.6 or newer is needed"
#endif
