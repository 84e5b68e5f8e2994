// SPDX-License-Identifier: Apache-2.0
#include "python/backend_state.h"

#include <dlfcn.h>

#include <charconv>

#include "nereid/backend/model_config.h"

namespace nereid::python {

using backend::Error;
using backend::Parameters;

namespace {

constexpr const char* kSpaces = " \t\n\v\f\r";
constexpr int64_t kLeastSharedMemory = int64_t{1} << 20;

/// Reads a number with spaces before and after it. The name of the standard library's stol is the
/// whole message of Triton for a text without digits. Triton ignores text behind them; here a unit
/// is refused ("2m" would be two seconds).
Error ReadNumber(const Parameters& parameters, const char* key, int64_t* value) {
  const std::string* text = parameters.Find(key);
  if (text == nullptr) {
    return {};
  }
  const size_t begin = std::min(text->find_first_not_of(kSpaces), text->size());
  const size_t plus = begin < text->size() && (*text)[begin] == '+' ? 1 : 0;
  const char* const end = text->data() + text->find_last_not_of(kSpaces) + 1;
  const auto [rest, failure] = std::from_chars(text->data() + begin + plus, end, *value);
  if (failure != std::errc()) {
    return Error::InvalidArgument("stol");
  }
  return rest == end ? Error()
                     : Error::InvalidArgument(std::string(key) + " must be a whole number, not '" +
                                              *text + "'");
}

Error ReadRequirementsSettings(const Parameters& parameters, RequirementsSettings* settings) {
  constexpr int64_t kMost = 1'000'000;
  NEREID_BACKEND_TRY(parameters.ReadBool("install-requirements", &settings->install));
  NEREID_BACKEND_TRY(parameters.ReadInt("requirements-environments", 1, kMost, &settings->most));
  NEREID_BACKEND_TRY(
      parameters.ReadInt("requirements-timeout-seconds", 1, kMost, &settings->timeout_seconds));
  const std::string* cache = parameters.Find("requirements-directory");
  settings->cache = cache != nullptr ? *cache : DefaultRequirementsCache(CurrentEnvironment());
  if (settings->install && !settings->cache.starts_with('/')) {
    return Error::InvalidArgument("requirements-directory must be an absolute path, not '" +
                                  settings->cache + "'");
  }
  return {};
}

}  // namespace

Error ReadBackendSettings(const Parameters& parameters, BackendSettings* settings) {
  int64_t default_size = kLeastSharedMemory;
  int64_t growth = kLeastSharedMemory;
  int64_t threads = 1;
  int64_t slots = 1;
  NEREID_BACKEND_TRY(ReadNumber(parameters, "shm-default-byte-size", &default_size));
  if (default_size < kLeastSharedMemory) {
    return Error::InvalidArgument("shm-default-byte-size can't be smaller than 4 MiBs");
  }
  NEREID_BACKEND_TRY(ReadNumber(parameters, "shm-growth-byte-size", &growth));
  if (growth <= 0) {
    return Error::InvalidArgument("shm-growth-byte-size can't be smaller than or equal to zero.");
  }
  NEREID_BACKEND_TRY(
      ReadNumber(parameters, "stub-timeout-seconds", &settings->stub_timeout_seconds));
  if (parameters.Find("stub-timeout-seconds") != nullptr && settings->stub_timeout_seconds <= 0) {
    return Error::InvalidArgument("stub-timeout-seconds can't be smaller than or equal to zero.");
  }
  NEREID_BACKEND_TRY(ReadNumber(parameters, "thread-pool-size", &threads));
  if (threads < 1) {
    return Error::InvalidArgument("thread-pool-size can't be less than 1.");
  }
  if (const std::string given = Variable(CurrentEnvironment(), kInterpreterVariable);
      !given.empty()) {
    settings->interpreter = given;
  }
  if (const std::string* given = parameters.Find("interpreter")) {
    settings->interpreter = *given;
  }
  if (settings->interpreter.empty()) {
    return Error::InvalidArgument("interpreter must be a program, such as /usr/bin/python3.12");
  }
  NEREID_BACKEND_TRY(ReadRequirementsSettings(parameters, &settings->requirements));
  NEREID_BACKEND_TRY(ReadNumber(parameters, "shm_message_queue_size", &slots));
  if (const std::string* prefix = parameters.Find("shm-region-prefix-name");
      prefix != nullptr && prefix->empty()) {
    return Error::InvalidArgument("shm-region-prefix-name must at least contain one character.");
  }
  return {};
}

Error PythonBackend::Load(TRITONBACKEND_Backend* backend) {
  Parameters parameters;
  NEREID_BACKEND_TRY(backend::ReadBackendConfig(backend, &parameters));
  NEREID_BACKEND_TRY(ReadBackendSettings(parameters, &settings_));
  TRITONBACKEND_ArtifactType type = TRITONBACKEND_ARTIFACT_FILESYSTEM;
  const char* location = nullptr;
  NEREID_BACKEND_TRY(TRITONBACKEND_BackendArtifacts(backend, &type, &location));
  directory_ = location == nullptr ? "" : location;
  Dl_info library{};
  if (dladdr(reinterpret_cast<const void*>(&ReadBackendSettings), &library) == 0 ||
      library.dli_fname == nullptr) {
    return Error::Internal("cannot find the folder of the Python backend's library");
  }
  const std::string file = library.dli_fname;
  runtime_ = file.substr(0, file.find_last_of('/') + 1);
  runtime_ = runtime_.empty() ? "." : runtime_.substr(0, std::max<size_t>(runtime_.size() - 1, 1));
  return spawner_.Start();
}

}  // namespace nereid::python
