// SPDX-License-Identifier: Apache-2.0
#include "base/log_stream.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <exception>
#include <utility>

#include "base/threads.h"

namespace nereid::base {
namespace {

/// The interval at which the thread checks whether the stream is being closed.
constexpr int kPollMs = 50;
constexpr size_t kChunk = size_t{64} << 10;
constexpr uint32_t kLinesBetweenLooks = 64;

int OpenToAppend(const std::string& path) {
  // O_NONBLOCK: opening a named pipe must not wait for its reader.
  return ::open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NONBLOCK | O_NOCTTY,
                0644);
}

Status CannotOpen(const std::string& path) {
  return Status::Internal("failed to open log file '" + path + "': " + std::strerror(errno));
}

}  // namespace

LogStream::LogStream(int descriptor, Notice notice)
    : LogStream(descriptor, /*owned=*/false, std::move(notice)) {}

LogStream::LogStream(int descriptor, bool owned, Notice notice)
    : descriptor_(descriptor), owned_(owned), notice_(std::move(notice)) {}

Result<std::unique_ptr<LogStream>> LogStream::Open(const std::string& path, Notice notice) {
  const int descriptor = OpenToAppend(path);
  if (descriptor < 0) return CannotOpen(path);
  return std::unique_ptr<LogStream>(new LogStream(descriptor, /*owned=*/true, std::move(notice)));
}

LogStream::~LogStream() {
  {
    const MutexLock lock(mutex_);
    closing_ = true;
  }
  changed_.NotifyAll();
  if (thread_.joinable()) thread_.join();
  if (writable_ >= 0 && writable_ != descriptor_) ::close(writable_);
  if (owned_) ::close(descriptor_);
}

Status LogStream::Reopen(const std::string& path) {
  const int fresh = OpenToAppend(path);
  if (fresh < 0) return CannotOpen(path);
  const MutexLock lock(mutex_);
  // dup3 replaces the file behind the descriptor number in one step. The thread of this stream may
  // be polling that number without the lock. If the number were closed and opened again, a file or
  // socket that another thread opens in between could get it.
  const bool moved = ::dup3(fresh, descriptor_, O_CLOEXEC) >= 0;
  const Status status = moved ? Status::Ok() : CannotOpen(path);
  kind_ = Kind::kUnknown;
  ::close(fresh);
  return status;
}

void LogStream::Inspect() {
  // A standard stream is inspected again only once in kLinesBetweenLooks lines: an fstat for each
  // line would cost half as much as the line itself.
  if (kind_ != Kind::kUnknown && (owned_ || ++lines_ % kLinesBetweenLooks != 0)) return;
  struct stat now {};
  const bool known = ::fstat(descriptor_, &now) == 0;
  if (kind_ != Kind::kUnknown && now.st_dev == device_ && now.st_ino == inode_) return;
  device_ = now.st_dev;
  inode_ = now.st_ino;
  if (writable_ >= 0 && writable_ != descriptor_) ::close(writable_);
  writable_ = descriptor_;
  kind_ = Kind::kDirect;
  if (!known || S_ISREG(now.st_mode)) return;
  if (S_ISSOCK(now.st_mode)) {
    kind_ = Kind::kSocket;
  } else if (owned_) {
    kind_ = Kind::kNonBlocking;  // OpenToAppend has set O_NONBLOCK
  } else {
    // O_NONBLOCK is a property of the open file description, which other processes may share. A
    // pipe or terminal is therefore opened again.
    const std::string path = "/proc/self/fd/" + std::to_string(descriptor_);
    const int own = ::open(path.c_str(), O_WRONLY | O_APPEND | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    kind_ = own >= 0 ? Kind::kNonBlocking : Kind::kBlocking;
    if (own >= 0) writable_ = own;
  }
}

ssize_t LogStream::WriteNow(std::string_view text) {
  if (kind_ == Kind::kBlocking) return 0;
  size_t written = 0;
  while (written < text.size()) {
    const char* const from = text.data() + written;
    const size_t size = text.size() - written;
    const ssize_t n = kind_ == Kind::kSocket
                          ? ::send(descriptor_, from, size, MSG_DONTWAIT | MSG_NOSIGNAL)
                          : ::write(writable_, from, size);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) break;
    if (n <= 0) return -1;
    written += static_cast<size_t>(n);
  }
  return static_cast<ssize_t>(written);
}

