#include "attention/formats/files/file_io.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <new>
#include <optional>
#include <string>
#include <system_error>

#include "attention/formats/files/regular_file.h"
#include "attention/formats/files/temporary_file.h"

namespace headscope::attention {
namespace {

/// Returns 0 or the error number.
int writeAll(int fd, std::span<const std::uint8_t> bytes) {
  constexpr std::size_t kChunk = std::size_t{1} << 30;
  while (!bytes.empty()) {
    const ssize_t put = ::write(fd, bytes.data(), std::min(kChunk, bytes.size()));
    if (put < 0 && errno == EINTR) continue;
    if (put < 0) return errno;
    bytes = bytes.subspan(static_cast<std::size_t>(put));
  }
  return 0;
}

/// The resolved path to write to, and the permissions to keep if a file exists there.
struct Target {
  std::filesystem::path path;
  std::optional<mode_t> mode;
};

Result<Target> findTarget(const std::filesystem::path& path) {
  if (path.empty()) return Error{"an empty path is not the name of a file"};
  if (path.filename().empty()) return fileError(path, "is not the name of a file");
  struct stat info {};
  if (::stat(path.c_str(), &info) != 0) {
    const int code = errno;
    if (code != ENOENT) return fileError(path, "cannot be written: " + systemText(code));
    struct stat link {};
    if (::lstat(path.c_str(), &link) == 0) return fileError(path, "is a broken link, expected a file");
    return Target{path, std::nullopt};
  }
  if (!S_ISREG(info.st_mode)) {
    return fileError(path, std::string("is ") + kindOfFile(info.st_mode) + ", expected a regular file");
  }
  // The rename would succeed anyway, but a write-protected file is meant to stay.
  if (::access(path.c_str(), W_OK) != 0) return fileError(path, "cannot be written: " + systemText(errno));
  std::error_code code;
  const auto real = std::filesystem::canonical(path, code);
  if (code) return fileError(path, "cannot be written: " + code.message());
  return Target{real, info.st_mode & 07777};
}

/// Makes the rename itself durable. Failure is not an error: some file systems can't flush a folder, and the
/// contents are already safe.
void flushFolder(const std::filesystem::path& file) {
  const auto folder = file.parent_path();
  const Descriptor fd(::open(folder.empty() ? "." : folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (fd.get() >= 0) ::fsync(fd.get());
}

}  // namespace

bool fileExists(const std::filesystem::path& path) {
  std::error_code ignored;
  return std::filesystem::exists(path, ignored);
}

ContentMark contentMark(std::string_view content) {
  return std::hash<std::string_view>()(content);
}

std::optional<ContentMark> contentMarkOf(const std::filesystem::path& path) {
  const auto bytes = readFile(path);
  if (!bytes) return std::nullopt;
  return contentMark({reinterpret_cast<const char*>(bytes->data()), bytes->size()});
}

Result<std::vector<std::uint8_t>> readFile(const std::filesystem::path& path, std::uint64_t maxBytes) {
  const auto file = RegularFile::open(path);
  if (!file) return file.error();
  const auto size = file->size();
  if (size > maxBytes) {
    return fileError(path, fmt::format("is {} bytes, expected at most {}", size, maxBytes));
  }
  try {
    std::vector<std::uint8_t> bytes(size);
    if (const auto status = file->read(0, bytes); !status) return status.error();
    return bytes;
  } catch (const std::bad_alloc&) {
    return fileError(path, fmt::format("is {} bytes, more than there is memory for", size));
  }
}

struct Replacement::Parts {
  std::filesystem::path named;  ///< for messages: not resolved
  Target target;
  TemporaryFile file;
};

Replacement::Replacement(std::unique_ptr<Parts> parts) : parts_(std::move(parts)) {}
Replacement::Replacement(Replacement&&) noexcept = default;
Replacement::~Replacement() = default;

Result<Replacement> Replacement::of(const std::filesystem::path& path) {
  auto target = findTarget(path);
  if (!target) return target.error();
  auto [file, code] = TemporaryFile::create(target->path);
  if (!file) return fileError(path, "cannot be written: " + systemText(code));
  return Replacement(std::make_unique<Parts>(Parts{path, *std::move(target), *std::move(file)}));
}

int Replacement::descriptor() const {
  return parts_->file.descriptor();
}

Status Replacement::complete() {
  auto& [named, target, file] = *parts_;
  int code = 0;
  if (target.mode && ::fchmod(file.descriptor(), *target.mode) != 0) code = errno;
  if (code == 0 && ::fsync(file.descriptor()) != 0) code = errno;
  if (code == 0) code = file.moveTo(target.path);
  if (code != 0) return fileError(named, "cannot be written: " + systemText(code));
  flushFolder(target.path);
  return success();
}

Status writeFileInParts(const std::filesystem::path& path,
                        const std::function<void(const FileSink&)>& produce) {
  auto file = Replacement::of(path);
  if (!file) return file.error();
  int code = 0;
  produce([&](std::span<const std::uint8_t> bytes) {
    if (code == 0) code = writeAll(file->descriptor(), bytes);
    return code == 0;
  });
  if (code != 0) return fileError(path, "cannot be written: " + systemText(code));
  return file->complete();
}

Status writeFile(const std::filesystem::path& path, std::span<const std::uint8_t> bytes) {
  return writeFileInParts(path, [&](const FileSink& sink) { sink(bytes); });
}

Status writeFile(const std::filesystem::path& path, std::string_view text) {
  return writeFile(path, std::span(reinterpret_cast<const std::uint8_t*>(text.data()), text.size()));
}

}  // namespace headscope::attention
