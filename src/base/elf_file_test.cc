// SPDX-License-Identifier: Apache-2.0
#include "base/elf_file.h"

#include <dlfcn.h>
#include <elf.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>

#include "base/files.h"
#include "base/temporary_directory.h"

namespace nereid::base {
namespace {

std::string Forwarder() { return ForwardingLibrary("libmangled-0badcafe.so", {"libc.so.6"}); }

TEST(ElfFileTest, ReadsWhatAProgramNeeds) {
  const auto file = ReadFile("/proc/self/exe");
  ASSERT_TRUE(file.ok()) << file.status().message();
  const auto needed = NeededLibraries(*file);
  ASSERT_TRUE(needed.ok()) << needed.status().message();
  EXPECT_NE(std::find(needed->begin(), needed->end(), "libc.so.6"), needed->end());
}

TEST(ElfFileTest, AForwarderNeedsItsTargetAlone) {
  const auto needed = NeededLibraries(Forwarder());
  ASSERT_TRUE(needed.ok()) << needed.status().message();
  EXPECT_EQ(*needed, std::vector<std::string>{"libc.so.6"});
}

TEST(ElfFileTest, AForwarderNeedsItsTargetsInOrder) {
  const std::vector<std::string> targets = {"/opt/plug in.so", "libc.so.6", "libm.so.6"};
  const auto needed = NeededLibraries(ForwardingLibrary("beside.so", targets));
  ASSERT_TRUE(needed.ok()) << needed.status().message();
  EXPECT_EQ(*needed, targets);
}

TEST(ElfFileTest, TheLoaderTakesAForwarder) {
  const auto folder = TemporaryDirectory::Create();
  ASSERT_TRUE(folder.ok()) << folder.status().message();
  const std::string path = JoinPath((*folder)->path(), "forwarder.so");
  std::ofstream(path, std::ios::binary) << Forwarder();
  ASSERT_EQ(dlopen("libmangled-0badcafe.so", RTLD_NOW | RTLD_LOCAL), nullptr);
  void* const handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  ASSERT_NE(handle, nullptr) << dlerror();
  // Its own name finds it now, and through it the symbols of its target.
  void* const again = dlopen("libmangled-0badcafe.so", RTLD_NOW | RTLD_LOCAL);
  EXPECT_EQ(again, handle);
  EXPECT_EQ(dlsym(handle, "getpid"), reinterpret_cast<void*>(dlsym(RTLD_DEFAULT, "getpid")));
  if (again != nullptr) dlclose(again);
  dlclose(handle);
}

TEST(ElfFileTest, RefusesWhatIsNoSharedObject) {
  EXPECT_FALSE(NeededLibraries("").ok());
  EXPECT_FALSE(NeededLibraries("#!/bin/sh\n").ok());
  EXPECT_FALSE(NeededLibraries(std::string(sizeof(Elf64_Ehdr), '\0')).ok());
}

/// Whatever a byte of the file says, nothing outside of it is read (the sanitizers look on).
TEST(ElfFileTest, SurvivesEveryCutAndEveryChangedByte) {
  const std::string good = Forwarder();
  for (size_t size = 0; size < good.size(); ++size) {
    // On the heap at its exact size, so that a read past the end is seen.
    const std::vector<char> cut(good.begin(), good.begin() + static_cast<std::ptrdiff_t>(size));
    EXPECT_FALSE(NeededLibraries({cut.data(), cut.size()}).ok()) << size;
  }
  for (size_t at = 0; at < good.size(); ++at) {
    for (const char value : {'\0', '\x7f', '\xff'}) {
      std::string changed = good;
      changed[at] = value;
      (void)NeededLibraries(changed);
    }
  }
}

}  // namespace
}  // namespace nereid::base
