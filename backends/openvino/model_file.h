// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "nereid/backend/error.h"
#include "nereid/backend/model_config.h"

namespace nereid::openvino {

using backend::Error;

/// Finds the file that OpenVINO reads: DIRECTORY/VERSION/default_model_filename. The default is
/// model.xml, or model.onnx if only that exists. If the path is a directory, returns the file of
/// the same name in it, else model.xml or model.onnx in it, else the directory itself (TensorFlow's
/// SavedModel). UNAVAILABLE if there is none.
Error FindModelFile(const backend::ModelConfig& config, std::string* path);

}  // namespace nereid::openvino
