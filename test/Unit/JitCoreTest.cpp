// Recording and re-trace: bits equal to eager whatever the program does.
#include "JitCoreSupport.h"
#include <atomic>
#include <cstdlib>
#include <new>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

using namespace torchc;
using namespace torchc::jit;
using testing::HasSubstr;

// An operator new that fails after so many calls; below 0: it doesn't.
static thread_local int allocationsLeft = -1;
void *operator new(size_t n) {
  void *p = allocationsLeft ? std::malloc(n ? n : 1) : nullptr;
  if (!p)
    throw std::bad_alloc();
  allocationsLeft -= allocationsLeft > 0;
  return p;
}
void operator delete(void *p) noexcept { std::free(p); }
void operator delete(void *p, size_t) noexcept { std::free(p); }

TEST(JitCore, Elementwise) {
  Subject s;
  for (int i = 0; i < 4; i++) {
    Tensor x = vec({1, 2, 3, float(i)}), y = vec({5, 6, 7, 8});
    auto program = [&] { return mul(add(x, y), sub(x, 2)); };
    Tensor want = program(), got = s(program);
    EXPECT_EQ(bytesOf(want), bytesOf(got));
  }
  Function::Counts c = s.f.counts();
  EXPECT_EQ(c.recorded, 1u);
  EXPECT_EQ(c.retraced, 3u);
  EXPECT_EQ(c.interpreted, 3u);
  EXPECT_EQ(c.left, 0u);
}

TEST(JitCore, Gradients) {
  Subject s;
  for (int i = 0; i < 4; i++) {
    Tensor inputs[2][2];
    for (auto &pair : inputs) {
      pair[0] = vec({1, 2, float(i)}, true);
      pair[1] = make({1, 2, 3, 4, 5, 6}, {2, 3}, true);
    }
    int run = 0;
    auto program = [&] {
      Tensor x = inputs[run][0], w = inputs[run++][1];
      Tensor loss = sum(exp(mul(matmul(w, x), 0.1)));
      backward(loss);
      return std::vector<Tensor>{loss, gradOf(x.impl()), gradOf(w.impl())};
    };
    std::vector<Tensor> want = program(), got = s(program);
    for (size_t k = 0; k < want.size(); k++)
      EXPECT_EQ(bytesOf(want[k]), bytesOf(got[k])) << k;
  }
  EXPECT_EQ(s.f.counts().left, 0u) << s.f.report();
  EXPECT_EQ(s.f.counts().interpreted, 3u);
}

TEST(JitCore, WritesAndViews) {
  Subject s;
  Tensor a = make({1, 2, 3, 4}, {2, 2}), b = make({1, 2, 3, 4}, {2, 2});
  auto step = [](Tensor &p) {
    Tensor row = select(p, 0, 1);
    add_(row, 1);
    mul_(p, 2);
    Tensor fresh = add(p, 1);
    mul_(select(fresh, 0, 0), 3);
    return add(fresh, transpose(p, 0, 1));
  };
  for (int i = 0; i < 4; i++) {
    uint32_t va = a->version(), vb = b->version();
    Tensor want = step(a), got = s([&] { return step(b); });
    EXPECT_EQ(bytesOf(want), bytesOf(got));
    EXPECT_EQ(bytesOf(a), bytesOf(b));
    EXPECT_EQ(a->version() - va, b->version() - vb);
  }
  EXPECT_EQ(s.f.counts().left, 0u) << s.f.report();
}

TEST(JitCore, Branches) {
  Subject s;
  for (int i = 0; i < 12; i++) {
    auto program = [&] {
      Tensor x = i % 3 ? vec({1, 2, float(i)}) : vec({1, 2});
      Tensor y = mul(x, 2);
      return i % 2 ? add(y, x) : sub(y, x);
    };
    EXPECT_EQ(bytesOf(program()), bytesOf(s(program)));
  }
  EXPECT_LE(s.f.counts().recordings, 6u) << s.f.report(); // two beginnings, four ways on
  EXPECT_GE(s.f.counts().interpreted, 4u);
}

TEST(JitCore, Observations) {
  Subject s;
  for (int i = 0; i < 8; i++) {
    Tensor x = vec({1, 2, float(i % 4)});
    auto program = [&] {
      Tensor y = sum(x);
      if (item(y).toDouble() > 4)
        return mul(x, y);
      return add(x, y);
    };
    EXPECT_EQ(bytesOf(program()), bytesOf(s(program)));
  }
  EXPECT_LE(s.f.counts().left, 2u) << s.f.report();
  EXPECT_EQ(s.f.counts().recordings, 3u) << s.f.report();
}

