// SPDX-License-Identifier: Apache-2.0
#include "frontend/http/off_loop.h"

#include <exception>
#include <memory>
#include <utility>

#include "base/log.h"

namespace nereid::frontend::http {
namespace {

void Refuse(Exchange& exchange, std::string_view message) {
  exchange.reply().SetError(503, "application/json", message);
  exchange.Finish();
}

/// One of the exchanges that wait for a thread. Counts from its construction to its destruction.
class WaitingExchange {
 public:
  explicit WaitingExchange(std::atomic<size_t>& waiting) : waiting_(waiting), ahead_(waiting++) {}
  ~WaitingExchange() { --waiting_; }
  WaitingExchange(const WaitingExchange&) = delete;
  WaitingExchange& operator=(const WaitingExchange&) = delete;
  /// The number of exchanges that waited before this one.
  size_t ahead() const { return ahead_; }

 private:
  std::atomic<size_t>& waiting_;
  const size_t ahead_;
};

}  // namespace

void OffLoop::Run(Exchange& exchange, std::function<void()> work) {
  auto waiting = std::make_shared<WaitingExchange>(waiting_);
  if (waiting->ahead() >= max_waiting_) {
    return Refuse(exchange,
                  "the server is busy with other large or slow requests. Try again later.");
  }
  const auto shared = exchange.Share();
  auto run = [shared, work = std::move(work), waiting = std::move(waiting)]() mutable {
    waiting.reset();
    try {
      work();
    } catch (const std::exception& failure) {
      LOG_ERROR << "HTTP: a request could not be served: " << failure.what();
      shared->reply().SetError(503, "application/json",
                               "the server could not serve the request: not enough memory");
    }
    work = nullptr;  // frees what it owns before the loop continues with the exchange
    shared->Finish();
  };
  // An exchange whose client has gone is finished as well: its connection waits for that.
  const bool runs = workers_.Run(
      {std::move(run), [shared] { return shared->IsGone(); }, [shared] { shared->Finish(); }});
  if (!runs) Refuse(exchange, "the server is stopping, or has no thread for the request");
}

}  // namespace nereid::frontend::http
