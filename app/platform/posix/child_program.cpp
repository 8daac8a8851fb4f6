#include "app/platform/child_program.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "app/platform/posix/spawn.h"

namespace headscope::app {

bool ChildProgram::available() {
  return true;
}

attention::Result<std::unique_ptr<ChildProgram>> ChildProgram::start(const std::string& program,
                                                                     const std::vector<std::string>& words,
                                                                     std::function<void()> wake) {
  const auto failed = [](int error) {
    return attention::Error{std::string("the program can't be started again: ") + std::strerror(error)};
  };
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) return failed(errno);
  posix_spawn_file_actions_t files;
  ::posix_spawn_file_actions_init(&files);
  ::posix_spawn_file_actions_addopen(&files, 0, "/dev/null", O_RDONLY, 0);
  ::posix_spawn_file_actions_addopen(&files, 1, "/dev/null", O_WRONLY, 0);
  ::posix_spawn_file_actions_adddup2(&files, ends[1], 2);
  std::unique_ptr<ChildProgram> child(new ChildProgram);
  pid_t process = -1;
  const int error = spawnProgram(program, words, files, process);
  ::posix_spawn_file_actions_destroy(&files);
  ::close(ends[1]);
  if (error != 0) {
    ::close(ends[0]);
    return failed(error);
  }
  child->process_ = process;
  child->wake_ = std::move(wake);
  child->listener_ = std::thread([own = child.get(), from = ends[0]] { own->listen(from); });
  return child;
}

ChildProgram::~ChildProgram() {
  stop();
  if (listener_.joinable()) listener_.join();
}

void ChildProgram::stop() {
  const std::lock_guard lock(mutex_);
  // The process id can't be reused before listen() waits for it, under this lock.
  if (process_ > 0 && !ended_) ::kill(static_cast<pid_t>(process_), SIGTERM);
}

void ChildProgram::listen(std::intptr_t descriptor) {
  const int from = static_cast<int>(descriptor);
  std::string line;
  char buffer[512];
  for (ssize_t got; (got = ::read(from, buffer, sizeof buffer)) > 0 || (got < 0 && errno == EINTR);) {
    for (ssize_t i = 0; i < got; ++i) {
      if (buffer[i] != '\n' && buffer[i] != '\r') {
        line += buffer[i];
      } else if (!line.empty()) {
        const std::lock_guard lock(mutex_);
        said_ = std::exchange(line, {});
      }
    }
    wake_();
  }
  ::close(from);
  int status = 0;
  siginfo_t end{};
  while (::waitid(P_PID, static_cast<id_t>(process_), &end, WEXITED | WNOWAIT) < 0 && errno == EINTR) {
  }
  {
    const std::lock_guard lock(mutex_);
    ::waitpid(static_cast<pid_t>(process_), &status, 0);
    ended_ = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  }
  wake_();
}

}  // namespace headscope::app
