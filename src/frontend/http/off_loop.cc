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

/// Counts an exchange as waiting.
class Place {
 public:
  explicit Place(std::atomic<size_t>& waiting) : waiting_(waiting), before_(waiting++) {}
  ~Place() { --waiting_; }
  Place(const Place&) = delete;
  Place& operator=(const Place&) = delete;
  size_t before() const { return before_; }

 private:
  std::atomic<size_t>& waiting_;
  const size_t before_;
};

}  // namespace

void OffLoop::Run(Exchange& exchange, std::function<void()> work) {
  auto place = std::make_shared<Place>(waiting_);
  if (place->before() >= max_waiting_) {
    return Refuse(exchange,
                  "the server is busy with other large or slow requests. Try again later.");
  }
  const auto shared = exchange.Share();
  auto run = [shared, work = std::move(work), place = std::move(place)]() mutable {
    place.reset();
    try {
      work();
    } catch (const std::exception& failure) {
      LOG_ERROR << "HTTP: a request could not be served: " << failure.what();
      shared->reply().SetError(503, "application/json",
                               "the server could not serve the request: not enough memory");
    }
    work = nullptr;  // what it owns is not needed any more when the loop goes on
    shared->Finish();
  };
  // An exchange whose client has gone is finished too: its connection lets go of it then.
  const bool runs = workers_.Run(
      {std::move(run), [shared] { return shared->IsGone(); }, [shared] { shared->Finish(); }});
  if (!runs) Refuse(exchange, "the server is stopping, or has no thread for the request");
}

}  // namespace nereid::frontend::http