TEST(JitCore, Random) {
  Subject s;
  auto program = [] {
    Tensor a = rand({5}), b = rand({3});
    return std::vector<Tensor>{a, add(b, rand({3}))};
  };
  std::vector<std::vector<char>> want;
  manualSeed(uint64_t(7));
  for (int i = 0; i < 4; i++)
    for (const Tensor &t : program())
      want.push_back(bytesOf(t));
  manualSeed(uint64_t(7));
  std::vector<std::vector<char>> got;
  for (int i = 0; i < 4; i++)
    for (const Tensor &t : s(program))
      got.push_back(bytesOf(t));
  EXPECT_EQ(want, got);
  EXPECT_EQ(s.f.counts().left, 0u) << s.f.report();
  EXPECT_EQ(s.f.counts().interpreted, 3u);
}

TEST(JitCore, IndexErrors) {
  Subject s;
  Tensor x = make({1, 2, 3, 4, 5, 6}, {3, 2});
  for (int i = 0; i < 6; i++) {
    Tensor index = full({1}, i, DType::I64);
    auto program = [&] { return mul(index_select(add(x, 1), 0, sub(index, 1)), 2); };
    std::string wantError, gotError;
    Tensor want, got;
    wantError = errorOf([&] { want = program(); });
    gotError = errorOf([&] { got = s(program); });
    EXPECT_EQ(wantError, gotError) << i;
    ASSERT_EQ(want.defined(), got.defined());
    if (want.defined())
      EXPECT_EQ(bytesOf(want), bytesOf(got));
  }
}

TEST(JitCore, KeptValues) {
  Subject s;
  Tensor kept;
  for (int i = 0; i < 5; i++) {
    Tensor x = vec({1, 2, float(i)});
    auto program = [&] {
      Tensor y = mul(x, 3);
      if (i > 1)
        kept = y;
      return add(y, 1);
    };
    Tensor want = program();
    Tensor keptWant = kept;
    kept = Tensor();
    Tensor got = s(program);
    EXPECT_EQ(bytesOf(want), bytesOf(got));
    if (i > 1)
      EXPECT_EQ(bytesOf(keptWant), bytesOf(kept));
    kept = Tensor();
  }
}

static std::vector<Tensor> trainStep(std::vector<Tensor> &params, std::vector<Tensor> &momentum, const Tensor &x,
                                     const Tensor &labels) {
  for (Tensor &p : params)
    setGrad(p.impl(), Tensor());
  Tensor h = relu(add(matmul(x, transpose(params[0], 0, 1)), params[1]));
  Tensor logits = add(matmul(h, transpose(params[2], 0, 1)), params[3]);
  Tensor loss = cross_entropy(logits, labels);
  backward(loss);
  NoGradGuard quiet;
  for (size_t i = 0; i < params.size(); i++) {
    Tensor g = gradOf(params[i].impl());
    if (momentum.size() <= i)
      momentum.push_back(composite::cloneOf(detachTensor(g)));
    else
      add_(mul_(momentum[i], 0.9), g);
    add_(params[i], momentum[i], -0.1);
  }
  return {detachTensor(loss)};
}

struct Model {
  std::vector<Tensor> params, momentum;
  Model() {
    for (std::vector<int64_t> size : {std::vector<int64_t>{16, 8}, {16}, {10, 16}, {10}}) {
      params.push_back(sub(rand(size), 0.5));
      setRequiresGrad(params.back().impl(), true);
    }
  }
};

static void trainBoth(bool compiled, int steps) {
  Subject s(compiled);
  manualSeed(uint64_t(3));
  Model a;
  manualSeed(uint64_t(3));
  Model b;
  for (int i = 0; i < steps; i++) {
    Tensor x = rand({6, 8}), labels = composite::toI64(mul(rand({6}), 10));
    Tensor want = trainStep(a.params, a.momentum, x, labels)[0];
    Tensor got = s([&] { return trainStep(b.params, b.momentum, x, labels); })[0];
    ASSERT_EQ(bytesOf(want), bytesOf(got)) << i << "\n" << s.f.report();
    for (size_t k = 0; k < 4; k++) {
      ASSERT_EQ(bytesOf(a.params[k]), bytesOf(b.params[k])) << i << " " << k;
      ASSERT_EQ(bytesOf(a.momentum[k]), bytesOf(b.momentum[k]));
      ASSERT_EQ(bytesOf(gradOf(a.params[k].impl())), bytesOf(gradOf(b.params[k].impl())));
      ASSERT_EQ(a.params[k]->version(), b.params[k]->version());
    }
    if (compiled && i < 4)
      CompileService::wait(std::chrono::minutes(2));
  }
  Function::Counts c = s.f.counts();
  if (compiled)
    EXPECT_GE(c.launches, uint64_t(steps - 8)) << s.f.report();
  else
    EXPECT_GE(c.interpreted, uint64_t(steps - 4)) << s.f.report();
}

