#include "app/compute/jobs/caught_error.h"

#include <exception>
#include <new>

namespace headscope::app {

attention::Error caughtError(const std::string& what) {
  try {
    throw;
  } catch (const std::bad_alloc&) {
    return {what + ": there is not enough free memory"};
  } catch (const std::exception& broken) {
    return {what + ": " + broken.what()};
  } catch (...) {
    return {what + ": unknown reason"};
  }
}

}  // namespace headscope::app
