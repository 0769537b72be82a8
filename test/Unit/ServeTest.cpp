// The helper process: framing, bad input, and that it ends when it should.
#include <cstring>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <string>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

namespace {

class ServeTest : public testing::Test {
protected:
  void SetUp() override {
    ::signal(SIGPIPE, SIG_IGN);
    int pair[2];
    ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0);
    ::fcntl(pair[0], F_SETFD, FD_CLOEXEC);
    fd = pair[0];
    // A process that stands for the program.
    program = ::fork();
    if (program == 0) {
      ::close(pair[0]);
      ::close(pair[1]);
      ::pause();
      ::_exit(0);
    }
    helper = ::fork();
    if (helper == 0) {
      std::string socket = std::to_string(pair[1]), parent = std::to_string(program);
      ::execl(TORCHC_BIN, "torchc-compiled", "--serve", socket.c_str(), parent.c_str(), nullptr);
      ::_exit(127);
    }
    ::close(pair[1]);
  }
  void TearDown() override {
    ::close(fd);
    for (pid_t p : {program, helper})
      if (p > 0) {
        ::kill(p, SIGKILL);
        ::waitpid(p, nullptr, 0);
      }
  }
  int waitForHelper() {
    int status = 0;
    ::waitpid(helper, &status, 0);
    helper = 0;
    return status;
  }
  void send(uint64_t id, const std::string &body, uint64_t claimed) {
    uint64_t header[2] = {claimed, id};
    std::string frame(reinterpret_cast<char *>(header), 16);
    frame += body;
    ASSERT_EQ(::write(fd, frame.data(), frame.size()), ssize_t(frame.size()));
  }
  void send(uint64_t id, const std::string &body) { send(id, body, body.size()); }
  bool read(void *to, size_t n) {
    for (char *p = static_cast<char *>(to); n;) {
      ssize_t got = ::read(fd, p, n);
      if (got <= 0)
        return false;
      p += got;
      n -= size_t(got);
    }
    return true;
  }
  /// Kind and bytes of an answer of one piece.
  std::string answer(uint64_t id, uint32_t status) {
    uint64_t header[2], count;
    uint32_t got, kindLength;
    if (!read(header, 16))
      return "closed";
    EXPECT_EQ(header[1], id);
    std::string body(header[0], 0);
    if (!read(body.data(), body.size()) || body.size() < 16)
      return "short";
    memcpy(&got, body.data(), 4);
    memcpy(&kindLength, body.data() + 4, 4);
    memcpy(&count, body.data() + 8, 8);
    EXPECT_EQ(got, status);
    EXPECT_EQ(16 + kindLength + count, body.size());
    return body.substr(16, kindLength) + " " + body.substr(16 + kindLength);
  }
  static std::string request(const std::string &options, uint32_t version = 1) {
    uint32_t words[2] = {version, uint32_t(options.size())};
    return "TCRQ" + std::string(reinterpret_cast<char *>(words), 8) + options;
  }

  int fd = -1;
  pid_t program = 0, helper = 0;
};

TEST_F(ServeTest, AnswersBadRequestsAndLivesOn) {
  send(1, "");
  EXPECT_NE(answer(1, 1).find("expected a compile request (TCRQ), got 0 bytes"), std::string::npos);
  send(2, "garbage that is long enough");
  EXPECT_NE(answer(2, 1).find("ValueError"), std::string::npos);
  send(3, request("{}", 7));
  EXPECT_NE(answer(3, 1).find("request version: expected 1, got 7"), std::string::npos);
  send(4, request("{\"frob\": 1}"));
  EXPECT_NE(answer(4, 1).find("unknown or malformed option 'frob'"), std::string::npos);
  send(5, request("[1"));
  EXPECT_NE(answer(5, 1).find("request options"), std::string::npos);
  std::string cut = request("{}");
  cut[8] = 100;
  send(6, cut);
  EXPECT_NE(answer(6, 1).find("expected 100 bytes, got 2"), std::string::npos);
  send(7, request("{}"));
  EXPECT_EQ(answer(7, 1).substr(0, 6), "error ");
}

TEST_F(ServeTest, RefusesAHugeFrame) {
  send(9, "", uint64_t(1) << 60);
  EXPECT_NE(answer(9, 1).find("at most 1 GiB"), std::string::npos);
  EXPECT_EQ(waitForHelper(), 0);
}

TEST_F(ServeTest, EndsWithTheSocket) {
  ::close(fd);
  fd = -1;
  EXPECT_EQ(waitForHelper(), 0);
}

TEST_F(ServeTest, EndsInTheMiddleOfAFrame) {
  send(1, "abc", 100);
  ::shutdown(fd, SHUT_WR);
  EXPECT_EQ(waitForHelper(), 0);
}

TEST_F(ServeTest, EndsWithTheProgram) {
  send(1, "");
  answer(1, 1);
  ::kill(program, SIGKILL);
  ::waitpid(program, nullptr, 0);
  program = 0;
  EXPECT_EQ(waitForHelper(), 0); // although this process still holds the socket
}

} // namespace
