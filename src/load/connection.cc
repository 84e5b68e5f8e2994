// SPDX-License-Identifier: Apache-2.0
#include "load/connection.h"

#include <time.h>

namespace nereid::load {

uint64_t NowNs() {
  timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<uint64_t>(now.tv_sec) * 1000000000 + static_cast<uint64_t>(now.tv_nsec);
}

Caller::Caller(Run& run) : run_(run), request_(&run.request) {
  if (run.sequence == 0) return;
  const uint64_t id = ++run.last_sequence_id;
  const bool only = run.sequence == 1;
  first_ = run.make_request({id, true, only});
  middle_ = run.make_request({id, false, false});
  last_ = run.make_request({id, false, true});
}

void Caller::Advance() {
  if (run_.sequence == 0) return;
  request_ = place_ == 0 ? &first_ : place_ == run_.sequence - 1 ? &last_ : &middle_;
  place_ = (place_ + 1) % run_.sequence;
}

Connection::~Connection() = default;

std::unique_ptr<Connection> MakeConnection(Run& run, std::unique_ptr<Link> link) {
  return run.target.protocol == Protocol::kHttp ? MakeHttpConnection(run, std::move(link))
                                                : MakeGrpcConnection(run, std::move(link));
}

}  // namespace nereid::load
