#pragma once

#include <algorithm>
#include <functional>
#include <iterator>
#include <utility>

namespace headscope::stand_in {

// The std::ranges algorithms that Headscope uses; Emscripten's libc++ 13 has none. They take whole ranges,
// with projections if any caller uses one.

struct itself {
  template <typename T>
  constexpr T&& operator()(T&& value) const noexcept {
    return std::forward<T>(value);
  }
};

template <typename Predicate, typename Projection>
constexpr auto projected(Predicate& predicate, Projection& projection) {
  return [&](auto&& value) -> bool {
    return std::invoke(predicate, std::invoke(projection, std::forward<decltype(value)>(value)));
  };
}
template <typename T, typename Projection>
constexpr auto equalTo(const T& wanted, Projection& projection) {
  return [&](auto&& value) -> bool { return std::invoke(projection, value) == wanted; };
}

template <typename R, typename T, typename P = itself>
constexpr auto find(R&& range, const T& value, P projection = {}) {
  return std::find_if(std::begin(range), std::end(range), equalTo(value, projection));
}
template <typename R, typename F, typename P = itself>
constexpr auto find_if(R&& range, F predicate, P projection = {}) {
  return std::find_if(std::begin(range), std::end(range), projected(predicate, projection));
}
template <typename R, typename F, typename P = itself>
constexpr auto find_if_not(R&& range, F predicate, P projection = {}) {
  return std::find_if_not(std::begin(range), std::end(range), projected(predicate, projection));
}
template <typename R, typename F, typename P = itself>
constexpr bool any_of(R&& range, F predicate, P projection = {}) {
  return std::any_of(std::begin(range), std::end(range), projected(predicate, projection));
}
template <typename R, typename F, typename P = itself>
constexpr bool all_of(R&& range, F predicate, P projection = {}) {
  return std::all_of(std::begin(range), std::end(range), projected(predicate, projection));
}
template <typename R, typename F, typename P = itself>
constexpr bool none_of(R&& range, F predicate, P projection = {}) {
  return std::none_of(std::begin(range), std::end(range), projected(predicate, projection));
}
template <typename R, typename T, typename P = itself>
constexpr auto count(R&& range, const T& value, P projection = {}) {
  return std::count_if(std::begin(range), std::end(range), equalTo(value, projection));
}
template <typename R, typename F, typename P = itself>
constexpr auto count_if(R&& range, F predicate, P projection = {}) {
  return std::count_if(std::begin(range), std::end(range), projected(predicate, projection));
}
template <typename R, typename T>
constexpr void fill(R&& range, const T& value) {
  std::fill(std::begin(range), std::end(range), value);
}
template <typename R>
constexpr void reverse(R&& range) {
  std::reverse(std::begin(range), std::end(range));
}
template <typename R, typename Out, typename F, typename P = itself>
constexpr void transform(R&& range, Out to, F change, P projection = {}) {
  std::transform(std::begin(range), std::end(range), to,
                 [&](auto&& value) { return std::invoke(change, std::invoke(projection, value)); });
}

template <typename Less, typename P>
constexpr auto ordered(Less& less, P& projection) {
  return [&](const auto& a, const auto& b) -> bool {
    return std::invoke(less, std::invoke(projection, a), std::invoke(projection, b));
  };
}
template <typename R, typename Less = std::less<>, typename P = itself>
void sort(R&& range, Less less = {}, P projection = {}) {
  std::sort(std::begin(range), std::end(range), ordered(less, projection));
}
template <typename R, typename Less = std::less<>, typename P = itself>
void stable_sort(R&& range, Less less = {}, P projection = {}) {
  std::stable_sort(std::begin(range), std::end(range), ordered(less, projection));
}
template <typename R, typename Less = std::less<>, typename P = itself>
constexpr auto max_element(R&& range, Less less = {}, P projection = {}) {
  return std::max_element(std::begin(range), std::end(range), ordered(less, projection));
}
template <typename R, typename Less = std::less<>, typename P = itself>
constexpr auto min_element(R&& range, Less less = {}, P projection = {}) {
  return std::min_element(std::begin(range), std::end(range), ordered(less, projection));
}
template <typename R, typename T, typename Less = std::less<>, typename P = itself>
constexpr auto lower_bound(R&& range, const T& value, Less less = {}, P projection = {}) {
  return std::partition_point(std::begin(range), std::end(range), [&](const auto& each) -> bool {
    return std::invoke(less, std::invoke(projection, each), value);
  });
}
template <typename R, typename T, typename Less = std::less<>, typename P = itself>
constexpr auto upper_bound(R&& range, const T& value, Less less = {}, P projection = {}) {
  return std::partition_point(std::begin(range), std::end(range), [&](const auto& each) -> bool {
    return !std::invoke(less, value, std::invoke(projection, each));
  });
}
/// The first position at which two ranges differ.
template <typename I, typename J>
struct mismatch_result {
  I in1;
  J in2;
};
template <typename R, typename S>
constexpr auto mismatch(R&& first, S&& second) {
  const auto [a, b] = std::mismatch(std::begin(first), std::end(first), std::begin(second), std::end(second));
  return mismatch_result<decltype(std::begin(first)), decltype(std::begin(second))>{a, b};
}

}  // namespace headscope::stand_in
