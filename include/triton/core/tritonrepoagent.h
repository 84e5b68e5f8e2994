// SPDX-License-Identifier: Apache-2.0
#pragma once

// The C API of repository agents: a shared library libtritonrepoagent_<name>.so that sees, and may
// change, a model's files before they are loaded. The agents of a model form a chain in the order
// of its configuration. The rules at the top of tritonserver.h hold here too; actions on different
// models may come at the same time.

#include "triton/core/tritonserver.h"

#ifdef __cplusplus
extern "C" {
#endif

// Symbol visibility: DECLSPEC marks what the server provides, ISPEC what an agent implements.
// _COMPILING_TRITONREPOAGENT is defined only where the server library is compiled.
#if defined(_MSC_VER)
#ifdef _COMPILING_TRITONREPOAGENT
#define TRITONREPOAGENT_DECLSPEC __declspec(dllexport)
#define TRITONREPOAGENT_ISPEC __declspec(dllimport)
#else
#define TRITONREPOAGENT_DECLSPEC __declspec(dllimport)
#define TRITONREPOAGENT_ISPEC __declspec(dllexport)
#endif
#elif defined(__GNUC__) && defined(_COMPILING_TRITONREPOAGENT)
#define TRITONREPOAGENT_DECLSPEC __attribute__((__visibility__("default")))
#define TRITONREPOAGENT_ISPEC
#elif defined(__GNUC__)
#define TRITONREPOAGENT_DECLSPEC
#define TRITONREPOAGENT_ISPEC __attribute__((__visibility__("default")))
#else
#define TRITONREPOAGENT_DECLSPEC
#define TRITONREPOAGENT_ISPEC
#endif

/// The version of this API that the header describes. See TRITONREPOAGENT_ApiVersion.
#define TRITONREPOAGENT_API_VERSION_MAJOR 0
#define TRITONREPOAGENT_API_VERSION_MINOR 1

/// A loaded agent.
typedef struct TRITONREPOAGENT_Agent TRITONREPOAGENT_Agent;
/// A model as one agent sees it.
typedef struct TRITONREPOAGENT_AgentModel TRITONREPOAGENT_AgentModel;

/// What a repository location is.
typedef enum TRITONREPOAGENT_artifacttype_enum {
  /// A directory, given by its path.
  TRITONREPOAGENT_ARTIFACT_FILESYSTEM = 0,
  /// A directory of an object store, given by its URL.
  TRITONREPOAGENT_ARTIFACT_REMOTE_FILESYSTEM = 1
} TRITONREPOAGENT_ArtifactType;

/// What happens to a model: about to load, loaded, failed to load, about to unload, unloaded.
typedef enum TRITONREPOAGENT_actiontype_enum {
  TRITONREPOAGENT_ACTION_LOAD = 0,
  TRITONREPOAGENT_ACTION_LOAD_COMPLETE = 1,
  TRITONREPOAGENT_ACTION_LOAD_FAIL = 2,
  TRITONREPOAGENT_ACTION_UNLOAD = 3,
  TRITONREPOAGENT_ACTION_UNLOAD_COMPLETE = 4
} TRITONREPOAGENT_ActionType;

// ---- Implemented by the agent -------------------------------------------------------------------

/// Optional. Called once, before any other function of the agent.
TRITONREPOAGENT_ISPEC TRITONSERVER_Error* TRITONREPOAGENT_Initialize(TRITONREPOAGENT_Agent* agent);

/// Optional. Called once, after the last model that uses the agent.
TRITONREPOAGENT_ISPEC TRITONSERVER_Error* TRITONREPOAGENT_Finalize(TRITONREPOAGENT_Agent* agent);

/// Optional. Called once per model, before its first action.
TRITONREPOAGENT_ISPEC TRITONSERVER_Error* TRITONREPOAGENT_ModelInitialize(
    TRITONREPOAGENT_Agent* agent, TRITONREPOAGENT_AgentModel* model);

/// Optional. Called once per model, after its last action.
TRITONREPOAGENT_ISPEC TRITONSERVER_Error* TRITONREPOAGENT_ModelFinalize(
    TRITONREPOAGENT_Agent* agent, TRITONREPOAGENT_AgentModel* model);

/// Required. Does an action on a model: LOAD, then LOAD_COMPLETE or LOAD_FAIL, and after
/// LOAD_COMPLETE in time UNLOAD and UNLOAD_COMPLETE. An error for LOAD fails the load; for the
/// other actions it is logged.
TRITONREPOAGENT_ISPEC TRITONSERVER_Error* TRITONREPOAGENT_ModelAction(
    TRITONREPOAGENT_Agent* agent, TRITONREPOAGENT_AgentModel* model,
    TRITONREPOAGENT_ActionType action_type);

// ---- Provided by the server ---------------------------------------------------------------------

/// The version of this API that the running server provides. Never fails. An agent built for
/// (major, minor) runs when the major numbers are equal and the server's minor number is not
/// smaller.
TRITONREPOAGENT_DECLSPEC TRITONSERVER_Error* TRITONREPOAGENT_ApiVersion(uint32_t* major,
                                                                        uint32_t* minor);

/// Where the model's files lie at present, as the agent before this one in the chain left them. The
/// string belongs to the model.
TRITONREPOAGENT_DECLSPEC TRITONSERVER_Error* TRITONREPOAGENT_ModelRepositoryLocation(
    TRITONREPOAGENT_Agent* agent, TRITONREPOAGENT_AgentModel* model,
    TRITONREPOAGENT_ArtifactType* artifact_type, const char** location);

/// Gets an empty place that the agent may write to; TRITONREPOAGENT_ARTIFACT_FILESYSTEM only, which
/// gives a temporary directory. A second call gives the same place. The string belongs to the
/// model.
TRITONREPOAGENT_DECLSPEC TRITONSERVER_Error* TRITONREPOAGENT_ModelRepositoryLocationAcquire(
    TRITONREPOAGENT_Agent* agent, TRITONREPOAGENT_AgentModel* model,
    TRITONREPOAGENT_ArtifactType artifact_type, const char** location);

/// Gives a place back and deletes what is in it. UNAVAILABLE when none was acquired.
TRITONREPOAGENT_DECLSPEC TRITONSERVER_Error* TRITONREPOAGENT_ModelRepositoryLocationRelease(
    TRITONREPOAGENT_Agent* agent, TRITONREPOAGENT_AgentModel* model, const char* location);

/// Says where the model's files lie from now on; copied. INVALID_ARG outside of
/// TRITONREPOAGENT_ACTION_LOAD.
TRITONREPOAGENT_DECLSPEC TRITONSERVER_Error* TRITONREPOAGENT_ModelRepositoryUpdate(
    TRITONREPOAGENT_Agent* agent, TRITONREPOAGENT_AgentModel* model,
    TRITONREPOAGENT_ArtifactType artifact_type, const char* location);

/// The number of parameters that the model's configuration gives the agent.
TRITONREPOAGENT_DECLSPEC TRITONSERVER_Error* TRITONREPOAGENT_ModelParameterCount(
    TRITONREPOAGENT_Agent* agent, TRITONREPOAGENT_AgentModel* model, uint32_t* count);

/// A parameter by index. The strings belong to the model. INVALID_ARG for an index out of bounds.
TRITONREPOAGENT_DECLSPEC TRITONSERVER_Error* TRITONREPOAGENT_ModelParameter(
    TRITONREPOAGENT_Agent* agent, TRITONREPOAGENT_AgentModel* model, uint32_t index,
    const char** parameter_name, const char** parameter_value);

/// The model's configuration as JSON, in configuration version 1, the only one. The caller deletes
/// the message.
TRITONREPOAGENT_DECLSPEC TRITONSERVER_Error* TRITONREPOAGENT_ModelConfig(
    TRITONREPOAGENT_Agent* agent, TRITONREPOAGENT_AgentModel* model, uint32_t config_version,
    TRITONSERVER_Message** model_config);

/// The pointer that TRITONREPOAGENT_ModelSetState stored, or NULL.
TRITONREPOAGENT_DECLSPEC TRITONSERVER_Error* TRITONREPOAGENT_ModelState(
    TRITONREPOAGENT_AgentModel* model, void** state);

/// Stores a pointer of the agent's own for this model. The server never reads what it points to.
TRITONREPOAGENT_DECLSPEC TRITONSERVER_Error* TRITONREPOAGENT_ModelSetState(
    TRITONREPOAGENT_AgentModel* model, void* state);

/// The pointer that TRITONREPOAGENT_SetState stored, or NULL.
TRITONREPOAGENT_DECLSPEC TRITONSERVER_Error* TRITONREPOAGENT_State(TRITONREPOAGENT_Agent* agent,
                                                                   void** state);

/// Stores a pointer of the agent's own. The server never reads what it points to.
TRITONREPOAGENT_DECLSPEC TRITONSERVER_Error* TRITONREPOAGENT_SetState(TRITONREPOAGENT_Agent* agent,
                                                                      void* state);

#ifdef __cplusplus
}  // extern "C"
#endif
