#include "app/platform/system_font.h"

namespace headscope::app {

FontPlace systemFont(const FontRequest&) {
  return {};
}

}  // namespace headscope::app
