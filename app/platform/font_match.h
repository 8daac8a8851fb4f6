#pragma once

#include <fontconfig/fontconfig.h>

#include <memory>

namespace headscope::app {

// What fontconfig hands out, given back by itself.

struct FontMatchDeleter {
  void operator()(FcPattern* p) const { FcPatternDestroy(p); }
  void operator()(FcCharSet* p) const { FcCharSetDestroy(p); }
};
using FontPattern = std::unique_ptr<FcPattern, FontMatchDeleter>;
using CharacterSet = std::unique_ptr<FcCharSet, FontMatchDeleter>;

}  // namespace headscope::app
