// SPDX-License-Identifier: Apache-2.0
#pragma once

// NOT TensorRT's header: see NvInfer.h beside it.

extern "C" bool initLibNvInferPlugins(void* logger, char const* libNamespace);
