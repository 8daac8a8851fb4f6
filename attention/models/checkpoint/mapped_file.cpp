#include <array>
#include <cerrno>

#include "attention/formats/files/file_io.h"
#include "attention/models/checkpoint/checkpoint.h"
#include "attention/models/checkpoint/file_view.h"

namespace headscope::attention {
namespace {

std::array<GuardedRange, 1024> ranges;
std::mutex taking;

}  // namespace

GuardedRange* GuardedRanges::at(std::uintptr_t address) {
  for (GuardedRange& range : ranges)
    if (range.begin.load() <= address && address < range.end.load()) return &range;
  return nullptr;
}

GuardedRange* GuardedRanges::guard(const void* begin, std::size_t bytes) {
  const std::lock_guard lock(taking);
  for (GuardedRange& range : ranges) {
    if (range.end.load() != 0) continue;
    range.lost = false;
    range.begin = reinterpret_cast<std::uintptr_t>(begin);
    range.end = range.begin + bytes;
    return &range;
  }
  return nullptr;
}

void GuardedRanges::release(GuardedRange* range) {
  const std::lock_guard lock(taking);
  range->end = 0;
}

struct MappedFile::State {
  explicit State(RegularFile opened) : file(std::move(opened)) {}
  RegularFile file;
  std::optional<FileView> view;  ///< none for an empty file
};

MappedFile::MappedFile(std::unique_ptr<State> state) : state_(std::move(state)) {}
MappedFile::MappedFile(MappedFile&&) noexcept = default;
MappedFile& MappedFile::operator=(MappedFile&&) noexcept = default;
MappedFile::~MappedFile() = default;

Result<MappedFile> MappedFile::open(const std::filesystem::path& path) {
  auto file = RegularFile::open(path);
  if (!file) return file.error();
  auto state = std::make_unique<State>(std::move(*file));
  const auto bytes = static_cast<std::size_t>(state->file.size());
  if (bytes == 0) return MappedFile(std::move(state));
  const FileView& view = state->view.emplace(state->file.descriptor(), bytes);
  if (!view.data) return fileError(path, "cannot be mapped: " + systemText(errno));
  if (!view.range) return fileError(path, "cannot be mapped: too many files of weights are open at once");
  return MappedFile(std::move(state));
}

const std::filesystem::path& MappedFile::path() const {
  return state_->file.path();
}

std::span<const std::uint8_t> MappedFile::bytes() const {
  if (!state_->view) return {};
  return {state_->view->data, state_->view->bytes};
}

Status MappedFile::intact() const {
  if (const Status status = state_->file.unchanged(); !status) return status;
  if (state_->view && state_->view->range->lost.load())
    return fileError(path(), "could not be read to its end, expected it to stay as it was opened");
  return success();
}

}  // namespace headscope::attention
