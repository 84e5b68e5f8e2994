// SPDX-License-Identifier: Apache-2.0
// TensorFlow's C API with owning types. The backend uses no other interface of TensorFlow.
#pragma once

#include <memory>
#include <string>

#include "nereid/backend/error.h"
#include "tensorflow/c/c_api.h"
#include "tensorflow/c/tf_tstring.h"

namespace nereid::tensorflow {

using backend::Error;

struct Release {
  void operator()(TF_Status* status) const { TF_DeleteStatus(status); }
  void operator()(TF_Buffer* buffer) const { TF_DeleteBuffer(buffer); }
  void operator()(TF_Graph* graph) const { TF_DeleteGraph(graph); }
  void operator()(TF_SessionOptions* options) const { TF_DeleteSessionOptions(options); }
  void operator()(TF_ImportGraphDefOptions* options) const {
    TF_DeleteImportGraphDefOptions(options);
  }
  void operator()(TF_Session* session) const;
  void operator()(TF_Tensor* tensor) const;
};
template <typename T>
using Owned = std::unique_ptr<T, Release>;

/// A TF_Status that can be converted to an Error. `what` begins the message ("model 'm': cannot
/// …").
class Status {
 public:
  Status() : status_(TF_NewStatus()) {}
  TF_Status* get() { return status_.get(); }
  bool ok() const { return TF_GetCode(status_.get()) == TF_OK; }
  Error ToError(const std::string& what) const;

 private:
  Owned<TF_Status> status_;
};

/// Returns INVALID for a type that the inference protocol lacks.
TRITONSERVER_DataType DataTypeOf(TF_DataType type);
TF_DataType TfTypeOf(TRITONSERVER_DataType type);
/// Returns a type's name for messages, such as "DT_COMPLEX64".
std::string TfTypeName(TF_DataType type);

}  // namespace nereid::tensorflow
