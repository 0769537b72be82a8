// The object cache: durable, verified, bounded, shared by processes.
#include "frontends/jit/ObjectCache.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include <csignal>
#include <filesystem>
#include <fstream>
#include <random>
#include <sys/stat.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

using namespace torchc;
using namespace torchc::jit;
using testing::HasSubstr;
namespace fs = std::filesystem;

namespace {

Sha256Digest keyOf(int i) { return sha256({reinterpret_cast<uint8_t *>(&i), sizeof i}); }
std::vector<uint8_t> content(int i, size_t n = 5000) {
  std::mt19937 rng{unsigned(i)};
  std::vector<uint8_t> bytes(n);
  for (uint8_t &b : bytes)
    b = uint8_t(rng());
  return bytes;
}

struct CacheTest : testing::Test {
  std::string folder = testing::TempDir() + "torchc-cache-" + std::to_string(getpid());
  std::string objects = folder + "/objects-v1";
  Records records;
  CacheOptions options() { return {folder, uint64_t(1) << 30, 0, &records}; }
  std::string fileOf(int i) { return objects + "/" + toHex(keyOf(i)); }
  ~CacheTest() override { fs::remove_all(folder); }
};

TEST_F(CacheTest, StoresAndLoadsAcrossInstances) {
  {
    ObjectCache cache(options());
    ASSERT_TRUE(cache.usable());
    EXPECT_FALSE(cache.load(keyOf(1)));
    EXPECT_TRUE(cache.store(keyOf(1), content(1)));
    EXPECT_TRUE(cache.store(keyOf(2), {}));
  }
  ObjectCache cache(options());
  EXPECT_EQ(cache.load(keyOf(1)), content(1));
  EXPECT_EQ(cache.load(keyOf(2)), content(2, 0));
  EXPECT_TRUE(cache.store(keyOf(1), content(3))); // a newer one replaces
  EXPECT_EQ(cache.load(keyOf(1)), content(3));
  EXPECT_EQ(records.text(), "");
}

TEST_F(CacheTest, FolderAndEntriesArePrivate) {
  ObjectCache cache(options());
  cache.store(keyOf(1), content(1));
  struct stat s;
  ASSERT_EQ(stat(objects.c_str(), &s), 0);
  EXPECT_EQ(s.st_mode & 0777, 0700u);
  ASSERT_EQ(stat(fileOf(1).c_str(), &s), 0);
  EXPECT_EQ(s.st_mode & 0777, 0600u);
}

TEST_F(CacheTest, AFolderOthersCanUseIsRefused) {
  fs::create_directories(objects);
  chmod(objects.c_str(), 0755);
  ObjectCache cache(options());
  EXPECT_FALSE(cache.usable());
  EXPECT_FALSE(cache.store(keyOf(1), content(1)));
  EXPECT_FALSE(cache.load(keyOf(1)));
  EXPECT_EQ(records.all().size(), 1u);
  EXPECT_THAT(records.text(), HasSubstr("must belong to the user, with mode 0700"));
}

TEST_F(CacheTest, WorksWithoutAFolder) {
  std::ofstream(folder) << "a file is in the way";
  ObjectCache cache(options());
  EXPECT_FALSE(cache.usable());
  EXPECT_FALSE(cache.store(keyOf(1), content(1)));
  EXPECT_EQ(records.all().size(), 1u);
  EXPECT_THAT(records.text(), HasSubstr("works without a cache folder: cannot make"));
  CacheOptions none = options();
  none.folder.clear();
  EXPECT_FALSE(ObjectCache(none).usable());
}

TEST_F(CacheTest, DamageIsAMissAndRemoved) {
  ObjectCache cache(options());
  std::mt19937 rng(1);
  cache.store(keyOf(1), content(1, 300));
  std::ifstream in(fileOf(1), std::ios::binary);
  std::vector<char> good((std::istreambuf_iterator<char>(in)), {});
  auto check = [&](const std::vector<char> &bytes) {
    std::ofstream(fileOf(1), std::ios::binary).write(bytes.data(), std::streamsize(bytes.size()));
    bool hit = cache.load(keyOf(1)).has_value();
    EXPECT_EQ(hit, bytes == good);
    EXPECT_EQ(fs::exists(fileOf(1)), hit);
  };
  check(good);
  for (size_t n = 0; n < good.size(); ++n)
    check({good.begin(), good.begin() + long(n)});
  for (int i = 0; i < 20000; ++i) {
    std::vector<char> b = good;
    b[rng() % b.size()] ^= char(1 << rng() % 8);
    if (rng() % 4 == 0)
      b[rng() % b.size()] = char(rng());
    check(b);
  }
  EXPECT_THAT(records.text(), HasSubstr("a damaged entry was removed"));
  // An entry under another's name is damage too.
  cache.store(keyOf(1), content(1));
  fs::rename(fileOf(1), fileOf(2));
  EXPECT_FALSE(cache.load(keyOf(2)));
}

TEST_F(CacheTest, SpecialFilesAreNoEntries) {
  ObjectCache cache(options());
  ASSERT_EQ(mkfifo(fileOf(1).c_str(), 0600), 0);
  EXPECT_FALSE(cache.load(keyOf(1))); // and doesn't wait for a writer
  cache.store(keyOf(2), content(2));
  fs::create_symlink(fileOf(2), fileOf(3));
  EXPECT_FALSE(cache.load(keyOf(3)));
}

TEST_F(CacheTest, OldestUseGoesFirst) {
  CacheOptions o = options();
  o.maxBytes = 100000;
  ObjectCache cache(o);
  auto age = [&](int i, int seconds) {
    fs::last_write_time(fileOf(i), fs::file_time_type::clock::now() - std::chrono::seconds(seconds));
  };
  for (int i = 0; i < 12; ++i) {
    cache.store(keyOf(i), content(i, 8000));
    age(i, 1000 - i);
  }
  EXPECT_EQ(cache.load(keyOf(0)), content(0, 8000)); // a hit makes it young
  cache.store(keyOf(100), content(100, 8000));
  cache.trim();
  uint64_t total = 0;
  for (auto &e : fs::directory_iterator(objects))
    total += e.file_size();
  EXPECT_LE(total, o.maxBytes);
  EXPECT_TRUE(fs::exists(fileOf(0)));
  EXPECT_FALSE(fs::exists(fileOf(1)));
  EXPECT_TRUE(fs::exists(fileOf(100)));
  EXPECT_FALSE(cache.store(keyOf(50), content(50, 200000))); // would never fit
}

TEST_F(CacheTest, TrimRemovesWhatAKilledProcessLeft) {
  ObjectCache cache(options());
  std::string old = objects + "/.tmp-1-2-3", fresh = objects + "/.tmp-4-5-6", foreign = objects + "/README";
  for (const std::string &f : {old, fresh, foreign})
    std::ofstream(f) << "x";
  fs::last_write_time(old, fs::file_time_type::clock::now() - std::chrono::hours(2));
  cache.trim();
  EXPECT_FALSE(fs::exists(old));
  EXPECT_TRUE(fs::exists(fresh));
  EXPECT_TRUE(fs::exists(foreign));
}

TEST_F(CacheTest, ManyProcessesAndKillsLeaveOnlyWholeEntries) {
  CacheOptions o = options();
  o.maxBytes = 400000; // so that they trim under each other
  std::vector<pid_t> children;
  for (int c = 0; c < 4; ++c) {
    pid_t child = fork();
    if (!child) {
      ObjectCache cache(o);
      for (int i = 0;; ++i) {
        int k = (i * 7 + c) % 40;
        cache.store(keyOf(k), content(k, 20000));
        auto got = cache.load(keyOf((k + 3) % 40));
        if (got && *got != content((k + 3) % 40, 20000))
          _exit(1);
      }
    }
    children.push_back(child);
  }
  std::this_thread::sleep_for(std::chrono::milliseconds(700));
  for (pid_t child : children) {
    kill(child, SIGKILL);
    int status = 0;
    waitpid(child, &status, 0);
    EXPECT_TRUE(WIFSIGNALED(status)); // not ended by itself with a wrong content
  }
  ObjectCache cache(o);
  int whole = 0;
  for (int k = 0; k < 40; ++k)
    if (auto got = cache.load(keyOf(k))) {
      EXPECT_EQ(*got, content(k, 20000));
      ++whole;
    }
  EXPECT_GT(whole, 0);
  EXPECT_EQ(records.text(), "");
}

TEST_F(CacheTest, AHitIsFast) {
  ObjectCache cache(options());
  std::vector<uint8_t> bytes = content(1, 50000);
  ASSERT_TRUE(cache.store(keyOf(1), bytes));
  std::vector<double> times;
  for (int i = 0; i < 200; ++i) {
    auto start = std::chrono::steady_clock::now();
    ASSERT_TRUE(cache.load(keyOf(1)));
    times.push_back(std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - start).count());
  }
  std::sort(times.begin(), times.end());
  RecordProperty("medianMicroseconds", std::to_string(times[100]));
  // The goal is 50 us; a busy machine gets room.
  EXPECT_LT(times[20], 500);
}

} // namespace
