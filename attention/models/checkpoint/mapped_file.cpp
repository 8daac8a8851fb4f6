#include "attention/models/checkpoint/mapped_file.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "attention/formats/files/regular_file.h"
#include "attention/models/checkpoint/bus_guard.h"

namespace headscope::attention {

struct MappedFile::State {
  State(RegularFile opened, void* mapping, std::size_t length, GuardedRange* guard)
      : file(std::move(opened)), data(mapping), bytes(length), range(guard) {}
  State(const State&) = delete;
  State& operator=(const State&) = delete;
  ~State() {
    if (range) endGuard(range);
    if (bytes > 0) ::munmap(data, bytes);
  }

  RegularFile file;
  void* data;
  std::size_t bytes;
  GuardedRange* range;  ///< null for an empty file
};

MappedFile::MappedFile(std::unique_ptr<State> state) : state_(std::move(state)) {}
MappedFile::MappedFile(MappedFile&&) noexcept = default;
MappedFile& MappedFile::operator=(MappedFile&&) noexcept = default;
MappedFile::~MappedFile() = default;

Result<MappedFile> MappedFile::open(const std::filesystem::path& path) {
  auto file = RegularFile::open(path);
  if (!file) return file.error();
  const auto bytes = static_cast<std::size_t>(file->size());
  if (bytes == 0) return MappedFile(std::make_unique<State>(std::move(*file), nullptr, 0, nullptr));
  void* const data = ::mmap(nullptr, bytes, PROT_READ, MAP_PRIVATE, file->descriptor(), 0);
  if (data == MAP_FAILED) return fileError(path, "cannot be mapped: " + systemText(errno));
  GuardedRange* const range = beginGuard(data, static_cast<const std::uint8_t*>(data) + bytes);
  auto state = std::make_unique<State>(std::move(*file), data, bytes, range);
  if (!range) return fileError(path, "cannot be mapped: too many files of weights are open at once");
  return MappedFile(std::move(state));
}

const std::filesystem::path& MappedFile::path() const {
  return state_->file.path();
}

std::span<const std::uint8_t> MappedFile::bytes() const {
  return {static_cast<const std::uint8_t*>(state_->data), state_->bytes};
}

Status MappedFile::intact() const {
  if (const Status status = state_->file.unchanged(); !status) return status;
  if (state_->range && state_->range->lost.load())
    return fileError(path(), "could not be read to its end, expected it to stay as it was opened");
  return success();
}

}  // namespace headscope::attention
