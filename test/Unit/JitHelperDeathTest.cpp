// Processes: kill -9 at any point, wait(), fork, and the end of the program.
#include "frontends/jit/Helper.h"
#include "gtest/gtest.h"
#include <atomic>
#include <csignal>
#include <cstring>
#include <dirent.h>
#include <random>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

using namespace torchc::jit;
using namespace std::chrono_literals;

namespace {

Records ignored;

HelperOptions fake() {
  HelperOptions o;
  o.executable = FAKE_HELPER;
  o.timeout = 20s;
  o.records = &ignored;
  o.maxStarts = 100000;
  o.maxDeaths = 100000;
  return o;
}

std::vector<uint8_t> bytes(std::string_view s) { return {s.begin(), s.end()}; }
bool echoes(Helper &h) {
  HelperAnswer a = h.ask(bytes("echo x"));
  return a.ok && a.bytes == bytes("x");
}
bool gone(pid_t pid) {
  for (int i = 0; i < 300 && kill(pid, 0) == 0; ++i) {
    // A zombie that init hasn't collected yet counts as gone.
    std::string path = "/proc/" + std::to_string(pid) + "/stat";
    char text[512] = "";
    if (FILE *f = std::fopen(path.c_str(), "r")) {
      size_t n = std::fread(text, 1, sizeof text - 1, f);
      text[n] = 0;
      std::fclose(f);
    }
    const char *state = std::strrchr(text, ')');
    if (state && state[2] == 'Z')
      return true;
    std::this_thread::sleep_for(10ms);
  }
  return kill(pid, 0) != 0;
}

TEST(HelperDeath, KilledAtAnyPointEveryRequestEndsOnce) {
  Helper h(fake());
  std::atomic<int> ended{0}, answered{0};
  std::atomic<bool> stop{false};
  std::thread killer([&] {
    std::mt19937 rng(7);
    while (!stop) {
      std::this_thread::sleep_for(std::chrono::microseconds(rng() % 3000));
      if (auto pid = h.pid())
        kill(*pid, SIGKILL);
    }
  });
  const int total = 600;
  for (int i = 0; i < total; ++i) {
    h.send(bytes(i % 3 ? "echo x" : "big 500000"), [&](HelperAnswer a) {
      answered += a.ok;
      ++ended;
    });
    if (i % 8 == 0)
      std::this_thread::sleep_for(1ms);
  }
  while (h.pending())
    std::this_thread::sleep_for(1ms);
  stop = true;
  killer.join();
  while (ended < total) // the last callback may still run
    std::this_thread::sleep_for(1ms);
  EXPECT_EQ(ended, total);
  EXPECT_GT(answered, 0);
  EXPECT_TRUE(echoes(h) || echoes(h));
}

TEST(HelperDeath, OneThatBecameUnfitIsNotStartedAgain) {
  bool replaced = false;
  HelperOptions o = fake();
  o.unfit = [&] { return replaced ? "it was replaced" : ""; };
  Helper h(o);
  ASSERT_TRUE(echoes(h));
  replaced = true;
  EXPECT_TRUE(echoes(h)); // the one that runs is the one that was there
  pid_t pid = h.pid().value();
  kill(pid, SIGKILL);
  EXPECT_TRUE(gone(pid));
  HelperAnswer a = h.ask(bytes("echo x"));
  for (int i = 0; i < 3 && a.error != "it was replaced"; ++i) // the first may meet its death
    a = h.ask(bytes("echo x"));
  EXPECT_EQ(a.error, "it was replaced");
}

TEST(HelperDeath, AStoppedOneIsGivenUp) {
  HelperOptions o = fake();
  o.patience = 200ms;
  Helper h(o);
  ASSERT_TRUE(echoes(h));
  pid_t pid = h.pid().value();
  kill(pid, SIGSTOP);
  HelperAnswer a = h.ask(bytes("echo x"));
  EXPECT_FALSE(a.ok);
  EXPECT_EQ(a.error, "helper was stopped by a signal for 200 ms");
  EXPECT_TRUE(gone(pid));
  EXPECT_TRUE(echoes(h));
}

TEST(HelperDeath, AShortStopIsWaitedFor) {
  HelperOptions o = fake();
  o.patience = 10s;
  Helper h(o);
  ASSERT_TRUE(echoes(h));
  pid_t pid = h.pid().value();
  kill(pid, SIGSTOP);
  std::thread later([&] {
    std::this_thread::sleep_for(100ms);
    kill(pid, SIGCONT);
  });
  EXPECT_TRUE(echoes(h));
  later.join();
  EXPECT_EQ(h.starts(), 1);
}

TEST(HelperDeath, AStoppedOneEndsWithTheProgramHoweverThatEnds) {
  for (int how = 0; how < 3; ++how) {
    int pipes[2];
    ASSERT_EQ(pipe(pipes), 0);
    pid_t program = fork();
    if (!program) {
      Helper *h = new Helper(fake());
      pid_t pid = echoes(*h) ? h->pid().value_or(-1) : -1;
      if (pid > 1)
        kill(pid, SIGSTOP);
      ssize_t n = write(pipes[1], &pid, sizeof pid);
      (void)n;
      if (how == 0)
        raise(SIGKILL);
      if (how == 1)
        _exit(0);
      execl("/bin/true", "true", nullptr);
    }
    pid_t pid = -1;
    ASSERT_EQ(read(pipes[0], &pid, sizeof pid), ssize_t(sizeof pid));
    waitpid(program, nullptr, 0);
    ASSERT_GT(pid, 1);
    EXPECT_TRUE(gone(pid)) << how;
    close(pipes[0]);
    close(pipes[1]);
  }
}

/// A child of this process as /proc tells, or -1.
pid_t anyChild() {
  pid_t found = -1;
  if (DIR *d = opendir("/proc")) {
    while (dirent *e = readdir(d)) {
      pid_t pid = std::atoi(e->d_name), parent = 0;
      if (pid <= 1)
        continue;
      if (FILE *f = std::fopen(("/proc/" + std::string(e->d_name) + "/stat").c_str(), "r")) {
        char name[64], state;
        if (std::fscanf(f, "%*d %63s %c %d", name, &state, &parent) == 3 && parent == getpid())
          found = pid;
        std::fclose(f);
      }
    }
    closedir(d);
  }
  return found;
}

TEST(HelperDeath, StoppedWhileItStarts) {
  HelperOptions o = fake();
  o.patience = 40ms;
  Helper h(o);
  std::atomic<bool> stop{false};
  std::atomic<int> stops{0};
  std::thread stopper([&] {
    while (!stop)
      if (pid_t child = anyChild(); child > 1) { // the middle process: this program has no other
        kill(child, SIGSTOP);
        ++stops;
      }
  });
  for (int i = 0; i < 60 || (!stops && i < 3000); ++i) {
    h.ask(bytes("exit")); // ends, one way or the other
    h.send(bytes("exit"), [](HelperAnswer) {});
  }
  stop = true;
  stopper.join();
  EXPECT_GT(stops, 0);
  h.shutdown();
  EXPECT_EQ(anyChild(), -1);
}

std::atomic<int> childSignals{0};

TEST(HelperDeath, WaitNeverSeesIt) {
  struct sigaction count = {}, before;
  count.sa_handler = [](int) { ++childSignals; };
  sigaction(SIGCHLD, &count, &before);
  std::atomic<bool> stop{false};
  std::atomic<int> seen{0};
  std::thread waiter([&] {
    while (!stop)
      if (wait(nullptr) > 0)
        ++seen;
  });
  for (int i = 0; i < 30; ++i) {
    Helper h(fake());
    EXPECT_TRUE(echoes(h));
    if (auto p = h.pid(); p && i % 2)
      kill(*p, SIGKILL);
    h.ask(bytes("echo x"));
  }
  stop = true;
  waiter.join();
  EXPECT_EQ(wait(nullptr), -1);
  EXPECT_EQ(errno, ECHILD);
  sigaction(SIGCHLD, &before, nullptr);
  EXPECT_EQ(seen, 0);
  EXPECT_EQ(childSignals, 0);
}

TEST(HelperDeath, EndsOnShutdown) {
  pid_t pid;
  {
    Helper h(fake());
    ASSERT_TRUE(echoes(h));
    pid = h.pid().value();
    h.send(bytes("hang"), [](HelperAnswer) {});
  }
  EXPECT_TRUE(gone(pid));
}

TEST(HelperDeath, ForkedChildStartsWithoutHelperAndMakesItsOwn) {
  Helper h(fake());
  ASSERT_TRUE(echoes(h));
  std::atomic<int> answers{0};
  for (int i = 0; i < 5; ++i)
    h.send(bytes("slow 30"), [&](HelperAnswer a) { answers += a.ok; });
  pid_t child = fork();
  if (!child) {
    bool ok = !h.pid() && h.pending() == 0 && echoes(h) && h.pid() > 1;
    _exit(ok ? 0 : 1);
  }
  int status = 1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  while (h.pending())
    std::this_thread::sleep_for(1ms);
  EXPECT_TRUE(echoes(h));
  EXPECT_EQ(answers, 5);
  EXPECT_EQ(h.starts(), 1);
}

TEST(HelperDeath, ForksAndSpawnsInParallel) {
  Helper h(fake());
  std::atomic<bool> stop{false};
  std::thread sender([&] {
    while (!stop)
      h.ask(bytes("exit"));
  });
  for (int i = 0; i < 60; ++i) {
    pid_t child = fork();
    if (!child)
      _exit(h.pid() ? 1 : 0);
    int status = 1;
    waitpid(child, &status, 0);
    EXPECT_EQ(status, 0);
  }
  stop = true;
  sender.join();
}

TEST(HelperDeath, EndsWithTheProgramThoughAChildHoldsTheSocket) {
  int pipes[2];
  ASSERT_EQ(pipe(pipes), 0);
  pid_t program = fork();
  if (!program) {
    Helper h(fake());
    pid_t pid = echoes(h) ? h.pid().value_or(-1) : -1;
    // vfork-like copies that run no fork handlers keep every descriptor.
    pid_t holder = pid_t(syscall(SYS_fork));
    if (!holder) {
      sleep(3);
      _exit(0);
    }
    ssize_t n = write(pipes[1], &pid, sizeof pid);
    (void)n;
    raise(SIGKILL);
  }
  pid_t pid = -1;
  ASSERT_EQ(read(pipes[0], &pid, sizeof pid), ssize_t(sizeof pid));
  waitpid(program, nullptr, 0);
  ASSERT_GT(pid, 0);
  EXPECT_TRUE(gone(pid));
  close(pipes[0]);
  close(pipes[1]);
}

} // namespace
