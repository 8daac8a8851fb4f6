#include "app/commands/report.h"

#include <unistd.h>

namespace headscope::app {

std::string printable(std::string_view message) {
  std::string text;
  for (std::size_t from = 0; from <= message.size();) {
    const std::size_t to = std::min(message.find('\n', from), message.size());
    text += (from > 0 ? "\n" : "") + attention::escapedText(message.substr(from, to - from));
    from = to + 1;
  }
  return text;
}

int print(const std::string& text, Printed as) {
  const bool terminal = ::isatty(STDOUT_FILENO) != 0;
  const std::string shown = !terminal             ? text
                            : as == Printed::json ? attention::escapedJson(text)
                                                  : printable(text);
  if (std::fwrite(shown.data(), 1, shown.size(), stdout) == shown.size() && std::fflush(stdout) == 0)
    return kExitDone;
  return fail({"standard output can't be written"});
}

void printProgress(const std::string& line, bool last) {
  const bool terminal = ::isatty(STDERR_FILENO) != 0;
  std::fprintf(stderr, "%s%s%s", terminal ? "\r" : "", printable(line).c_str(),
               terminal && !last ? "" : "\n");
}

}  // namespace headscope::app
