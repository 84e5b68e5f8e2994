// SPDX-License-Identifier: Apache-2.0
#pragma once

// NOT CUDA's header: the names of the CUDA runtime that TensorRT's declarations need; see
// nv_infer.h beside it.

using cudaStream_t = struct CUstream_st*;
