// SPDX-License-Identifier: Apache-2.0
#include "python/channel.h"

#include <linux/sockios.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "python/gpu_sharing.h"

namespace nereid::python {
namespace {

/// Takes the files out of a received message. More than one is no message of ours.
base::UniqueFd TakeFile(msghdr* received) {
  base::UniqueFd file;
  for (cmsghdr* part = CMSG_FIRSTHDR(received); part != nullptr;
       part = CMSG_NXTHDR(received, part)) {
    if (part->cmsg_level != SOL_SOCKET || part->cmsg_type != SCM_RIGHTS) {
      continue;
    }
    const size_t count = (part->cmsg_len - CMSG_LEN(0)) / sizeof(int);
    for (size_t i = 0; i < count; ++i) {
      int fd = -1;
      std::memcpy(&fd, CMSG_DATA(part) + i * sizeof(int), sizeof(int));
      file.Reset(fd);
    }
  }
  return file;
}

/// Returns whether a file has memory for its whole size: a message costs the worker what it costs
/// the server.
bool IsFilled(const struct stat& status) {
  constexpr uint64_t kBlock = 512;
  return static_cast<uint64_t>(status.st_blocks) >= static_cast<uint64_t>(status.st_size) / kBlock;
}

std::vector<char> SegmentMessage(uint32_t id, uint64_t size, int gpu = -1) {
  std::vector<char> message;
  WireWriter out(&message);
  WriteHeader(&out, MessageType::kSegment, id, {});
  out.Number(size);
  if (const SharedGpu* shared = gpu < 0 ? nullptr : FindSharedGpu(gpu)) {
    out.Raw({shared->uuid.bytes, sizeof(shared->uuid.bytes)});
  }
  return message;
}

std::vector<char> BlockMessage(const TakenSegment& segment) {
  std::vector<char> message;
  WireWriter out(&message);
  WriteHeader(&out, MessageType::kBlock, segment.id, {});
  out.Number(segment.arena);
  out.Number(segment.block->offset());
  out.Number(segment.block->size());
  return message;
}

}  // namespace

Channel::Received Channel::ReceiveDatagram(bool wait, Incoming* in, Bytes* message,
                                           base::UniqueFd* file, std::string* violation) {
  in->buffer.resize(kMaxMessage);
  iovec part{in->buffer.data(), in->buffer.size()};
  alignas(cmsghdr) char control[CMSG_SPACE(4 * sizeof(int))];
  msghdr received{};
  received.msg_iov = &part;
  received.msg_iovlen = 1;
  received.msg_control = control;
  received.msg_controllen = sizeof(control);
  ssize_t size = -1;
  do {
    size = recvmsg(socket_.get(), &received, MSG_CMSG_CLOEXEC | (wait ? 0 : MSG_DONTWAIT));
  } while (size < 0 && errno == EINTR);
  if (size < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) {
    return Received::kNothing;
  }
  if (size <= 0) {
    return Received::kClosed;
  }
  *file = TakeFile(&received);
  if ((received.msg_flags & (MSG_TRUNC | MSG_CTRUNC)) != 0) {
    *violation = "it sent a message that is too long";
    return Received::kClosed;
  }
  *message = Bytes(in->buffer.data(), static_cast<size_t>(size));
  return Received::kMessage;
}

bool Channel::TakeSegment(const Incoming& in, base::UniqueFd file, std::string* violation) {
  WireReader body(in.body);
  const auto size = body.Number<uint64_t>();
  if (!body.ok() || in.header.id > UINT32_MAX || (size != 0 && !file.ok())) {
    *violation = "it announced a segment without its file";
    return false;
  }
  int gpu = -1;
  if (!body.rest().empty()) {
    device::CuUuid uuid = {};
    const std::string_view bytes = body.RawText(sizeof(uuid.bytes));
    if (body.ok()) {
      std::memcpy(uuid.bytes, bytes.data(), sizeof(uuid.bytes));
      gpu = FindSharedGpu(uuid);
    }
    if (gpu < 0) {
      *violation = "it announced a segment on a GPU that the server does not share";
      return false;
    }
  }
  const backend::Error accepted =
      segments_.worker.Announce(static_cast<uint32_t>(in.header.id), size, std::move(file), gpu);
  *violation = accepted.message();
  return accepted.ok();
}

bool Channel::ReadLong(base::UniqueFd file, Incoming* in, std::string* violation) {
  struct stat status {};
  if (!file.ok() || fstat(file.get(), &status) != 0 || !S_ISREG(status.st_mode) ||
      status.st_size < 0 || static_cast<uint64_t>(status.st_size) > kMaxLongMessage ||
      !IsFilled(status)) {
    *violation = "it sent a long message without its file";
    return false;
  }
  // The content is read, not mapped: the worker can change the file at any time.
  std::vector<char>& content = in->long_message;
  content.resize(static_cast<size_t>(status.st_size));
  size_t read = 0;
  while (read < content.size()) {
    const ssize_t part =
        pread(file.get(), content.data() + read, content.size() - read, static_cast<off_t>(read));
    if (part <= 0) {
      *violation = "it sent a long message whose file is incomplete";
      return false;
    }
    read += static_cast<size_t>(part);
  }
  std::optional<std::string> malformed = ReadHeader(content, &in->header, &in->body);
  if (malformed || (in->header.flags & kFlagLong) != 0) {
    *violation = malformed.value_or("it sent a long message inside of a long message");
    return false;
  }
  return true;
}

Channel::Received Channel::Receive(bool wait, Incoming* in, std::string* violation) {
  in->long_message = {};
  for (;;) {
    Bytes message;
    base::UniqueFd file;
    const Received received = ReceiveDatagram(wait, in, &message, &file, violation);
    if (received != Received::kMessage) {
      return received;
    }
    if (auto malformed = ReadHeader(message, &in->header, &in->body)) {
      *violation = std::move(*malformed);
      return Received::kClosed;
    }
    if ((in->header.flags & kFlagLong) != 0) {
      if (!ReadLong(std::move(file), in, violation)) {
        return Received::kClosed;
      }
      file = base::UniqueFd();
    }
    for (const uint32_t id : in->header.released) {
      if (!segments_.pool.Free(id)) {
        *violation = "it released a segment that it did not have";
        return Received::kClosed;
      }
    }
    if (in->header.type != MessageType::kSegment) {
      return Received::kMessage;
    }
    if (!TakeSegment(*in, std::move(file), violation)) {
      return Received::kClosed;
    }
  }
}

Channel::Sent Channel::SendDatagram(const std::vector<char>& message, int file, bool wait) const {
  iovec part{const_cast<char*>(message.data()), message.size()};
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))] = {};
  msghdr sent{};
  sent.msg_iov = &part;
  sent.msg_iovlen = 1;
  if (file >= 0) {
    sent.msg_control = control;
    sent.msg_controllen = sizeof(control);
    cmsghdr* rights = CMSG_FIRSTHDR(&sent);
    rights->cmsg_level = SOL_SOCKET;
    rights->cmsg_type = SCM_RIGHTS;
    rights->cmsg_len = CMSG_LEN(sizeof(int));
    std::memcpy(CMSG_DATA(rights), &file, sizeof(int));
  }
  ssize_t size = -1;
  do {
    size = sendmsg(socket_.get(), &sent, MSG_NOSIGNAL | (wait ? 0 : MSG_DONTWAIT));
  } while (size < 0 && errno == EINTR);
  if (size >= 0) {
    return Sent::kYes;
  }
  return errno == EAGAIN || errno == EWOULDBLOCK || errno == ENOBUFS || errno == ETOOMANYREFS
             ? Sent::kFull
             : Sent::kGone;
}

