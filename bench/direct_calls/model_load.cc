// SPDX-License-Identifier: Apache-2.0
#include "direct_calls/model_load.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <fstream>
#include <iostream>
#include <iterator>
#include <sstream>
#include <thread>

#include "direct_calls/measure.h"

namespace nereid::bench {
namespace {

using Clock = std::chrono::steady_clock;

double Us(Clock::duration time) { return std::chrono::duration<double, std::micro>(time).count(); }

std::vector<char> Content(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) Fail("cannot read " + path);
  return {std::istreambuf_iterator<char>(file), {}};
}

/// Calls until `end` and returns the microseconds of the calls that began at `begin` or later.
std::vector<double> CallUntil(Clock::time_point begin, Clock::time_point end,
                              const std::function<void()>& call) {
  std::vector<double> us;
  for (auto now = Clock::now(); now < end;) {
    call();
    const auto after = Clock::now();
    if (now >= begin) us.push_back(Us(after - now));
    now = after;
  }
  return us;
}

double Quantile(const std::vector<double>& sorted, double q) {
  return sorted.empty() ? 0
                        : sorted[static_cast<size_t>(q * static_cast<double>(sorted.size() - 1))];
}

void Measure(size_t callers, double warmup, double seconds, const std::function<void()>& begin,
             const std::function<void()>& call) {
  const auto start = Clock::now();
  const auto measured =
      start + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(warmup));
  const auto end = measured + std::chrono::duration_cast<Clock::duration>(
                                  std::chrono::duration<double>(seconds));
  std::vector<std::vector<double>> times(callers);
  std::vector<std::thread> threads;
  for (size_t i = 0; i < callers; ++i) {
    threads.emplace_back([&, i] {
      begin();
      times[i] = CallUntil(measured, end, call);
    });
  }
  std::this_thread::sleep_until(measured);
  const double cpu_us = CpuUs();
  for (std::thread& thread : threads) thread.join();
  const double used_us = CpuUs() - cpu_us;
  const double span_s = Us(Clock::now() - measured) / 1e6;
  std::vector<double> all;
  for (const std::vector<double>& some : times) all.insert(all.end(), some.begin(), some.end());
  std::sort(all.begin(), all.end());
  double sum = 0;
  for (const double us : all) sum += us;
  const double count = std::max<double>(1, static_cast<double>(all.size()));
  std::printf(
      "{\"requests\": %zu, \"seconds\": %.3f, \"throughput\": %.3f, \"mean_us\": %.1f, "
      "\"p50_us\": %.1f, \"p99_us\": %.1f, \"cpu_us\": %.1f}\n",
      all.size(), span_s, static_cast<double>(all.size()) / span_s, sum / count, Quantile(all, 0.5),
      Quantile(all, 0.99), used_us / count);
  std::fflush(stdout);
}

}  // namespace

std::vector<InputTensor> ReadInputs(const std::string& path) {
  std::ifstream file(path);
  if (!file) Fail("cannot read " + path);
  std::vector<InputTensor> inputs;
  for (std::string line; std::getline(file, line);) {
    InputTensor input;
    std::string dims, content;
    std::istringstream words(line);
    if (!(words >> input.name >> input.datatype >> dims >> content)) Fail("bad line: " + line);
    std::istringstream numbers(dims == "-" ? "" : dims);
    for (std::string dim; std::getline(numbers, dim, ',');) {
      input.shape.push_back(std::atoll(dim.c_str()));
    }
    input.bytes = Content(content);
    inputs.push_back(std::move(input));
  }
  return inputs;
}

int ServeMeasurements(const std::function<void()>& begin, const std::function<void()>& call) {
  begin();
  call();
  std::printf("ready\n");
  std::fflush(stdout);
  size_t callers = 0;
  double warmup = 0, seconds = 0;
  while (std::cin >> callers >> warmup >> seconds) {
    if (callers == 0 || callers > 1024) Fail("callers must be from 1 to 1024");
    Measure(callers, warmup, seconds, begin, call);
  }
  return 0;
}

}  // namespace nereid::bench
