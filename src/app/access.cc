// SPDX-License-Identifier: Apache-2.0
#include "app/access.h"

#include <chrono>
#include <string>
#include <utility>

#include "api/access/access_file.h"
#include "console/console_handler.h"
#include "frontend/cloud/sagemaker_handler.h"
#include "frontend/cloud/vertex_ai_handler.h"

namespace nereid::app {
namespace {

/// How soon a change of the access file counts.
constexpr std::chrono::milliseconds kWatchInterval{1000};
/// What gRPC clients put in front of the key of a restriction.
constexpr std::string_view kGrpcPrefix = "triton-grpc-protocol-";

std::vector<api::Restriction> RestrictionsFrom(const std::vector<RestrictedGroup>& groups,
                                               std::string_view prefix) {
  std::vector<api::Restriction> restrictions;
  for (const RestrictedGroup& group : groups) {
    for (const std::string& name : group.categories) {
      // The command line has only known names.
      const api::Category category = api::FindCategory(name).value_or(api::Category::kNone);
      restrictions.push_back({category, std::string(prefix) + group.key, group.value});
    }
  }
  return restrictions;
}

base::Result<DoorAccess> MakeDoor(api::AccessRules rules, std::string_view pattern_flag,
                                  const std::string& pattern, std::vector<std::string> names = {}) {
  DoorAccess door;
  if (!rules.empty()) door.gate = std::make_shared<const api::AccessGate>(std::move(rules));
  std::shared_ptr<const api::HeaderForwarding> forwarding;
  if (!pattern.empty()) {
    auto made = api::HeaderForwarding::Make(pattern);
    if (!made.ok()) return made.status().WithPrefix(std::string(pattern_flag) + ": ");
    forwarding = std::move(made).value();
  }
  door.kept_fields = api::MakeFieldFilter(door.gate, std::move(forwarding), std::move(names));
  return door;
}

std::vector<std::string> NameOrNone(const std::string& name) {
  return name.empty() ? std::vector<std::string>() : std::vector{name};
}

base::Result<std::shared_ptr<const api::AccessFile>> OpenFile(const std::string& path) {
  if (path.empty()) return std::shared_ptr<const api::AccessFile>();
  auto file = api::AccessFile::Open(path);
  if (!file.ok()) return file.status().WithPrefix("--auth-file: ");
  NEREID_RETURN_IF_ERROR((*file)->StartWatching(kWatchInterval));
  return std::shared_ptr<const api::AccessFile>(std::move(file).value());
}

}  // namespace

base::Result<Access> MakeAccess(const ServerOptions& options) {
  NEREID_ASSIGN_OR_RETURN(const auto file, OpenFile(options.access.auth_file));
  const bool has_admin = options.access.admin_port.has_value();
  api::AccessRules http = {
      .restricted_word = "API",
      .restrictions = RestrictionsFrom(options.http.restricted, ""),
      .file = file,
      .protects_health = options.access.protect_health,
      .serves_management = true,
  };
  api::AccessRules grpc = http;
  grpc.restricted_word = "protocol";
  grpc.restrictions = RestrictionsFrom(options.grpc.restricted, kGrpcPrefix);
  api::AccessRules metrics = http;
  metrics.restrictions.clear();

  Access access;
  access.identifies_peers = file != nullptr;
  constexpr std::string_view kHttpFlag = "--http-header-forward-pattern";
  NEREID_ASSIGN_OR_RETURN(access.admin,
                          MakeDoor(http, kHttpFlag, options.http.header_forward_pattern));
  http.serves_management = grpc.serves_management = !has_admin;
  NEREID_ASSIGN_OR_RETURN(
      access.console,
      MakeDoor(http, kHttpFlag, options.http.header_forward_pattern,
               {std::string(console::kHostField), std::string(console::kIfNoneMatchField)}));
  NEREID_ASSIGN_OR_RETURN(access.http,
                          MakeDoor(std::move(http), kHttpFlag, options.http.header_forward_pattern,
                                   NameOrNone(options.sequence_id_header)));
  NEREID_ASSIGN_OR_RETURN(access.grpc, MakeDoor(std::move(grpc), "--grpc-header-forward-pattern",
                                                options.grpc.header_forward_pattern,
                                                NameOrNone(options.sequence_id_header)));
  NEREID_ASSIGN_OR_RETURN(access.metrics, MakeDoor(std::move(metrics), "", ""));
  access.sagemaker = {access.http.gate,
                      api::MakeFieldFilter(access.http.gate, nullptr,
                                           {std::string(frontend::cloud::kSagemakerTargetField)})};
  access.vertex_ai = {access.http.gate,
                      api::MakeFieldFilter(access.http.gate, nullptr,
                                           {std::string(frontend::cloud::kVertexAiRedirectField)})};
  return access;
}

}  // namespace nereid::app