int Channel::Outgoing::file() const {
  if (memory != nullptr) {
    return memory->file();
  }
  return arena != nullptr ? arena->file() : -1;
}

void Channel::Outgoing::Passed() const {
  if (memory != nullptr) {
    memory->CloseFile();
  }
}

void Channel::Announce(const TakenSegment& segment, std::vector<Outgoing>* datagrams) {
  if (segment.id == 0 || segment.announced) {
    return;
  }
  if (segment.block == nullptr) {
    const std::shared_ptr<SharedMemory>& memory = segment.memory;
    datagrams->push_back(
        {SegmentMessage(segment.id, memory->size(), memory->gpu()), memory, nullptr});
    return;
  }
  if (!segment.arena_announced) {
    datagrams->push_back(
        {SegmentMessage(segment.arena, InputArena::kSize), nullptr, segment.block->arena()});
  }
  datagrams->push_back({BlockMessage(segment), nullptr, nullptr});
}

std::vector<Channel::Outgoing> Channel::Forgotten() {
  std::vector<Outgoing> datagrams;
  for (const uint32_t id : segments_.pool.TakeDropped()) {
    datagrams.push_back({SegmentMessage(id, 0), nullptr, nullptr});
  }
  return datagrams;
}

std::vector<Channel::Outgoing> Channel::Datagrams(std::vector<char> message,
                                                  std::span<const TakenSegment> segments) {
  std::vector<Outgoing> datagrams = Forgotten();
  for (const TakenSegment& segment : segments) {
    Announce(segment, &datagrams);
  }
  if (message.size() <= kMaxMessage) {
    datagrams.push_back({std::move(message), nullptr, nullptr});
    return datagrams;
  }
  std::shared_ptr<SharedMemory> file;
  if (!SharedMemory::Create(message.size(), &file).ok()) {
    return {};
  }
  std::memcpy(file->data(), message.data(), message.size());
  std::vector<char> header(message.begin(), message.begin() + 16);
  header[1] = static_cast<char>(kFlagLong);
  std::memset(header.data() + 4, 0, sizeof(uint32_t));
  datagrams.push_back({std::move(header), std::move(file), nullptr});
  return datagrams;
}

