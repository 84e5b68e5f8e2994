// SPDX-License-Identifier: Apache-2.0
#include "tracing/trace_file.h"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>
#include <utility>

#include "base/log.h"

namespace nereid::tracing {
namespace {

struct Close {
  void operator()(std::FILE* file) const { std::fclose(file); }
};
using File = std::unique_ptr<std::FILE, Close>;

}  // namespace

void TraceFile::Append(std::string entries) { Queue(std::move(entries), false); }

void TraceFile::WriteNumbered(std::string entries) { Queue(std::move(entries), true); }

void TraceFile::Queue(std::string entries, bool numbered) {
  const size_t size = entries.size();
  if (waiting_.fetch_add(size, std::memory_order_relaxed) + size > most_waiting_) {
    waiting_.fetch_sub(size, std::memory_order_relaxed);
    Complain(path_, "the disk is too slow: " + std::to_string(most_waiting_) +
                        " bytes wait to be written");
    return;
  }
  // std::function wants something copyable.
  const auto text = std::make_shared<const std::string>(std::move(entries));
  const bool runs = writer_.Run([this, text, numbered] {
    Write(*text, numbered);
    waiting_.fetch_sub(text->size(), std::memory_order_relaxed);
  });
  if (runs) return;
  waiting_.fetch_sub(size, std::memory_order_relaxed);
  Complain(path_, "there is no thread to write it");
}

void TraceFile::Write(const std::string& entries, bool numbered) {
  const std::string path = numbered ? path_ + "." + std::to_string(next_number_++) : path_;
  const bool append = !numbered && begun_;
  const File file(std::fopen(path.c_str(), append ? "r+b" : "wb"));
  // In a file that has a part, the bracket at its end becomes a comma.
  bool written = file != nullptr && (!append || std::fseek(file.get(), -1, SEEK_END) == 0) &&
                 std::fputc(append ? ',' : '[', file.get()) != EOF &&
                 std::fwrite(entries.data(), 1, entries.size(), file.get()) == entries.size() &&
                 std::fputc(']', file.get()) != EOF;
  written = written && std::fflush(file.get()) == 0;
  if (!written) Complain(path, std::strerror(errno));
  begun_ = begun_ || (!numbered && written);
}

void TraceFile::Complain(const std::string& path, const std::string& reason) {
  if (complained_.exchange(true, std::memory_order_relaxed)) return;
  LOG_ERROR << "traces cannot be written to '" << path << "' and are dropped: " << reason;
}

}  // namespace nereid::tracing