void LogStream::Write(std::string_view lines) {
  const MutexLock lock(mutex_);
  Inspect();
  ssize_t written = 0;
  // While older lines wait, new lines must queue behind them to keep the order.
  if (IsEmpty()) written = WriteNow(lines);
  if (written < 0 || static_cast<size_t>(written) == lines.size()) return;
  KeepLocked(lines.substr(static_cast<size_t>(written)), written > 0);
}

void LogStream::KeepLocked(std::string_view rest, bool begun) {
  // The rest of a line that was partly written is kept even above the limit.
  if (!begun && (dropped_ > 0 || kept_.size() + taken_ + rest.size() > kMaxKept)) {
    for (const char c : rest) dropped_ += c == '\n' ? 1 : 0;
  } else {
    kept_.append(rest);
  }
  if (!thread_.joinable()) StartThreadLocked();
  changed_.NotifyAll();
}

void LogStream::StartThreadLocked() {
  // If no thread can be started, the next line tries again.
  auto thread = StartThread("log", [this] { Run(); });
  if (thread.ok()) thread_ = std::move(thread).value();
}

void LogStream::Run() {
  MutexLock lock(mutex_);
  while (!closing_) {
    // The notice about dropped lines follows the lines that were kept before them, so it is made
    // when these are written. Until then Write() keeps no lines.
    if (kept_.empty() && dropped_ > 0) kept_ = notice_(std::exchange(dropped_, 0));
    if (kept_.empty()) {
      changed_.Wait(lock);
      continue;
    }
    const std::string text = std::exchange(kept_, {});
    taken_ = text.size();
    WriteAll(text);
    taken_ = 0;
    changed_.NotifyAll();
  }
}

void LogStream::WriteAll(std::string_view text) {
  while (!text.empty() && !closing_) {
    const std::string_view chunk = text.substr(0, kChunk);
    ssize_t written = 0;
    if (kind_ == Kind::kBlocking) {
      // This write waits for the reader, so the lock is released. Write() only adds to kept_ in the
      // meantime, because IsEmpty() is false.
      const MutexUnlock unlocked(mutex_);
      written = ::write(descriptor_, chunk.data(), chunk.size());
      if (written < 0 && errno == EINTR) written = 0;
    } else {
      written = WriteNow(chunk);
    }
    if (written < 0) return;
    text.remove_prefix(static_cast<size_t>(written));
    taken_ = text.size();
    changed_.NotifyAll();
    if (text.empty() || static_cast<size_t>(written) == chunk.size()) continue;
    pollfd room{writable_, POLLOUT, 0};
    const MutexUnlock unlocked(mutex_);
    ::poll(&room, 1, kPollMs);
  }
}

bool LogStream::Flush(std::chrono::milliseconds patience, std::chrono::milliseconds limit) {
  const auto end = std::chrono::steady_clock::now() + limit;
  MutexLock lock(mutex_);
  if (!IsEmpty() && !thread_.joinable()) StartThreadLocked();
  while (!IsEmpty()) {
    const size_t before = kept_.size() + taken_;
    const auto until = std::min(end, std::chrono::steady_clock::now() + patience);
    bool in_time = true;
    while (in_time && !IsEmpty() && kept_.size() + taken_ == before) {
      in_time = changed_.WaitUntil(lock, until);
    }
    const bool moved = IsEmpty() || kept_.size() + taken_ != before;
    if (!moved || std::chrono::steady_clock::now() >= end) return IsEmpty();
  }
  return true;
}

}  // namespace nereid::base
