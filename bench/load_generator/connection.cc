// SPDX-License-Identifier: Apache-2.0
#include "connection.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <time.h>

#include <cerrno>

#include "payload.h"

namespace nereid::bench {

uint64_t NowNs() {
  timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<uint64_t>(now.tv_sec) * 1000000000 + static_cast<uint64_t>(now.tv_nsec);
}

Caller::Caller(Run& run) : run_(run), request_(&run.request) {
  if (run.options.sequence == 0) return;
  const uint64_t id = ++run.last_sequence_id;
  const bool only = run.options.sequence == 1;
  first_ = MakeRequest(run.options, run.tensor, {id, true, only});
  middle_ = MakeRequest(run.options, run.tensor, {id, false, false});
  last_ = MakeRequest(run.options, run.tensor, {id, false, true});
}

void Caller::Advance() {
  if (run_.options.sequence == 0) return;
  request_ = place_ == 0 ? &first_ : place_ == run_.options.sequence - 1 ? &last_ : &middle_;
  place_ = (place_ + 1) % run_.options.sequence;
}

Connection::~Connection() = default;

std::unique_ptr<Link> Connect(const Options& options) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(options.port);
  if (inet_pton(AF_INET, options.host.c_str(), &address.sin_addr) != 1) {
    errno = EINVAL;
    return nullptr;
  }
  const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (fd < 0) return nullptr;
  auto link = std::make_unique<Link>(fd);
  const int on = 1;
  const char* const protocol = options.protocol == Protocol::kHttp ? "http/1.1" : "h2";
  if (connect(fd, reinterpret_cast<sockaddr*>(&address), sizeof(address)) != 0 ||
      setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on)) != 0 ||
      (options.tls && !link->StartTls(protocol)) || !link->MakeNonBlocking()) {
    const int error = errno;
    link.reset();
    errno = error;
  }
  return link;
}

}  // namespace nereid::bench
