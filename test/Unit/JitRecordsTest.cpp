// Records of fallbacks and misses: aggregated, bounded, thread-safe.
#include "frontends/jit/Records.h"
#include "gtest/gtest.h"
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

using namespace torchc::jit;

namespace {

const Site site{"model.py", "forward", 12};

TEST(Records, AggregatesPerSiteAndReason) {
  Records r;
  for (int i = 0; i < 3; ++i)
    r.add(RecordKind::Miss, site, "size of x changed", std::to_string(i), std::to_string(i + 1));
  r.add(RecordKind::Miss, {"model.py", "forward", 13}, "size of x changed");
  r.add(RecordKind::Fallback, site, "size of x changed");
  auto all = r.all();
  ASSERT_EQ(all.size(), 3u);
  EXPECT_EQ(all[0].count, 3u);
  EXPECT_EQ(all[0].oldValue, "2");
  EXPECT_EQ(all[0].newValue, "3");
  EXPECT_EQ(all[1].site.line, 13u);
  EXPECT_EQ(r.text(), "model.py:12 forward: miss: size of x changed (2 -> 3), 3 times\n"
                      "model.py:13 forward: miss: size of x changed, 1 time\n"
                      "model.py:12 forward: fallback: size of x changed, 1 time\n");
}

TEST(Records, KeepsTheLatestWithinItsCapacity) {
  Records r(4);
  for (int i = 0; i < 10; ++i) {
    r.add(RecordKind::Cache, {}, "often");
    r.add(RecordKind::Cache, {}, "reason " + std::to_string(i));
  }
  EXPECT_EQ(r.all().size(), 4u);
  EXPECT_EQ(r.dropped(), 7u);
  EXPECT_EQ(r.all()[0].reason, "often");
  EXPECT_EQ(r.all()[0].count, 10u);
  r.clear();
  EXPECT_EQ(r.text(), "");
}

TEST(Records, JsonIsEscaped) {
  Records r;
  r.add(RecordKind::CompileFailed, {"a\"b\\.py", "f", 1}, "line\nbreak", "é", "x");
  EXPECT_EQ(r.json(), "{\"dropped\":0,\"records\":[{\"kind\":\"compile-failed\",\"file\":\"a\\\"b\\\\.py\","
                      "\"line\":1,\"function\":\"f\",\"reason\":\"line\\u000abreak\",\"old\":\"é\","
                      "\"new\":\"x\",\"count\":1}]}");
}

TEST(Records, LongTextsAreCutAtACharacter) {
  Records r;
  std::string text(999, 'a');
  text += "éé";
  r.add(RecordKind::Miss, {}, text);
  EXPECT_EQ(r.all()[0].reason, std::string(999, 'a') + "...");
}

TEST(Records, ThreadsAndForksMayAdd) {
  std::vector<std::thread> threads;
  std::string reason = "from threads";
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&] {
      for (int i = 0; i < 5000; ++i)
        Records::global().add(RecordKind::Miss, site, reason);
    });
  for (int i = 0; i < 20; ++i) {
    pid_t child = fork();
    if (!child) {
      Records::global().add(RecordKind::Miss, site, reason);
      _exit(0);
    }
    int status = 1;
    waitpid(child, &status, 0);
    EXPECT_EQ(status, 0);
  }
  for (std::thread &t : threads)
    t.join();
  EXPECT_EQ(Records::global().all().back().count, 20000u);
}

} // namespace
