// Answers of the compiler, which may come in another order than they were asked for.
#include "frontends/jit/Recording.h"
#include "gtest/gtest.h"

using namespace torchc::jit;

TEST(JitRecording, AnOlderAnswerChangesNothing) {
  Recording r;
  uint64_t first = r.startCompile(), second = r.startCompile();
  EXPECT_EQ(r.state(), CompileState::Pending);
  r.finishCompile(second, nullptr, "the second's reason", "");
  r.finishCompile(first, nullptr, "the first's reason", "");
  EXPECT_EQ(r.state(), CompileState::Failed);
  EXPECT_EQ(r.failure(), "the second's reason");
  uint64_t third = r.startCompile();
  EXPECT_EQ(r.state(), CompileState::Pending);
  r.finishCompile(third, nullptr, "the third's reason", "");
  EXPECT_EQ(r.failure(), "the third's reason");
}
