// SPDX-License-Identifier: Apache-2.0
// libFuzzer target: responses of object stores to a request for a list. The first byte chooses the
// store. A page that passes the checks has only keys that stay below the prefix.
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "repository/storage/azure_list.h"
#include "repository/storage/gcs_list.h"
#include "repository/storage/list_rules.h"
#include "repository/storage/s3_list.h"
#include "repository/storage/service_error.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace nereid::repository::storage;
  if (size == 0) return 0;
  const std::string_view body(reinterpret_cast<const char*>(data + 1), size - 1);
  auto page = data[0] == 's'   ? ParseS3List(body)
              : data[0] == 'a' ? ParseAzureList(body)
                               : ParseGcsList(body);
  for (const ServiceError& error : {ParseXmlError(body), ParseJsonError(body)}) {
    if (error.message.size() > 300 || error.code.size() > 64) std::abort();
  }
  const std::string prefix = "m/";
  if (!page.ok() || !CheckPage(prefix, "", &*page).ok()) return 0;
  if (page->objects.size() + page->directories.size() > kMaxPageEntries) std::abort();
  for (const ObjectInfo& object : page->objects) {
    if (!object.key.starts_with(prefix) || object.version.empty()) std::abort();
    if (("/" + object.key + "/").find("/../") != std::string::npos) std::abort();
    if (object.checksum && object.checksum->bytes.size() !=
                               (object.checksum->kind == ObjectChecksum::Kind::kMd5 ? 16u : 4u)) {
      std::abort();
    }
  }
  return 0;
}
