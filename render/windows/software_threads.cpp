#include "render/software_threads.h"

namespace headscope::render {

// A driver has read the environment before the program starts.
void setSoftwareThreads() {}

}  // namespace headscope::render
