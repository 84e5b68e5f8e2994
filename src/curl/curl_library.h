// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <curl/curl.h>

#include "base/result.h"

namespace nereid::curl {

/// The functions of libcurl that the project uses. The library is opened when its first user is
/// made, and not linked: it brings thirty further libraries into the process, which a server
/// without OpenTelemetry and cloud repositories, or a program that embeds the engine, does not
/// need.
struct CurlLibrary {
  decltype(&::curl_global_init) global_init;
  decltype(&::curl_easy_init) easy_init;
  decltype(&::curl_easy_setopt) easy_set;
  decltype(&::curl_easy_getinfo) easy_get;
  decltype(&::curl_easy_reset) easy_reset;
  decltype(&::curl_easy_cleanup) easy_cleanup;
  decltype(&::curl_easy_strerror) easy_error;
  decltype(&::curl_multi_init) multi_init;
  decltype(&::curl_multi_add_handle) multi_add;
  decltype(&::curl_multi_remove_handle) multi_remove;
  decltype(&::curl_multi_perform) multi_perform;
  decltype(&::curl_multi_poll) multi_poll;
  decltype(&::curl_multi_wakeup) multi_wakeup;
  decltype(&::curl_multi_info_read) multi_info;
  decltype(&::curl_multi_cleanup) multi_cleanup;
  decltype(&::curl_slist_append) list_append;
  decltype(&::curl_slist_free_all) list_free;
  decltype(&::curl_url) url_new;
  decltype(&::curl_url_set) url_set;
  decltype(&::curl_url_cleanup) url_cleanup;
  decltype(&::curl_url_strerror) url_error;

  /// Opens the library; it stays open until the process ends. Returns UNAVAILABLE with the name of
  /// the package if it is not installed or too old.
  static base::Result<const CurlLibrary*> Open();
};

}  // namespace nereid::curl