bool Channel::Send(const std::vector<char>& message, std::span<const TakenSegment> segments) {
  const bool simple =
      message.size() <= kMaxMessage && !segments_.pool.HasDropped() &&
      std::all_of(segments.begin(), segments.end(),
                  [](const TakenSegment& segment) { return segment.id == 0 || segment.announced; });
  if (simple) {
    return SendDatagram(message, -1, true) == Sent::kYes;
  }
  const std::vector<Outgoing> datagrams = Datagrams(message, segments);
  for (const Outgoing& datagram : datagrams) {
    if (SendDatagram(datagram.message, datagram.file(), true) != Sent::kYes) {
      return false;
    }
    datagram.Passed();
  }
  return !datagrams.empty();
}

bool Channel::Post(std::vector<char> message, std::span<const TakenSegment> segments, bool urgent) {
  const base::MutexLock lock(mutex_);
  if (queued_bytes_ > kMaxQueued && !urgent) {
    return false;
  }
  std::vector<Outgoing> datagrams = Datagrams(std::move(message), segments);
  if (datagrams.empty()) {
    return false;
  }
  for (Outgoing& datagram : datagrams) {
    if (queue_.empty()) {
      const Sent sent = SendDatagram(datagram.message, datagram.file(), false);
      if (sent == Sent::kGone) {
        return false;
      }
      if (sent == Sent::kYes) {
        datagram.Passed();
        continue;
      }
    }
    queued_bytes_ += datagram.message.size();
    queue_.push_back(std::move(datagram));
  }
  if (!queue_.empty()) {
    eventfd_write(wake_, 1);
  }
  return true;
}

bool Channel::Flush() {
  const base::MutexLock lock(mutex_);
  while (!queue_.empty()) {
    const Outgoing& first = queue_.front();
    const Sent sent = SendDatagram(first.message, first.file(), false);
    if (sent == Sent::kFull) {
      return false;
    }
    first.Passed();
    queued_bytes_ -= first.message.size();
    queue_.pop_front();
    if (sent == Sent::kGone) {
      queue_.clear();
      queued_bytes_ = 0;
    }
  }
  return true;
}

bool Channel::HasQueued() {
  const base::MutexLock lock(mutex_);
  return !queue_.empty();
}

bool Channel::HasSpace() const {
  // With as much again the buffer of the socket is not full; see StartProcess.
  int unread = 0;
  return ioctl(socket_.get(), SIOCOUTQ, &unread) == 0 && static_cast<size_t>(unread) <= kMaxMessage;
}

void Channel::Shutdown() { shutdown(socket_.get(), SHUT_RDWR); }

}  // namespace nereid::python
