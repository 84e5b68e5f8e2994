// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>

#include "nereid/backend/model_config.h"

namespace nereid::onnxruntime {

using backend::Error;
using backend::ModelConfig;

/// Options of an execution provider, by ONNX Runtime's own names.
using ProviderOptions = std::map<std::string, std::string>;

/// Returns the options of the CUDA execution provider on a GPU: from the model's parameters
/// (cudnn_conv_algo_search, gpu_mem_limit, arena_extend_strategy, do_copy_in_default_stream), and
/// from those of the accelerator `cuda`, which take precedence; any other option of ONNX Runtime
/// may be among the latter. Enumerations are numbers, as in Triton, or ONNX Runtime's names.
/// INVALID_ARG for an invalid value.
Error CudaOptions(const ModelConfig& config, int gpu, ProviderOptions* options);

/// Returns the options of the TensorRT execution provider on a GPU, from the parameters of the
/// accelerator `tensorrt`: Triton's precision_mode, max_workspace_size_bytes,
/// int8_calibration_table_name, int8_use_native_calibration_table, and ONNX Runtime's options
/// (trt_…). INVALID_ARG for an unknown parameter or an invalid value.
Error TensorRtOptions(const ModelConfig& config, const ProviderOptions& parameters, int gpu,
                      ProviderOptions* options);

}  // namespace nereid::onnxruntime
