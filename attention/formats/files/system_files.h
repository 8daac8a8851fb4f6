#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>

#include "attention/formats/files/file_io.h"

namespace headscope::attention {

// What the system does with files; each has a version of it in its own folder. Functions that return an int
// return 0 or an error number as in errno. Those that return a descriptor set errno and return -1 where they
// fail.

/// What the system knows about an open file or a path.
struct FileState {
  unsigned mode = 0;  ///< kind and permissions, as stat() has them
  std::uint64_t size = 0;
  std::int64_t changed = 0;  ///< modification time, nanoseconds
};
bool isRegular(unsigned mode);
int stateOf(int descriptor, FileState& state);
/// Follows links. Returns ENOENT for a path that is not there, and for a broken link.
int stateOf(const std::filesystem::path& path, FileState& state);
/// Returns 0 if the file, which exists, may be replaced.
int checkWritable(const std::filesystem::path& path);

/// Never waits for a pipe's writer. Others may meanwhile write, rename and remove the file.
Descriptor openToRead(const std::filesystem::path& path);
enum class Creation { ifMissing, always };
/// Opens a file to read and write. With Creation::always, fails with EEXIST if there is anything of that
/// name. A private one is for this user only.
Descriptor openToWrite(const std::filesystem::path& path, Creation creation, bool isPrivate);
/// Opens a file without a name in that folder. Fails where the system can't.
Descriptor openUnnamed(const std::filesystem::path& folder);
/// Gives an unnamed file its name. Returns EEXIST if there is anything of that name.
int nameFile(int descriptor, const std::filesystem::path& path);

/// Reads at an offset. Returns how many bytes, 0 at the end of the file; -1 with errno on failure.
std::ptrdiff_t readAt(int descriptor, void* to, std::size_t bytes, std::uint64_t offset);
/// Locks the file until it is closed. Returns EWOULDBLOCK if another process has the lock.
int lockFile(int descriptor);
int flushFile(int descriptor);
/// Makes a change of names in the folder durable, where the system can.
void flushFolder(const std::filesystem::path& folder);
int setMode(int descriptor, unsigned mode);
/// Renames a file, which replaces what has that name.
int moveFile(const std::filesystem::path& from, const std::filesystem::path& to);

/// Makes an empty file for this user in the system's folder of temporary files. Returns an empty path if it
/// can't.
std::filesystem::path newTemporaryFile(const std::string& ending);

int processId();
bool processRuns(int process);
}  // namespace headscope::attention
