#include "render/software_threads.h"

#include <cstdlib>
#include <string>
#include <thread>

namespace headscope::render {

void setSoftwareThreads() {
  constexpr unsigned kFew = 4;
  const unsigned processors = std::thread::hardware_concurrency();
  if (processors > 1 && processors <= kFew)
    setenv("LP_NUM_THREADS", std::to_string(2 * processors).c_str(), 0);
}

}  // namespace headscope::render
