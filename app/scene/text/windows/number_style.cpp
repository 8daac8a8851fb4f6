#include <windows.h>

#include "app/scene/text/number_text.h"

namespace headscope::app {

// std::locale knows only "C" with this standard library.
NumberStyle systemNumberStyle() {
  const auto mark = [](LCTYPE which) {
    wchar_t text[8] = {};
    GetLocaleInfoEx(LOCALE_NAME_USER_DEFAULT, which, text, 8);
    return text[0];
  };
  if (mark(LOCALE_SDECIMAL) != L',') return NumberStyle::point;
  return mark(LOCALE_STHOUSAND) == L'.' ? NumberStyle::comma : NumberStyle::space;
}

}  // namespace headscope::app
