// SPDX-License-Identifier: Apache-2.0
#include "frontend/http/shared_memory_endpoint.h"

#include <string>
#include <utility>

#include "codec/json/shared_memory.h"

namespace nereid::frontend::http {

using base::Status;

base::Result<std::string> SharedMemoryEndpoint::Document(const Route& route,
                                                         Exchange& exchange) const {
  const std::string region(route.region);
  if (route.endpoint == Endpoint::kSharedMemoryStatus) {
    if (route.is_cuda) {
      NEREID_ASSIGN_OR_RETURN(const auto regions, memory_.ListCuda(region));
      return codec::json::EncodeCudaRegions(regions);
    }
    NEREID_ASSIGN_OR_RETURN(const auto regions, memory_.ListSystem(region));
    return codec::json::EncodeSystemRegions(regions);
  }
  const auto kind = route.is_cuda ? api::SharedMemoryKind::kCuda : api::SharedMemoryKind::kSystem;
  NEREID_RETURN_IF_ERROR(route.endpoint == Endpoint::kSharedMemoryRegister
                             ? Register(route, exchange)
                             : memory_.Unregister(kind, region));
  return std::string();
}

Status SharedMemoryEndpoint::Register(const Route& route, Exchange& exchange) const {
  // First, so that a client which may not register anything does not learn how to write it.
  NEREID_RETURN_IF_ERROR(memory_.CheckAllowed());
  if (route.region.empty()) {
    return Status::InvalidArgument("'region name' is necessary to register " +
                                   std::string(route.is_cuda ? "cuda" : "system") +
                                   " shared memory region");
  }
  const std::string_view body = exchange.body().view();
  if (route.is_cuda) {
    NEREID_ASSIGN_OR_RETURN(const api::CudaRegion region,
                            codec::json::DecodeCudaRegion(route.region, body));
    return memory_.RegisterCuda(region);
  }
  net::Socket sent = exchange.TakeDescriptor();
  const auto key_is =
      sent.is_open() ? codec::json::KeyIs::kOptional : codec::json::KeyIs::kRequired;
  NEREID_ASSIGN_OR_RETURN(memory::SharedRegion region,
                          codec::json::DecodeSystemRegion(route.region, body, key_is));
  if (!sent.is_open()) return memory_.RegisterSystem(std::move(region));
  NEREID_ASSIGN_OR_RETURN(memory::SharedObject object,
                          memory::SharedObject::Adopt(region.name, sent.Release()));
  return memory_.RegisterSent(std::move(region), std::move(object));
}

}  // namespace nereid::frontend::http
