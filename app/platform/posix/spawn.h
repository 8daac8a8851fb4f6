#pragma once

#include <spawn.h>
#include <sys/types.h>

#include <string>
#include <vector>

namespace headscope::app {

/// Starts `program`, which is looked up in PATH unless it names a folder, with the arguments `words` and the
/// standard streams of `files`. Signals that this program blocks, and SIGPIPE, act in it as usual. Returns 0,
/// or the error number if it can't be started.
int spawnProgram(const std::string& program, const std::vector<std::string>& words,
                 const posix_spawn_file_actions_t& files, pid_t& process);

}  // namespace headscope::app
