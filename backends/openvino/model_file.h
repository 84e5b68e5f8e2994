// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "nereid/backend/error.h"
#include "nereid/backend/model_config.h"

namespace nereid::openvino {

using backend::Error;

/// The file that OpenVINO reads: DIRECTORY/VERSION/default_model_filename (model.xml where that is
/// empty; model.onnx where that is model.xml and only the other is there). Where that is a folder,
/// the file of the same name in it, else model.xml or model.onnx in it, else the folder itself
/// (TensorFlow's SavedModel). UNAVAILABLE where there is none.
Error FindModelFile(const backend::ModelConfig& config, std::string* path);

}  // namespace nereid::openvino
