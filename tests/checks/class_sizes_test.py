# SPDX-License-Identifier: Apache-2.0
"""The list of class sizes counts methods and implementing files on a made-up tree."""

import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

TOOL = Path(__file__).resolve().parents[2] / "tools" / "class_sizes.py"

HEADER = """\
#pragma once
#define NOT_A_CLASS(x) class x { void f(); };
namespace demo::shop {

// class Comment { void f(); };
enum class Color { kRed, kBlue };

/// Sells things: "class Quoted { void f(); }".
class Shop : public Base {
 public:
  using Callback = std::function<void(int count)>;
  explicit Shop(int size);
  Shop(const Shop&) = delete;
  Shop& operator=(const Shop&) = delete;
  ~Shop() override;
  bool operator<(const Shop& other) const { return Size() < other.Size(); }

  [[nodiscard]] int Size() const { return Count(size_); }
  virtual void Close() = 0;
  std::map<std::string, std::vector<int>> Stock(const std::function<bool(int)>& wanted) const;
  template <typename T>
  void Sell(T thing);
  void Sell(const char* thing) DEMO_REQUIRES(mutex_);
  static Shop* Open(const std::string& text = ")};");

  class Till {
   public:
    Till();
    void Add(int amount);

   private:
    struct Coin {
      int value = int(1);
    };
  };

 private:
  friend class Till;
  friend void Inspect(Shop& shop);
  void (*pointer_)(int) = nullptr;
  int size_ DEMO_GUARDED_BY(mutex_) = 0;
  std::function<void(int)> callback_{Make(1)};
  const int limit_ = Limit(3);
};

void Inspect(Shop& shop);

}  // namespace demo::shop
"""

SOURCE = """\
#include "shop/shop.h"
namespace demo::shop {
namespace {
class Local {
  void Hidden() {}
};
int Free(int x) { return Shop::Open("")->Size() + x; }
}  // namespace

Shop::Shop(int size) : size_{size} {}
std::map<std::string, std::vector<int>> Shop::Stock(
    const std::function<bool(int)>& wanted) const {
  if (wanted(1)) { Shop::Open(""); }
  return {};
}
}  // namespace demo::shop
"""


class ClassSizes(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = Path(folder.name)
        self.write("src/shop/shop.h", HEADER)
        self.write("src/shop/shop.cc", SOURCE)

    def write(self, name, text):
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")

    def run_tool(self, *options):
        command = [sys.executable, str(TOOL), *options, str(self.root)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        return done.returncode, done.stdout + done.stderr

    def write_shop(self, methods):
        body = "".join(f"  void Method{i}();\n" for i in range(methods))
        self.write("src/shop/big.h", f"namespace demo {{\nclass Big {{\n public:\n{body}}};\n}}\n")

    def test_counts_methods_but_no_constructors_operators_members_or_friends(self):
        code, output = self.run_tool()
        self.assertEqual(code, 0, output)
        self.assertIn("6  1  demo::shop::Shop  (shop/shop.cc)", output)

    def test_a_nested_class_is_a_class_of_its_own(self):
        _, output = self.run_tool()
        self.assertIn("1  0  demo::shop::Shop::Till  (headers only)", output)
        for name in ("Coin", "Color", "Comment", "Quoted", "Local", "NOT_A_CLASS"):
            self.assertNotIn(name, output)

    def test_lists_the_largest_first(self):
        self.write_shop(9)
        _, output = self.run_tool("--top", "1")
        self.assertIn("9  0  demo::Big", output)
        self.assertNotIn("Shop", output)

    def test_accepts_a_class_of_25_methods_in_two_files(self):
        self.write_shop(25)
        for name in ("one", "two"):
            self.write(f"src/shop/{name}.cc", "namespace demo {\nvoid Big::Method1() {}\n}\n")
        code, output = self.run_tool("--check")
        self.assertEqual(code, 0, output)
        self.assertIn("0 with more than 25 methods", output)

    def test_finds_a_class_with_too_many_methods(self):
        self.write_shop(26)
        code, output = self.run_tool("--check")
        self.assertEqual(code, 1)
        self.assertIn("26  0  demo::Big", output)
        self.assertNotIn("Shop", output)

    def test_finds_a_class_in_too_many_files(self):
        for name in ("one", "two"):
            self.write(f"src/shop/{name}.cc", "void demo::shop::Shop::Close() {}\n")
        code, output = self.run_tool("--check")
        self.assertEqual(code, 1)
        self.assertIn("demo::shop::Shop  (shop/one.cc, shop/shop.cc, shop/two.cc)", output)

    def test_tests_and_fakes_do_not_count(self):
        self.write("src/shop/testing/fake_shop.h", "class FakeShop {\n  void F();\n};\n")
        for name in ("a_test", "b_test", "c_bench"):
            self.write(f"src/shop/{name}.cc", "namespace demo::shop {\nvoid Shop::Close() {}\n}\n")
        code, output = self.run_tool("--check")
        self.assertEqual(code, 0, output)
        self.assertNotIn("FakeShop", self.run_tool()[1])


if __name__ == "__main__":
    unittest.main()
