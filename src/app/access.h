// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "api/access/access_gate.h"
#include "api/field_filter.h"
#include "app/options/server_options.h"
#include "base/result.h"

namespace nereid::app {

/// Who may call what at one door, and which header fields the door keeps for that and for models.
/// Null members: nothing to decide, nothing to keep.
struct DoorAccess {
  std::shared_ptr<const api::AccessGate> gate;
  std::shared_ptr<const api::FieldFilter> kept_fields;
};

/// The same for every door of a server.
struct Access {
  DoorAccess http;
  DoorAccess grpc;
  DoorAccess metrics;
  DoorAccess admin;
  DoorAccess console;
  // The restrictions of HTTP apply to the clouds' front ends, too. They forward no header fields.
  DoorAccess sagemaker;
  DoorAccess vertex_ai;
  /// Whether the decisions need to know who is at the other end of a connection.
  bool identifies_peers = false;
};

/// Reads the access file, and watches it. Returns an error that names the flag or the file, and
/// what is wrong with it.
base::Result<Access> MakeAccess(const ServerOptions& options);

}  // namespace nereid::app
