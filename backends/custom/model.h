// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "custom/library.h"
#include "nereid/backend/model_config.h"
#include "nereid/backend/plugin.h"

namespace nereid::custom {

/// An output that a library may write.
struct CustomOutput {
  backend::TensorConfig tensor;
  /// Clients may ask for it.
  bool listed = false;
  /// It is the next value of a state.
  bool state = false;
};

/// What an execution has to know of its model. Unchanged once made.
struct CustomSignature {
  std::string model_name;
  bool batching = false;
  /// Inputs, controls and states, in this order.
  std::vector<std::string> inputs;
  std::vector<CustomOutput> outputs;

  /// Null where there is none.
  const CustomOutput* FindOutput(std::string_view name) const;
};

/// UNSUPPORTED for what the interface has no words for.
Error MakeSignature(const backend::ModelConfig& config, CustomSignature* signature);

/// One version of a model. Unchanged after Load, so that instances share it without a lock.
class CustomModel {
 public:
  explicit CustomModel(const backend::NoBackendState*) {}

  /// Opens the library of the version's folder.
  Error Load(TRITONBACKEND_Model* model);

  const CustomSignature& signature() const { return signature_; }
  const CustomLibrary& library() const { return *library_; }
  /// The configuration in protobuf form.
  const std::string& serialized_config() const { return serialized_config_; }
  const std::string& server_version() const { return server_version_; }
  /// Absolute.
  const std::string& repository_path() const { return repository_path_; }

  /// The words for a failure of one of the library's functions: "CustomExecute of '…/libcustom.so'
  /// failed with code 3 (out of ink)".
  Error Failure(const char* function, void* context, int code) const;

 private:
  Error ReadServerVersion(TRITONBACKEND_Model* model);

  CustomSignature signature_;
  std::shared_ptr<const CustomLibrary> library_;
  std::string serialized_config_;
  std::string server_version_;
  std::string repository_path_;
};

}  // namespace nereid::custom
