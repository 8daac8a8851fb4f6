#include "app/platform/child_program.h"

#include <utility>

#include "app/platform/windows/spawn.h"

namespace headscope::app {

bool ChildProgram::available() {
  return true;
}

attention::Result<std::unique_ptr<ChildProgram>> ChildProgram::start(const std::string& program,
                                                                     const std::vector<std::string>& words,
                                                                     std::function<void()> wake) {
  Pipe said = newPipe();
  const Handle nothing = openNothing();
  auto [process, error] = startProgram(program, words, {nothing.get(), nothing.get(), said.write.get()});
  if (error != 0)
    return attention::Error{"the program can't be started again: error " + std::to_string(error)};
  std::unique_ptr<ChildProgram> child(new ChildProgram);
  child->process_ = reinterpret_cast<std::intptr_t>(process.get());
  child->wake_ = std::move(wake);
  child->listener_ =
      std::thread([own = child.get(), from = std::move(said.read), ended = std::move(process)]() mutable {
        own->listen(reinterpret_cast<std::intptr_t>(from.get()));
        const int code = waitFor(ended);
        {
          const std::lock_guard lock(own->mutex_);
          own->ended_ = code;  // from here on stop() doesn't use the handle, which is closed next
        }
        own->wake_();
      });
  return child;
}

ChildProgram::~ChildProgram() {
  stop();
  if (listener_.joinable()) listener_.join();
}

void ChildProgram::stop() {
  constexpr UINT kTerminated = 128 + 15;  // as on other systems
  const std::lock_guard lock(mutex_);
  if (process_ > 0 && !ended_) TerminateProcess(reinterpret_cast<HANDLE>(process_), kTerminated);
}

void ChildProgram::listen(std::intptr_t handle) {
  std::string line;
  char buffer[512];
  for (DWORD got = 0;
       ReadFile(reinterpret_cast<HANDLE>(handle), buffer, sizeof buffer, &got, nullptr) && got > 0;) {
    for (DWORD i = 0; i < got; ++i) {
      if (buffer[i] != '\n' && buffer[i] != '\r') {
        line += buffer[i];
      } else if (!line.empty()) {
        const std::lock_guard lock(mutex_);
        said_ = std::exchange(line, {});
      }
    }
    wake_();
  }
}

}  // namespace headscope::app
