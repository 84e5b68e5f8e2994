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
  /// Whether clients may request it.
  bool listed = false;
  /// Whether it is the next value of a state.
  bool state = false;
};

/// The parts of a model that an execution needs. Immutable after creation.
struct CustomSignature {
  std::string model_name;
  bool batching = false;
  /// Inputs, controls and states, in this order.
  std::vector<std::string> inputs;
  std::vector<CustomOutput> outputs;

  /// Returns the output, or null if there is none with this name.
  const CustomOutput* FindOutput(std::string_view name) const;
};

/// Creates the signature. UNSUPPORTED for features that the interface lacks; INVALID_ARG if the
/// configuration has no inputs or outputs.
Error MakeSignature(const backend::ModelConfig& config, CustomSignature* signature);

/// A version of a custom model. Immutable after Load, so instances share it without a lock.
class CustomModel {
 public:
  explicit CustomModel(const backend::NoBackendState*) {}

  /// Opens the library in the version's directory.
  Error Load(TRITONBACKEND_Model* model);

  const CustomSignature& signature() const { return signature_; }
  const CustomLibrary& library() const { return *library_; }
  /// The configuration as a serialized protobuf message.
  const std::string& serialized_config() const { return serialized_config_; }
  const std::string& server_version() const { return server_version_; }
  /// An absolute path.
  const std::string& repository_path() const { return repository_path_; }

  /// Returns the error for a code that a function of the library has returned: "CustomExecute of
  /// '…/libcustom.so' failed with code 3 (out of ink)".
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
