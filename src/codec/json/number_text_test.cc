// SPDX-License-Identifier: Apache-2.0
#include "codec/json/number_text.h"

#include <gtest/gtest.h>

#include <bit>
#include <charconv>
#include <cmath>
#include <limits>
#include <random>
#include <string>
#include <vector>

namespace nereid::codec::json {
namespace {

std::string Written(double value) {
  char text[kNumberRoom];
  return std::string(text, WriteDouble(value, text));
}

Number Read(const std::string& text, size_t* used = nullptr) {
  Number number;
  const char* const end = ReadNumber(text.data(), text.data() + text.size(), &number);
  if (used != nullptr) *used = static_cast<size_t>(end - text.data());
  return number;
}

TEST(WriteDouble, PlacesThePointAsClientsKnowIt) {
  EXPECT_EQ(Written(1.0), "1.0");
  EXPECT_EQ(Written(0.0), "0.0");
  EXPECT_EQ(Written(-0.0), "-0.0");
  EXPECT_EQ(Written(1.1f), "1.100000023841858");
  EXPECT_EQ(Written(-2.5), "-2.5");
  EXPECT_EQ(Written(123456789.0), "123456789.0");
  EXPECT_EQ(Written(1e20), "100000000000000000000.0");
  EXPECT_EQ(Written(1e21), "1e21");
  EXPECT_EQ(Written(1.5e30), "1.5e30");
  EXPECT_EQ(Written(0.000001), "0.000001");
  EXPECT_EQ(Written(0.0000001), "1e-7");
  EXPECT_EQ(Written(1.25e-100), "1.25e-100");
  EXPECT_EQ(Written(0.1), "0.1");
  EXPECT_EQ(Written(0.30000000000000004), "0.30000000000000004");
  EXPECT_EQ(Written(2251799813685248.5), "2251799813685248.5");
  EXPECT_EQ(Written(5e-324), "5e-324");
  EXPECT_EQ(Written(std::numeric_limits<double>::max()), "1.7976931348623157e308");
  EXPECT_EQ(Written(std::numeric_limits<float>::max()), "3.4028234663852886e38");
  EXPECT_EQ(Written(std::numeric_limits<double>::quiet_NaN()), "NaN");
  EXPECT_EQ(Written(std::numeric_limits<double>::infinity()), "Infinity");
  EXPECT_EQ(Written(-std::numeric_limits<double>::infinity()), "-Infinity");
}

TEST(ReadNumber, TellsIntegersFromDoubles) {
  EXPECT_EQ(Read("0").kind, Number::Kind::kUnsigned);
  EXPECT_EQ(Read("18446744073709551615").u, UINT64_MAX);
  EXPECT_EQ(Read("18446744073709551616").kind, Number::Kind::kDouble);
  EXPECT_EQ(Read("-9223372036854775808").i, INT64_MIN);
  EXPECT_EQ(Read("-9223372036854775809").kind, Number::Kind::kDouble);
  EXPECT_EQ(Read("1.0").kind, Number::Kind::kDouble);
  EXPECT_EQ(Read("1e2").d, 100.0);
  EXPECT_EQ(Read("-0").AsDouble(), 0.0);
  EXPECT_TRUE(std::isnan(Read("NaN").d));
  EXPECT_EQ(Read("Inf").d, std::numeric_limits<double>::infinity());
  EXPECT_EQ(Read("-Infinity").d, -std::numeric_limits<double>::infinity());
}

TEST(ReadNumber, RefusesWhatJsonDoesNotAllow) {
  for (const char* text : {"", "-", "+1", ".5", "01", "-01", "x", "Nan", "infinity", "--1"}) {
    EXPECT_EQ(Read(text).kind, Number::Kind::kNotANumber) << text;
  }
  EXPECT_EQ(Read("1.").kind, Number::Kind::kNoFraction);
  EXPECT_EQ(Read("1.e5").kind, Number::Kind::kNoFraction);
  EXPECT_EQ(Read("1e").kind, Number::Kind::kNoExponent);
  EXPECT_EQ(Read("1e+").kind, Number::Kind::kNoExponent);
  EXPECT_EQ(Read("1e400").kind, Number::Kind::kTooBig);
  EXPECT_EQ(Read("-1e99999999999999999999").kind, Number::Kind::kTooBig);
  EXPECT_EQ(Read(std::string(400, '9')).kind, Number::Kind::kTooBig);
}

TEST(ReadNumber, TinyIsZero) {
  EXPECT_EQ(Read("1e-400").d, 0.0);
  EXPECT_EQ(Read("0." + std::string(400, '0') + "1").d, 0.0);
}

TEST(ReadNumber, StopsBehindTheNumber) {
  size_t used = 0;
  EXPECT_EQ(Read("12.5,13", &used).d, 12.5);
  EXPECT_EQ(used, 4u);
  EXPECT_EQ(Read("1234567890123456789012345]", &used).kind, Number::Kind::kDouble);
  EXPECT_EQ(used, 25u);
}

TEST(ReadPlainNumbers, ReadsWhatReadNumberReads) {
  const auto read = [](const std::string& text, std::vector<double>* values) {
    const char* p = text.data();
    values->assign(8, -1);
    values->resize(ReadPlainNumbers(&p, text.data() + text.size(), 8, values->data()));
    return text.substr(static_cast<size_t>(p - text.data()));
  };
  std::vector<double> values;
  EXPECT_EQ(read("1,-2.5, 0.125,-0,1e2,1.5E-3,7]", &values), "7]");
  EXPECT_EQ(values, (std::vector<double>{1, -2.5, 0.125, -0.0, 100, 0.0015}));
  // The last element of an array, and everything that JSON does not allow, is left to ReadNumber.
  for (const char* text :
       {"",     "1",     "1 ,2,", "1],",    "01,",    "-01,",  "-,",   ".5,",
        "1.,",  "1.e5,", "1e,",   "1e+,",   "1e400,", "+1,",   "NaN,", "Infinity,",
        "inf,", "nan,",  "0x1,",  "\"1\",", "- 1,",   "1..2,", "1-2,"}) {
    EXPECT_EQ(read(text, &values), text);
    EXPECT_TRUE(values.empty()) << text;
  }
}

TEST(Numbers, SurviveTheRoundTripAndAreShortest) {
  std::mt19937_64 random(7);
  for (int i = 0; i < 300'000; ++i) {
    double value;
    switch (i % 3) {
      case 0:
        value = std::bit_cast<double>(random());
        break;
      case 1:
        value = std::bit_cast<float>(static_cast<uint32_t>(random()));
        break;
      default:
        value = std::ldexp(static_cast<double>(random() >> (random() % 64)),
                           static_cast<int>(random() % 80) - 40);
    }
    if (!std::isfinite(value)) continue;
    const std::string text = Written(value);
    EXPECT_EQ(std::bit_cast<uint64_t>(Read(text).AsDouble()), std::bit_cast<uint64_t>(value))
        << text;
    char shortest[64];
    const auto end = std::to_chars(shortest, shortest + 64, value).ptr;
    double back = 0;
    std::from_chars(text.data(), text.data() + text.size(), back);
    EXPECT_EQ(back, value) << text;
    const auto digits = [](std::string s) {
      s = s.substr(0, s.find('e'));
      std::erase_if(s, [](char c) { return c < '0' || c > '9'; });
      s.erase(0, s.find_first_not_of('0'));
      while (!s.empty() && s.back() == '0') s.pop_back();
      return s;
    };
    EXPECT_LE(digits(text).size(), digits(std::string(shortest, end)).size()) << text;
  }
}

TEST(Numbers, LongDigitStringsRoundAsTheStandardLibraryDoes) {
  std::mt19937_64 random(11);
  for (int i = 0; i < 300'000; ++i) {
    const std::string text = std::to_string(random() >> (random() % 64)) + "." +
                             std::to_string(random() >> (random() % 64)) + "e" +
                             std::to_string(static_cast<int>(random() % 660) - 350);
    double expected = 0;
    if (std::from_chars(text.data(), text.data() + text.size(), expected).ec != std::errc())
      continue;
    EXPECT_EQ(Read(text).AsDouble(), expected) << text;
  }
}

}  // namespace
}  // namespace nereid::codec::json
