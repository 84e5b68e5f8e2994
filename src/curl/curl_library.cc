// SPDX-License-Identifier: Apache-2.0
#include "curl/curl_library.h"

#include <string>

#include "base/shared_library.h"

namespace nereid::curl {
namespace {

constexpr char kLibrary[] = "libcurl.so.4";

base::Status Failure(const std::string& reason) {
  return base::Status::Unavailable(
      "libcurl 7.87 or later is needed (on Debian the package libcurl4): " + reason);
}

base::Result<const CurlLibrary*> Load() {
  static CurlLibrary functions;
  auto opened = base::SharedLibrary::Open(kLibrary);
  if (!opened.ok()) return Failure(opened.status().message());
  base::SharedLibrary& library = **opened;
  const char* missing = nullptr;
  const auto find = [&](const char* name, auto* function) {
    library.Find(name, function);
    if (*function == nullptr) missing = name;
  };
  find("curl_global_init", &functions.global_init);
  find("curl_easy_init", &functions.easy_init);
  find("curl_easy_setopt", &functions.easy_set);
  find("curl_easy_getinfo", &functions.easy_get);
  find("curl_easy_reset", &functions.easy_reset);
  find("curl_easy_cleanup", &functions.easy_cleanup);
  find("curl_easy_strerror", &functions.easy_error);
  find("curl_multi_init", &functions.multi_init);
  find("curl_multi_add_handle", &functions.multi_add);
  find("curl_multi_remove_handle", &functions.multi_remove);
  find("curl_multi_perform", &functions.multi_perform);
  find("curl_multi_poll", &functions.multi_poll);
  find("curl_multi_wakeup", &functions.multi_wakeup);
  find("curl_multi_info_read", &functions.multi_info);
  find("curl_multi_cleanup", &functions.multi_cleanup);
  find("curl_slist_append", &functions.list_append);
  find("curl_slist_free_all", &functions.list_free);
  find("curl_url", &functions.url_new);
  find("curl_url_set", &functions.url_set);
  find("curl_url_cleanup", &functions.url_cleanup);
  find("curl_url_strerror", &functions.url_error);
  if (missing != nullptr) return Failure(std::string(kLibrary) + " lacks " + missing);
  const CURLcode code = functions.global_init(CURL_GLOBAL_DEFAULT);
  if (code != CURLE_OK) return Failure(functions.easy_error(code));
  library.Leak();
  return &functions;
}

}  // namespace

base::Result<const CurlLibrary*> CurlLibrary::Open() {
  static const base::Result<const CurlLibrary*> opened = Load();
  return opened;
}

}  // namespace nereid::curl