TEST(JitCore, ExceptionsAreRecordedEverMoreRarely) {
  Subject s;
  bool raise = true;
  Tensor x = vec({1, 2, 3});
  auto program = [&] {
    Tensor y = mul(x, 2);
    return raise ? throw std::runtime_error("no") : add(y, 1);
  };
  for (int i = 0; i < 200; i++)
    EXPECT_THROW(s(program), std::runtime_error);
  EXPECT_EQ(s.f.counts().recorded, 8u) << s.f.report(); // calls 0, 1, 3, 7, 15, 31, 63, 127
  EXPECT_THAT(s.f.report(), HasSubstr("raised an exception whenever it was recorded"));
  EXPECT_THAT(s.f.report(), HasSubstr("raised an exception while it was recorded"));
  raise = false;
  for (int i = 0; i < 200; i++)
    EXPECT_EQ(bytesOf(s(program)), bytesOf(program()));
  EXPECT_EQ(s.f.counts().recordings, 1u) << s.f.report();
  EXPECT_GT(s.f.counts().interpreted, 100u) << s.f.report();
  // A recorded function that raises now and then has nothing new to record.
  auto before = s.f.counts();
  for (int i = 0; i < 60; i++) {
    raise = i % 3 == 0;
    if (raise)
      EXPECT_THROW(s(program), std::runtime_error);
    else
      EXPECT_EQ(bytesOf(s(program)), bytesOf(program()));
  }
  EXPECT_EQ(s.f.counts().recorded, before.recorded) << s.f.report();
  EXPECT_EQ(s.f.counts().left, before.left) << s.f.report();
}

TEST(JitCore, NoMemoryForACall) {
  auto program = [] { return mul(add(vec({1, 2, 3}), 1), 2); };
  std::vector<char> want = bytesOf(program());
  for (int calls : {0, 2}) { // the next one records, or re-traces
    Subject s;
    for (int i = 0; i < calls; i++)
      EXPECT_EQ(bytesOf(s(program)), want);
    bool made = false;
    for (int n = 0; n < 100 && !made; n++) {
      try {
        allocationsLeft = n;
        Call call(s.f);
        allocationsLeft = -1;
        made = true;
      } catch (const std::bad_alloc &) {
        allocationsLeft = -1;
      }
      EXPECT_EQ(threadState.run, nullptr) << n;
      EXPECT_FALSE(threadState.modes.flags & (FlagRecording | FlagRetracing)) << n;
    }
    EXPECT_TRUE(made);
    EXPECT_EQ(bytesOf(s(program)), want);
  }
}

TEST(JitCore, ForkWhileThreadsCall) {
  Subject s;
  auto program = [] { return mul(add(vec({1, 2, 3}), 1), 2); };
  std::vector<char> want = bytesOf(program());
  std::atomic<bool> stop{false};
  std::atomic<int> wrong{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 3; t++)
    threads.emplace_back([&] {
      while (!stop)
        wrong += bytesOf(s(program)) != want;
    });
  for (int i = 0; i < 50; i++) {
    pid_t child = fork();
    if (!child) {
      alarm(20); // a child that waits for a lock of a thread that it doesn't have waits for good
      bool ok = true;
      for (int k = 0; k < 3; k++)
        ok &= bytesOf(s(program)) == want && !s.f.report().empty();
      _exit(ok ? 0 : 1);
    }
    int status = 1;
    waitpid(child, &status, 0);
    EXPECT_EQ(status, 0);
  }
  stop = true;
  for (std::thread &t : threads)
    t.join();
  EXPECT_EQ(wrong, 0);
}

TEST(JitCore, TrainingInterpreted) { trainBoth(false, 20); }

#ifdef COMPILER
#define NEED_COMPILER                                                                                                  \
  if (access(COMPILER, X_OK))                                                                                          \
    GTEST_SKIP() << "build the target torchc first";                                                                   \
  useCompiler()

static void useCompiler() {
  static bool done = false;
  if (std::exchange(done, true))
    return;
  char folder[] = "/tmp/torchc-jit-test-XXXXXX";
  ASSERT_TRUE(mkdtemp(folder));
  CompileService::Options o;
  o.helper = COMPILER;
  o.cacheFolder = folder;
  CompileService::configure(o);
}

TEST(JitCompiled, Elementwise) {
  NEED_COMPILER;
  Subject s(true);
  for (int i = 0; i < 4; i++) {
    Tensor x = vec({1, 2, 3, float(i)}), y = vec({5, 6, 7, 8});
    auto program = [&] { return mul(add(x, y), sub(x, 2)); };
    Tensor want = program(), got = s(program);
    EXPECT_EQ(bytesOf(want), bytesOf(got));
    CompileService::wait(std::chrono::minutes(2));
  }
  EXPECT_EQ(s.f.counts().launches, 3u) << s.f.report() << Records::global().text();
}

TEST(JitCompiled, Training) {
  NEED_COMPILER;
  trainBoth(true, 50);
}
#endif
