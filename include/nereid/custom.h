/* SPDX-License-Identifier: Apache-2.0 */
#ifndef NEREID_CUSTOM_H_
#define NEREID_CUSTOM_H_

/*
 * The C interface of a custom model (`platform: "custom"`): a shared library that computes the
 * outputs. The first generation of the server defined this interface. Names, values and layouts are
 * those of its documentation, so that a library compiled for it runs unchanged, and its source
 * compiles with this header. New code should implement a backend instead (nereid/backend).
 *
 * A library defines CustomInitialize, CustomFinalize, CustomErrorString and one of
 *   CustomExecute    version 1: tensors in CPU memory. A library without CustomVersion has this
 *                    version.
 *   CustomExecuteV2  version 2: the callbacks also have memory types.
 *
 * Each instance of a model has its own context, which CustomInitialize creates. The server never
 * calls functions with one context from two threads at once. Functions with different contexts may
 * run at the same time.
 *
 * Functions return 0 for success. Any other number is an error code of the library, which
 * CustomErrorString converts to a message.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Exports a function of the library, so that the server can find it. */
#if defined(_MSC_VER)
#define TRTIS_CUSTOM_EXPORT __declspec(dllexport)
#elif defined(__GNUC__)
#define TRTIS_CUSTOM_EXPORT __attribute__((__visibility__("default")))
#else
#define TRTIS_CUSTOM_EXPORT
#endif

/* The value of CustomInitializeData.gpu_device_id for an instance on the CPU. */
#define CUSTOM_NO_GPU_DEVICE -1

/* The number of strings in CustomInitializeData.server_parameters. */
#define CUSTOM_SERVER_PARAMETER_CNT 2

/* The indices of the strings in CustomInitializeData.server_parameters. */
typedef enum custom_serverparamkind_enum {
  /* The version of the server. */
  INFERENCE_SERVER_VERSION = 0,
  /* The absolute path of the repository that contains the model's directory. */
  MODEL_REPOSITORY_PATH = 1
} CustomServerParameter;

/* The kind of memory that holds a tensor (version 2). */
typedef enum custom_memorytype_enum {
  CUSTOM_MEMORY_CPU,
  CUSTOM_MEMORY_GPU,
  CUSTOM_MEMORY_CPU_PINNED
} CustomMemoryType;

/* The description of an instance. Everything belongs to the server and is valid during
 * CustomInitialize only. */
typedef struct custom_initdata_struct {
  /* The name of the instance, which is unique. */
  const char* instance_name;
  /* The model configuration as a serialized protobuf message (ModelConfig of model_config.proto).
   * It is binary and may contain zero bytes. */
  const char* serialized_model_config;
  size_t serialized_model_config_size;
  /* The GPU to run on, or CUSTOM_NO_GPU_DEVICE. */
  int gpu_device_id;
  /* Strings, indexed by CustomServerParameter. */
  size_t server_parameter_cnt;
  const char** server_parameters;
} CustomInitializeData;

/* A request. Payloads that are executed together may have different batch sizes, shapes and
 * outputs. All members except error_code belong to the server and are valid during the execution.
 */
typedef struct custom_payload_struct {
  /* The size of the batch dimension; 1 for a model whose max_batch_size is 0. */
  uint32_t batch_size;
  /* The inputs: first those of the configuration that the request contains, then the controls and
   * states that the server adds for a sequence. */
  uint32_t input_cnt;
  const char** input_names;
  /* The shape of each input, without the batch dimension. The pointer to a shape without dimensions
   * is null. */
  const size_t* input_shape_dim_cnts;
  const int64_t** input_shape_dims;
  /* The outputs to compute: first those that the client requests, then the states. There may be
   * none. */
  uint32_t output_cnt;
  const char** required_output_names;
  /* The first arguments of the callbacks. */
  void* input_context;
  void* output_context;
  /* 0 at first. The library sets it if only this request fails. */
  int error_code;
} CustomPayload;

