#pragma once

#include <windows.h>

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

namespace headscope::app {

/// A Windows handle that is closed with its owner.
class Handle {
 public:
  Handle() = default;
  explicit Handle(HANDLE handle) : handle_(handle == INVALID_HANDLE_VALUE ? nullptr : handle) {}
  ~Handle() { close(); }
  Handle(Handle&& other) noexcept : handle_(std::exchange(other.handle_, nullptr)) {}
  Handle& operator=(Handle&& other) noexcept {
    std::swap(handle_, other.handle_);
    return *this;
  }
  HANDLE get() const { return handle_; }
  explicit operator bool() const { return handle_ != nullptr; }
  void close() {
    if (handle_) CloseHandle(std::exchange(handle_, nullptr));
  }

 private:
  HANDLE handle_ = nullptr;
};

/// The two ends of a pipe. Neither is inherited by other programs, unless it is a stream of startProgram().
struct Pipe {
  Handle read{}, write{};
};
Pipe newPipe();

/// Opens what reads as empty and takes everything.
Handle openNothing();

/// The standard streams of another program.
struct Streams {
  HANDLE input = nullptr, output = nullptr, error = nullptr;
};
/// Starts a program that shows no window; it ends with this one. Returns nothing with an error number
/// as in errno if it can't be started.
std::pair<Handle, int> startProgram(const std::filesystem::path& program,
                                    const std::vector<std::string>& words, const Streams& streams);

/// Waits for a program's end and returns its exit code.
int waitFor(const Handle& process);

}  // namespace headscope::app
