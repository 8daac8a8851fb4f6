#include <locale>
#include <stdexcept>

#include "app/scene/text/number_text.h"

namespace headscope::app {

NumberStyle systemNumberStyle() {
  try {
    const std::locale system("");
    const auto& marks = std::use_facet<std::numpunct<wchar_t>>(system);
    if (marks.decimal_point() != L',') return NumberStyle::point;
    return marks.thousands_sep() == L'.' ? NumberStyle::comma : NumberStyle::space;
  } catch (const std::runtime_error&) {  // a locale that this system doesn't have
    return NumberStyle::point;
  }
}

}  // namespace headscope::app