/*
 * Returns the next piece of an input. The tensor is the concatenation of all pieces. Sets *content
 * to null if no piece is left, and *content_byte_size to the size of the piece; its previous value
 * is ignored. The memory belongs to the request.
 *
 * Returns false if the payload has no input of that name, or if its memory cannot be read. The
 * request then fails, whatever the library does.
 */
typedef bool (*CustomGetNextInputFn_t)(void* input_context, const char* name, const void** content,
                                       uint64_t* content_byte_size);

/*
 * Adds an output and returns its buffer, which the library must fill before the execution ends. The
 * shape includes the batch dimension if the model has one. content_byte_size is the size of the
 * whole tensor: it must match shape and data type, or for TYPE_STRING be the size of the serialized
 * elements with their length fields. *content is null if there is nothing to write, because the
 * client did not request the output or because it has no bytes. May be called once per output.
 *
 * Returns false if the configuration has no such output, or if shape or size do not fit. The
 * request then fails, whatever the library does.
 */
typedef bool (*CustomGetOutputFn_t)(void* output_context, const char* name, size_t shape_dim_cnt,
                                    int64_t* shape_dims, uint64_t content_byte_size,
                                    void** content);

/* The same functions with memory types. On entry *memory_type and *memory_type_id are the memory
 * that the library prefers, on return the actual memory. */
typedef bool (*CustomGetNextInputV2Fn_t)(void* input_context, const char* name,
                                         const void** content, uint64_t* content_byte_size,
                                         CustomMemoryType* memory_type, int64_t* memory_type_id);
typedef bool (*CustomGetOutputV2Fn_t)(void* output_context, const char* name, size_t shape_dim_cnt,
                                      int64_t* shape_dims, uint64_t content_byte_size,
                                      void** content, CustomMemoryType* memory_type,
                                      int64_t* memory_type_id);

/* The types of the functions that a library defines. */
typedef uint32_t (*CustomVersionFn_t)(void);
typedef int (*CustomInitializeFn_t)(const CustomInitializeData*, void**);
typedef int (*CustomFinalizeFn_t)(void*);
typedef const char* (*CustomErrorStringFn_t)(void*, int);
typedef int (*CustomExecuteFn_t)(void*, uint32_t, CustomPayload*, CustomGetNextInputFn_t,
                                 CustomGetOutputFn_t);
typedef int (*CustomExecuteV2Fn_t)(void*, uint32_t, CustomPayload*, CustomGetNextInputV2Fn_t,
                                   CustomGetOutputV2Fn_t);

/* Returns the version of the Execute function that the library has: 1 or 2. */
TRTIS_CUSTOM_EXPORT uint32_t CustomVersion(void);

/* Creates the context of an instance, which may be null. If the function fails but sets a context,
 * the server passes that context to CustomErrorString and then to CustomFinalize. */
TRTIS_CUSTOM_EXPORT int CustomInitialize(const CustomInitializeData* data, void** custom_context);

/* Frees the context. */
TRTIS_CUSTOM_EXPORT int CustomFinalize(void* custom_context);

/* Returns the message for an error code, or null. The text belongs to the library. */
TRTIS_CUSTOM_EXPORT const char* CustomErrorString(void* custom_context, int errcode);

/* Executes the payloads. An error that is returned applies to all of them. */
TRTIS_CUSTOM_EXPORT int CustomExecute(void* custom_context, uint32_t payload_cnt,
                                      CustomPayload* payloads, CustomGetNextInputFn_t input_fn,
                                      CustomGetOutputFn_t output_fn);
TRTIS_CUSTOM_EXPORT int CustomExecuteV2(void* custom_context, uint32_t payload_cnt,
                                        CustomPayload* payloads, CustomGetNextInputV2Fn_t input_fn,
                                        CustomGetOutputV2Fn_t output_fn);

#ifdef __cplusplus
}
#endif

#endif /* NEREID_CUSTOM_H_ */
