// SPDX-License-Identifier: Apache-2.0
#pragma once

// The interface through which libtriton_onnxruntime.so uses libtriton_openvino.so to run ONNX
// models whose configuration names the execution accelerator "openvino". See
// docs/decisions/0009-openvino-accelerator.md. Both libraries must come from one build; `version`
// detects others.

#include <stddef.h>
#include <stdint.h>

#include "triton/core/tritonbackend.h"

extern "C" {

/// A model version, and an instance, that OpenVINO runs. The caller owns the returned errors.
struct NereidOpenVinoModel;
struct NereidOpenVinoInstance;

struct NereidOpenVinoAccelerator {
  /// NEREID_OPENVINO_ACCELERATOR_VERSION of the library.
  uint32_t version;
  /// Opens the ONNX file `path`, completes and checks the configuration of `model`, and compiles
  /// the model. `keys` and `values` are the `count` parameters of the accelerator.
  TRITONSERVER_Error* (*LoadModel)(TRITONBACKEND_Model* model, const char* path,
                                   const char* const* keys, const char* const* values, size_t count,
                                   NereidOpenVinoModel** loaded);
  /// Must be called after UnloadInstance of all its instances.
  void (*UnloadModel)(NereidOpenVinoModel* model);
  TRITONSERVER_Error* (*LoadInstance)(NereidOpenVinoModel* model,
                                      TRITONBACKEND_ModelInstance* instance,
                                      NereidOpenVinoInstance** loaded);
  void (*UnloadInstance)(NereidOpenVinoInstance* instance);
  /// Answers and releases each request, like TRITONBACKEND_ModelInstanceExecute. Must not be called
  /// by two threads at once for one instance.
  void (*Execute)(NereidOpenVinoInstance* loaded, TRITONBACKEND_ModelInstance* instance,
                  TRITONBACKEND_Request** requests, uint32_t count);
};

#define NEREID_OPENVINO_ACCELERATOR_VERSION 1

/// Returns the table of functions; never null.
TRITONBACKEND_ISPEC const NereidOpenVinoAccelerator* NereidGetOpenVinoAccelerator();

}  // extern "C"
