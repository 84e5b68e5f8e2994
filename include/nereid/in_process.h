// SPDX-License-Identifier: Apache-2.0
#pragma once

// Additions to the C API of triton/core/tritonserver.h: a server that is made from the flags of
// `nereid serve`, and the front ends (HTTP, gRPC, the metrics page) of a server in this process.
// The engine, libtritonserver.so, exports these functions beside the C API; Triton does not have
// them.
//
// A flag is written as on the command line, "--http-port=8000". docs/user/ describes the flags, and
// `nereid help serve` lists them. The rules of tritonserver.h for errors, ownership and threads
// apply.

#include <stdint.h>

#include "triton/core/tritonserver.h"

#ifdef __cplusplus
extern "C" {
#endif

/// The version of this header: functions are added, and none changes, while MAJOR is the same.
#define NEREID_IN_PROCESS_VERSION_MAJOR 1
#define NEREID_IN_PROCESS_VERSION_MINOR 0

/// Front ends that were started together.
struct NEREID_Frontends;

typedef enum NEREID_frontend_enum {
  NEREID_FRONTEND_HTTP = 0,
  NEREID_FRONTEND_GRPC = 1,
  NEREID_FRONTEND_METRICS = 2
} NEREID_Frontend;

/// Makes a server from flags, as TRITONSERVER_ServerNew does from options. The flags of front ends
/// are checked and otherwise ignored. The log of the process gets the settings of the flags. The
/// plug-in directories are by default those beside the engine library. No signal handler is
/// installed.
///
/// Returns INVALID_ARG for a wrong flag; the message is the line that the program prints.
TRITONSERVER_DECLSPEC struct TRITONSERVER_Error* NEREID_ServerNewFromFlags(
    struct TRITONSERVER_Server** server, const char* const* flags, uint32_t flag_count);

/// Starts the front ends that the flags enable: all of HTTP, gRPC and metrics unless
/// "--allow-http=false" and so on disable them. Flags of the server itself are checked and
/// otherwise ignored. A server may have front ends from several calls; all of them must permit the
/// same kind of client shared memory, and clients change the trace settings of the first.
///
/// The front ends may outlive the server: after TRITONSERVER_ServerStop they refuse requests.
///
/// Returns INVALID_ARG for a wrong flag, and UNAVAILABLE or INTERNAL if an address cannot be used;
/// the message names the service. No front end runs after an error.
TRITONSERVER_DECLSPEC struct TRITONSERVER_Error* NEREID_FrontendsStart(
    struct NEREID_Frontends** frontends, struct TRITONSERVER_Server* server,
    const char* const* flags, uint32_t flag_count);

/// Returns the port on which a front end listens, also where the flag said 0, which lets the system
/// choose. 0: the front end was not enabled, or listens on a Unix socket.
TRITONSERVER_DECLSPEC struct TRITONSERVER_Error* NEREID_FrontendsPort(
    struct NEREID_Frontends* frontends, NEREID_Frontend kind, uint16_t* port);

/// Closes the ports, waits until the responses in progress are written, for `timeout_ms` at most,
/// and closes the connections. Blocks. A second call does nothing. Stop front ends before
/// TRITONSERVER_ServerStop, so that requests in progress are answered.
TRITONSERVER_DECLSPEC struct TRITONSERVER_Error* NEREID_FrontendsStop(
    struct NEREID_Frontends* frontends, uint64_t timeout_ms);

/// Stops front ends that still run, without waiting for clients, and deletes the object.
TRITONSERVER_DECLSPEC struct TRITONSERVER_Error* NEREID_FrontendsDelete(
    struct NEREID_Frontends* frontends);

#ifdef __cplusplus
}
#endif
