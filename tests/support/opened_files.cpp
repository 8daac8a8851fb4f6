#include "tests/support/opened_files.h"

#if defined(__linux__) && defined(__x86_64__)

#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstddef>
#include <cstring>

namespace headscope::test {
namespace {

// The kernel raises a signal for each openat() of the thread and of the threads it starts. The handler
// records the path and repeats the call with a sixth argument, by which the filter lets it pass.
constexpr unsigned kPassed = 0x48534350;
std::array<char, 1 << 20> paths;  // each ends with 0; a signal handler can't allocate
std::atomic<std::size_t> used = 0;
std::atomic<long> watched = 0;

void onOpen(int, siginfo_t*, void* context) {
  greg_t* const registers = static_cast<ucontext_t*>(context)->uc_mcontext.gregs;
  const char* const path = reinterpret_cast<const char*>(registers[REG_RSI]);
  const int before = errno;
  if (path && syscall(SYS_gettid) == watched) {
    const std::size_t length = std::strlen(path) + 1, at = used;
    if (at + length <= paths.size()) {
      std::memcpy(paths.data() + at, path, length);
      used = at + length;
    }
  }
  const long result = syscall(SYS_openat, registers[REG_RDI], path, registers[REG_RDX], registers[REG_R10], 0,
                              static_cast<long>(kPassed));
  registers[REG_RAX] = result < 0 ? -errno : result;
  errno = before;
}

}  // namespace

bool watchOpenedFiles() {
  struct sigaction action = {};
  action.sa_sigaction = onOpen;
  action.sa_flags = SA_SIGINFO | SA_NODEFER | SA_RESTART;
  if (sigaction(SIGSYS, &action, nullptr) != 0) return false;
  watched = syscall(SYS_gettid);
  std::array filter{
      sock_filter BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
      sock_filter BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_openat, 0, 3),
      sock_filter BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, args[5])),
      sock_filter BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, kPassed, 1, 0),
      sock_filter BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_TRAP),
      sock_filter BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  const sock_fprog program{static_cast<unsigned short>(filter.size()), filter.data()};
  return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
         prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

std::vector<std::string> openedFiles() {
  std::vector<std::string> opened;
  for (std::size_t at = 0; at < used; at += opened.back().size() + 1) opened.emplace_back(paths.data() + at);
  return opened;
}

}  // namespace headscope::test

#else

namespace headscope::test {
bool watchOpenedFiles() {
  return false;
}
std::vector<std::string> openedFiles() {
  return {};
}
}  // namespace headscope::test

#endif
