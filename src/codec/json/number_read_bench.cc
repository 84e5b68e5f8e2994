// SPDX-License-Identifier: Apache-2.0
// Reads the elements of a JSON array of numbers with this folder's readers, with std::from_chars
// and with fast_float: docs/decisions/0013-number-reader.md. from_chars and fast_float alone do not
// apply JSON's rules (no leading zeros, a digit after the point, integers apart from doubles).
#include <benchmark/benchmark.h>
#include <fast_float/fast_float.h>

#include <charconv>
#include <cstdio>
#include <random>
#include <string>
#include <vector>

#include "codec/json/number_text.h"

namespace nereid::codec::json {
namespace {

constexpr size_t kCount = 262'144;  // more than a branch predictor remembers

enum class Form { kFloat, kDouble, kTwoDecimals, kInteger, kExponent };

std::string Array(Form form) {
  std::mt19937_64 random(7);
  std::uniform_real_distribution<double> uniform(-1, 1);
  std::string text;
  for (size_t i = 0; i < kCount; ++i) {
    char number[64];
    switch (form) {
      case Form::kFloat:  // a float as Python's json module writes it: widened to double
        std::snprintf(number, sizeof(number), "%.17g", static_cast<float>(uniform(random)));
        break;
      case Form::kDouble:
        std::snprintf(number, sizeof(number), "%.16g", uniform(random));
        break;
      case Form::kTwoDecimals:
        std::snprintf(number, sizeof(number), "%.2f", 100 * uniform(random));
        break;
      case Form::kInteger:
        std::snprintf(number, sizeof(number), "%d", static_cast<int>(random() % 256));
        break;
      case Form::kExponent:
        std::snprintf(number, sizeof(number), "%.6e", uniform(random));
        break;
    }
    text += number;
    text += ',';
  }
  return text;
}

template <typename Read>
void Run(benchmark::State& state, Read&& read) {
  const std::string text = Array(static_cast<Form>(state.range(0)));
  std::vector<float> out(kCount);
  for (auto _ : state) {
    read(text.data(), text.data() + text.size(), out.data());
    benchmark::DoNotOptimize(out.data());
    benchmark::ClobberMemory();
  }
  state.SetItemsProcessed(static_cast<int64_t>(state.iterations() * kCount));
  state.SetBytesProcessed(static_cast<int64_t>(state.iterations() * text.size()));
}

void ReadPlainNumbersOfJson(benchmark::State& state) {
  Run(state, [](const char* p, const char* end, float* out) {
    for (size_t n = 0; n < kCount;) {
      n += ReadPlainNumbers(&p, end, kCount - n, out + n);
      if (n == kCount) break;
      Number number;
      p = ReadNumber(p, end, &number) + 1;
      out[n++] = static_cast<float>(number.AsDouble());
    }
  });
}

void ReadNumberOfJson(benchmark::State& state) {
  Run(state, [](const char* p, const char* end, float* out) {
    for (size_t n = 0; n < kCount; ++n) {
      Number number;
      p = ReadNumber(p, end, &number) + 1;
      out[n] = static_cast<float>(number.AsDouble());
    }
  });
}

void StdFromChars(benchmark::State& state) {
  Run(state, [](const char* p, const char* end, float* out) {
    for (size_t n = 0; n < kCount; ++n) {
      double d = 0;
      p = std::from_chars(p, end, d).ptr + 1;
      out[n] = static_cast<float>(d);
    }
  });
}

void FastFloat(benchmark::State& state) {
  Run(state, [](const char* p, const char* end, float* out) {
    for (size_t n = 0; n < kCount; ++n) {
      double d = 0;
      p = fast_float::from_chars(p, end, d).ptr + 1;
      out[n] = static_cast<float>(d);
    }
  });
}

// The argument is the form.
BENCHMARK(ReadPlainNumbersOfJson)->DenseRange(0, 4);
BENCHMARK(ReadNumberOfJson)->DenseRange(0, 4);
BENCHMARK(StdFromChars)->DenseRange(0, 4);
BENCHMARK(FastFloat)->DenseRange(0, 4);

}  // namespace
}  // namespace nereid::codec::json
