// SPDX-License-Identifier: Apache-2.0
#include "frontend/http/operation_pools.h"

#include <utility>

namespace nereid::frontend::http {

void OperationPools::Run(Exchange& exchange, api::Operation operation, std::function<void()> work) {
  switch (api::FactsOf(operation).cost) {
    case api::Cost::kRunsOnLoop:
      work();
      return exchange.Finish();
    case api::Cost::kAsksTables:
      return tables_.Run(exchange, std::move(work));
    case api::Cost::kAsksPlugins:
      return plugins_.Run(exchange, std::move(work));
    case api::Cost::kMovesSequences:
      return sequences_.Run(exchange, std::move(work));
    case api::Cost::kLoads:
      return loads_.Run(exchange, std::move(work));
  }
}

void OperationPools::Stop() {
  tables_.Stop();
  plugins_.Stop();
  sequences_.Stop();
  loads_.Stop();
}

}  // namespace nereid::frontend::http
