// SPDX-License-Identifier: Apache-2.0
#include "memory/shared/shared_regions.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <string>
#include <utility>

#include "memory/shared/testing/temporary_object.h"

namespace nereid::memory {
namespace {

using base::Status;
using base::StatusCode;

constexpr uint64_t kPage = 4096;

class SharedRegionsTest : public ::testing::Test {
 protected:
  static void SetUpTestSuite() { ASSERT_TRUE(InstallBusGuard().ok()); }

  Status Register(const std::string& name, const std::string& key, uint64_t offset,
                  uint64_t byte_size) {
    return regions_.Register({name, key, offset, byte_size});
  }

  SharedRegions regions_;
};

void Expect(const Status& status, StatusCode code, const std::string& text) {
  EXPECT_EQ(status.code(), code);
  EXPECT_EQ(status.message(), text);
}

TEST_F(SharedRegionsTest, ARegionIsTheClientsMemory) {
  TemporaryObject object(3 * kPage);
  object.Write(kPage, "hello");
  ASSERT_TRUE(Register("r", object.key(), kPage, 2 * kPage).ok());
  const auto mapping = std::move(regions_.Use("r")).value();
  EXPECT_EQ(std::string(mapping->data(), 5), "hello");
  mapping->data()[kPage] = 'w';
  EXPECT_EQ(object.Read(2 * kPage, 1), "w");
  object.Write(kPage, "J");
  EXPECT_EQ(mapping->data()[0], 'J');
}

TEST_F(SharedRegionsTest, AKeyNeedsNoSlash) {
  TemporaryObject object(kPage);
  EXPECT_TRUE(Register("a", object.key().substr(1), 0, kPage).ok());
  EXPECT_TRUE(Register("b", "//" + object.key(), 0, kPage).ok());
}

TEST_F(SharedRegionsTest, RegistrationsThatAreRefused) {
  TemporaryObject object(2 * kPage);
  const std::string& key = object.key();
  const auto failed = [](const std::string& why) {
    return "failed to register shared memory region 'r': " + why;
  };
  const std::string space = failed("unable to process address spaceInvalid argument");
  const auto kInvalid = StatusCode::kInvalidArgument;
  Expect(Register("r", key, 0, 2 * kPage + 1), kInvalid, failed("invalid args"));
  Expect(Register("r", key, kPage, kPage + 1), kInvalid, failed("invalid args"));
  Expect(Register("r", key, UINT64_MAX, 2), kInvalid, failed("invalid args"));
  Expect(Register("r", key, 2, UINT64_MAX), kInvalid, failed("invalid args"));
  Expect(Register("r", key, 0, uint64_t{1} << 63), kInvalid, failed("invalid args"));
  Expect(Register("r", key, 1, 1), kInvalid, space);
  Expect(Register("r", key, 0, 0), kInvalid, space);
  Expect(Register("r", "/nereid_test_absent", 0, 1), StatusCode::kNotFound,
         "Unable to open shared memory region: '/nereid_test_absent': No such file or directory");
  EXPECT_TRUE(regions_.List().empty());
}

TEST_F(SharedRegionsTest, KeysThatLeadElsewhereAreRefused) {
  const std::string nul("/a\0b", 4);
  for (const std::string& key :
       {std::string(), std::string("/"), std::string("///"), std::string("."), std::string("/.."),
        std::string("a/b"), std::string("/../etc/passwd"), std::string("/a/../b"), nul,
        "/" + std::string(256, 'k')}) {
    Expect(Register("r", key, 0, 1), StatusCode::kInvalidArgument,
           "cannot register shared memory region 'r' - invalid shm key '" + key + "'");
  }
  for (const std::string prefix : {"", "/", "//"}) {
    const std::string key = prefix + "triton_python_backend_shm_region_1";
    Expect(Register("r", key, 0, 1), StatusCode::kInvalidArgument,
           "cannot register shared memory region 'r' with key '" + key +
               "' as the key contains the reserved prefix 'triton_python_backend_shm_region_'");
  }
  Expect(Register("r", "/triton_vllm_backend_shm_region_5", 0, 1), StatusCode::kInvalidArgument,
         "cannot register shared memory region 'r' with key '/triton_vllm_backend_shm_region_5' as "
         "the key contains the reserved prefix 'triton_vllm_backend_shm_region_'");
}

TEST_F(SharedRegionsTest, OnlyRegularFilesAreOpened) {
  TemporaryObject object(kPage);
  const std::string link = object.key() + "_link", pipe = object.key() + "_pipe";
  ASSERT_EQ(symlink(("/dev/shm" + object.key()).c_str(), ("/dev/shm" + link).c_str()), 0);
  ASSERT_EQ(mkfifo(("/dev/shm" + pipe).c_str(), 0600), 0);
  for (const auto& [key, why] :
       {std::pair(link, "Too many levels of symbolic links"), {pipe, "it is no regular file"}}) {
    Expect(Register("r", key, 0, kPage), StatusCode::kInvalidArgument,
           "Unable to open shared memory region: '" + key + "': " + why);
    unlink(("/dev/shm" + key).c_str());
  }
}

TEST_F(SharedRegionsTest, ANameIsRegisteredOnce) {
  TemporaryObject object(kPage);
  ASSERT_TRUE(Register("r", object.key(), 0, kPage).ok());
  Expect(Register("r", object.key(), 0, 1), StatusCode::kAlreadyExists,
         "shared memory region 'r' already in manager");
  regions_.Unregister("absent");
  regions_.Unregister("r");
  EXPECT_TRUE(Register("r", object.key(), 0, 1).ok());
}

TEST_F(SharedRegionsTest, ListsByName) {
  TemporaryObject object(2 * kPage);
  ASSERT_TRUE(Register("b", object.key(), kPage, 5).ok());
  ASSERT_TRUE(Register("a", object.key(), 0, kPage).ok());
  const auto all = regions_.List();
  ASSERT_EQ(all.size(), 2u);
  EXPECT_EQ(all[0].name, "a");
  EXPECT_EQ(all[1].name, "b");
  const auto one = regions_.List("b");
  ASSERT_EQ(one.size(), 1u);
  EXPECT_EQ(one[0].key, object.key());
  EXPECT_EQ(one[0].offset, kPage);
  EXPECT_EQ(one[0].byte_size, 5u);
  EXPECT_TRUE(regions_.List("absent").empty());
  regions_.UnregisterAll();
  EXPECT_TRUE(regions_.List().empty());
  Expect(regions_.Use("a").status(), StatusCode::kNotFound,
         "Unable to find shared memory region: 'a'");
}

TEST_F(SharedRegionsTest, ARegionInUseOutlivesItsName) {
  TemporaryObject object(kPage);
  object.Write(0, "x");
  ASSERT_TRUE(Register("r", object.key(), 0, kPage).ok());
  const auto mapping = std::move(regions_.Use("r")).value();
  regions_.Unregister("r");
  object.Unlink();
  EXPECT_EQ(mapping->data()[0], 'x');
  TemporaryObject next(kPage);
  next.Write(0, "y");
  ASSERT_TRUE(Register("r", next.key(), 0, kPage).ok());
  EXPECT_EQ(mapping->data()[0], 'x') << "the old user sees the new region";
  EXPECT_EQ((*regions_.Use("r"))->data()[0], 'y');
}

TEST_F(SharedRegionsTest, AnObjectThatShrankIsNoticedAtItsNextUse) {
  TemporaryObject object(2 * kPage);
  ASSERT_TRUE(Register("r", object.key(), kPage, kPage).ok());
  object.Resize(2 * kPage - 1);
  const Status status = regions_.Use("r").status();
  EXPECT_EQ(status.code(), StatusCode::kInvalidArgument);
  EXPECT_NE(status.message().find("has only 8191 bytes now"), std::string::npos)
      << status.message();
  object.Resize(2 * kPage);
  EXPECT_TRUE(regions_.Use("r").ok()) << "nothing had touched the missing page";
}

TEST_F(SharedRegionsTest, AnObjectThatShrinksInUseBreaksItsRegionUntilItIsRegisteredAgain) {
  TemporaryObject object(2 * kPage);
  ASSERT_TRUE(Register("r", object.key(), 0, 2 * kPage).ok());
  const auto mapping = std::move(regions_.Use("r")).value();
  object.Resize(kPage);
  EXPECT_EQ(static_cast<volatile char*>(mapping->data())[kPage], 0);
  EXPECT_EQ(mapping->CheckIntact().code(), StatusCode::kInvalidArgument);
  object.Resize(2 * kPage);
  const Status status = regions_.Use("r").status();
  EXPECT_EQ(status.code(), StatusCode::kInvalidArgument);
  EXPECT_NE(status.message().find("became smaller than the region"), std::string::npos);
  regions_.Unregister("r");
  ASSERT_TRUE(Register("r", object.key(), 0, 2 * kPage).ok());
  EXPECT_TRUE(regions_.Use("r").ok());
}

TEST_F(SharedRegionsTest, LargeInputsMustHaveBeenWritten) {
  constexpr uint64_t kLarge = uint64_t{65} << 20;
  TemporaryObject object(kLarge);
  ASSERT_TRUE(Register("r", object.key(), 0, kLarge).ok());
  const auto mapping = std::move(regions_.Use("r")).value();
  EXPECT_TRUE(mapping->CheckStored(uint64_t{64} << 20).ok());
  const Status status = mapping->CheckStored(kLarge);
  EXPECT_EQ(status.code(), StatusCode::kInvalidArgument);
  EXPECT_NE(status.message().find("only 0 bytes of the object were ever written"),
            std::string::npos)
      << status.message();
}

TEST_F(SharedRegionsTest, NumberAndSizeAreLimited) {
  TemporaryObject object(16 * kPage);
  SharedRegions few({.regions = 2, .bytes = 8 * kPage});
  const auto add = [&](const std::string& name, uint64_t size) {
    return few.Register({name, object.key(), 0, size});
  };
  Expect(add("a", 9 * kPage), StatusCode::kUnavailable,
         "cannot register shared memory region 'a' of 36864 bytes: the regions that are "
         "registered or in use can have 32768 bytes together");
  ASSERT_TRUE(add("a", 5 * kPage).ok());
  EXPECT_EQ(add("b", 4 * kPage).code(), StatusCode::kUnavailable);
  ASSERT_TRUE(add("b", 3 * kPage).ok());
  Expect(add("c", 1), StatusCode::kUnavailable,
         "cannot register shared memory region 'c': there are 2 regions, which is the maximum. "
         "Unregister some first");
  auto in_use = std::move(few.Use("a")).value();
  few.Unregister("a");
  EXPECT_EQ(add("c", kPage).code(), StatusCode::kUnavailable) << "its bytes are still mapped";
  in_use.reset();
  EXPECT_TRUE(add("c", kPage).ok());
}

TEST_F(SharedRegionsTest, LongNamesAreRefused) {
  const std::string text =
      "the name and the key of a shared memory region can have at most 1024 "
      "bytes";
  Expect(Register(std::string(1025, 'n'), "/k", 0, 1), StatusCode::kInvalidArgument, text);
  Expect(Register("r", std::string(1025, '/'), 0, 1), StatusCode::kInvalidArgument, text);
}

/// Registers the descriptor, which the regions take over, as "sent".
Status RegisterSent(SharedRegions& regions, int file) {
  auto object = SharedObject::Adopt("sent", file);
  if (!object.ok()) return object.status();
  return regions.Register({"sent", "", 0, kPage}, std::move(*object));
}

TEST_F(SharedRegionsTest, AnObjectThatIsSentNeedsNoName) {
  const int file = memfd_create("client", MFD_CLOEXEC);
  ASSERT_EQ(ftruncate(file, kPage), 0);
  const int ours = dup(file);
  ASSERT_TRUE(RegisterSent(regions_, file).ok());
  const auto mapping = std::move(regions_.Use("sent")).value();
  mapping->data()[5] = 'x';
  char byte = 0;
  EXPECT_EQ(pread(ours, &byte, 1, 5), 1);
  EXPECT_EQ(byte, 'x');
  ASSERT_EQ(ftruncate(ours, 0), 0);
  EXPECT_FALSE(mapping->CheckUsable().ok());
  close(ours);
}

TEST_F(SharedRegionsTest, DescriptorsThatAreRefused) {
  const std::string begin =
      "cannot register shared memory region 'sent' - the descriptor that came with the request ";
  int pipe_ends[2];
  ASSERT_EQ(pipe(pipe_ends), 0);
  close(pipe_ends[1]);
  TemporaryObject object(kPage);
  const std::string path = "/dev/shm" + object.key();
  for (const int file : {open("/dev/null", O_RDWR), open("/proc/self/status", O_RDONLY),
                         open("/dev/shm", O_RDONLY), pipe_ends[0]}) {
    ASSERT_GE(file, 0);
    Expect(RegisterSent(regions_, file), StatusCode::kInvalidArgument,
           begin + "is no file in memory: send one of memfd_create or shm_open");
    EXPECT_EQ(fcntl(file, F_GETFD), -1) << "is closed";
  }
  for (const int file :
       {open(path.c_str(), O_RDONLY), open(path.c_str(), O_WRONLY), open(path.c_str(), O_PATH)}) {
    ASSERT_GE(file, 0);
    Expect(RegisterSent(regions_, file), StatusCode::kInvalidArgument,
           begin + "is not open for reading and writing");
  }
  const int sealed = memfd_create("sealed", MFD_CLOEXEC | MFD_ALLOW_SEALING);
  ASSERT_EQ(ftruncate(sealed, kPage), 0);
  ASSERT_EQ(fcntl(sealed, F_ADD_SEALS, F_SEAL_WRITE), 0);
  EXPECT_EQ(RegisterSent(regions_, sealed).code(), StatusCode::kInvalidArgument);
  EXPECT_TRUE(regions_.List().empty());
}

}  // namespace
}  // namespace nereid::memory
