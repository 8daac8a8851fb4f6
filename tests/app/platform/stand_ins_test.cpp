// The browser build's replacements for parts of the standard library, compared with this system's library.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <condition_variable>
#include <cstdint>
#include <limits>
#include <random>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "app/platform/web/polyfills/bit.h"
#include "app/platform/web/polyfills/charconv.h"
#include "app/platform/web/polyfills/condition_variable.h"
#include "app/platform/web/polyfills/ranges.h"
#include "app/platform/web/polyfills/stop_token.h"

namespace headscope::test {
namespace {

template <typename T>
struct ReadNumber {
  std::size_t length = 0;
  std::errc code{};
  T value = -7;
  bool operator==(const ReadNumber& other) const {
    return length == other.length && code == other.code &&
           (value == other.value || (value != value && other.value != other.value));
  }
};

template <typename T>
void expectReadAlike(const std::string& text, std::chars_format format) {
  ReadNumber<T> own, standard;
  const char *const first = text.data(), *const last = first + text.size();
  const auto a = stand_in::from_chars(first, last, own.value, format);
  const auto b = std::from_chars(first, last, standard.value, format);
  own.length = static_cast<std::size_t>(a.ptr - first);
  standard.length = static_cast<std::size_t>(b.ptr - first);
  own.code = a.ec;
  standard.code = b.ec;
  EXPECT_TRUE(own == standard) << '"' << text << "\" is read as " << own.value << ", " << own.length
                               << " characters, error " << static_cast<int>(own.code) << "; expected "
                               << standard.value << ", " << standard.length << ", "
                               << static_cast<int>(standard.code);
}

TEST(StandIns, FromCharsMatchesTheStandardLibrary) {
  for (const char* text : {"",         "-",        "+1",     "1",
                           "-0",       ".5",       "5.",     ".",
                           "1e5",      "1e",       "1e+",    "1E-3x",
                           "0x10",     " 1",       "inf",    "-inf",
                           "INFINITY", "infinit",  "nan",    "1e400",
                           "1e-400",   "0e999",    "-1e400", "1.5e3",
                           "1.5.2",    "12,3",     "1e38",   "3.4e39",
                           "1e-46",    "4.9e-324", "0.1",    "123456789012345678901234567890",
                           "1_0",      "--1",      "1e5e5",  "9007199254740993"})
    for (const auto format :
         {std::chars_format::general, std::chars_format::fixed, std::chars_format::scientific}) {
      expectReadAlike<double>(text, format);
      expectReadAlike<float>(text, format);
    }
}

template <typename T>
std::string writtenOwn(T value) {
  char text[64];
  return {text, stand_in::to_chars(text, text + sizeof text, value).ptr};
}

template <typename T>
void expectReadsBack(T value) {
  const std::string text = writtenOwn(value);
  T back = 0;
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), back);
  EXPECT_EQ(code, std::errc()) << text;
  EXPECT_EQ(end, text.data() + text.size()) << text;
  EXPECT_EQ(back, value) << text;
  char standard[64];
  const std::string_view expected(standard, std::to_chars(standard, standard + sizeof standard, value).ptr);
  EXPECT_EQ(text.size(), expected.size()) << text << " and " << expected;
}

TEST(StandIns, ToCharsWritesShortestRoundTrip) {
  std::mt19937_64 random(36);
  for (int i = 0; i < 2000; ++i) {
    const auto number = std::bit_cast<double>(random());
    const auto single = std::bit_cast<float>(static_cast<std::uint32_t>(random()));
    if (std::isfinite(number) && std::abs(number) < 1e40) expectReadsBack(number);
    if (std::isfinite(single)) expectReadsBack(single);
    expectReadsBack(static_cast<double>(i) / 8);
    expectReadsBack(static_cast<float>(i) / 10);
  }
  EXPECT_EQ(writtenOwn(0.1f), "0.1");
  EXPECT_EQ(writtenOwn(-0.0), "-0");
  EXPECT_EQ(writtenOwn(1e21), "1e+21");
  EXPECT_EQ(writtenOwn(-std::numeric_limits<float>::infinity()), "-inf");
}

TEST(StandIns, ToCharsHonoursPrecision) {
  for (const double value : {0.0, 1.0, 1234567.0, 0.000012345, -3.14159265, 1e100}) {
    char own[64], standard[64];
    const auto general = std::chars_format::general;
    EXPECT_EQ(std::string_view(own, stand_in::to_chars(own, own + sizeof own, value, general, 6).ptr),
              std::string_view(standard,
                               std::to_chars(standard, standard + sizeof standard, value, general, 6).ptr));
  }
}

TEST(StandIns, ToCharsRefusesSmallBuffers) {
  char text[3];
  EXPECT_EQ(stand_in::to_chars(text, text + sizeof text, 0.125).ec, std::errc::value_too_large);
}

TEST(StandIns, BitCastKeepsBits) {
  EXPECT_EQ(stand_in::bit_cast<std::uint32_t>(1.5f), std::bit_cast<std::uint32_t>(1.5f));
}

struct Named {
  int number = 0;
  std::string name;
};

TEST(StandIns, RangesSupportProjections) {
  std::vector<Named> all{{3, "c"}, {1, "a"}, {2, "b"}, {1, "d"}};
  EXPECT_EQ(stand_in::find(all, "b", &Named::name), std::ranges::find(all, "b", &Named::name));
  EXPECT_EQ(stand_in::find(all, "x", &Named::name), all.end());
  const auto large = [](int n) { return n > 1; };
  EXPECT_EQ(stand_in::count_if(all, large, &Named::number), 2);
  EXPECT_EQ(stand_in::count(all, 1, &Named::number), 2);
  EXPECT_TRUE(stand_in::any_of(all, large, &Named::number));
  EXPECT_FALSE(stand_in::all_of(all, large, &Named::number));
  EXPECT_FALSE(stand_in::none_of(all, large, &Named::number));
  EXPECT_EQ(stand_in::find_if_not(all, large, &Named::number)->name, "a");
  EXPECT_EQ(stand_in::max_element(all, {}, &Named::number)->name, "c");
  EXPECT_EQ(stand_in::min_element(all, {}, &Named::number)->name, "a");
  stand_in::stable_sort(all, {}, &Named::number);
  EXPECT_EQ(all[0].name + all[1].name + all[2].name + all[3].name, "adbc");
  EXPECT_EQ(stand_in::lower_bound(all, 2, {}, &Named::number) - all.begin(), 2);
  EXPECT_EQ(stand_in::upper_bound(all, 2, {}, &Named::number) - all.begin(), 3);
  const std::array first{1, 2, 3}, second{1, 2, 4};
  EXPECT_EQ(*stand_in::mismatch(first, second).in2, 4);
}

template <typename Source, typename Token>
void expectStops() {
  Source source;
  const Token token = source.get_token();
  EXPECT_TRUE(token.stop_possible());
  EXPECT_FALSE(token.stop_requested());
  EXPECT_FALSE(Token().stop_possible());
  EXPECT_TRUE(source.request_stop());
  EXPECT_FALSE(source.request_stop());
  EXPECT_TRUE(token.stop_requested());
  EXPECT_EQ(token, source.get_token());
}

TEST(StandIns, StopTokensReportStopRequests) {
  expectStops<std::stop_source, std::stop_token>();
  expectStops<stand_in::stop_source, stand_in::stop_token>();
}

TEST(StandIns, StopCheckCallsItsHook) {
  int times = 0;
  stand_in::atStopCheck = [&times] { ++times; };
  const stand_in::stop_source source;
  EXPECT_FALSE(source.get_token().stop_requested());
  EXPECT_FALSE(stand_in::stop_token().stop_requested());
  stand_in::atStopCheck = nullptr;
  EXPECT_FALSE(stand_in::stop_token().stop_requested());
  EXPECT_EQ(times, 2);
}

TEST(StandIns, StopCallbacksRunOnceUnlessDestroyed) {
  stand_in::stop_source source;
  int called = 0, gone = 0, late = 0;
  const stand_in::stop_callback kept(source.get_token(), [&] { ++called; });
  {
    const stand_in::stop_callback short_(source.get_token(), [&] { ++gone; });
  }
  source.request_stop();
  source.request_stop();
  const stand_in::stop_callback after(source.get_token(), [&] { ++late; });
  EXPECT_EQ(called, 1);
  EXPECT_EQ(gone, 0);
  EXPECT_EQ(late, 1);
}

TEST(StandIns, ThreadIsStoppedAndJoinedOnDestruction) {
  bool stopped = false;
  {
    const stand_in::jthread thread([&](stand_in::stop_token stop) {
      while (!stop.stop_requested()) std::this_thread::yield();
      stopped = true;
    });
  }
  EXPECT_TRUE(stopped);
}

TEST(StandIns, WaitEndsOnNotifyStopOrTimeout) {
  std::mutex mutex;
  stand_in::condition_variable_any changed;
  stand_in::stop_source source;
  bool ready = false;
  const stand_in::jthread other([&] {
    const std::lock_guard lock(mutex);
    ready = true;
    changed.notify_all();
  });
  std::unique_lock lock(mutex);
  EXPECT_TRUE(changed.wait(lock, source.get_token(), [&] { return ready; }));
  EXPECT_FALSE(changed.wait_for(lock, std::chrono::milliseconds(1), [] { return false; }));
  const stand_in::jthread stopper([&] { source.request_stop(); });
  EXPECT_FALSE(changed.wait(lock, source.get_token(), [] { return false; }));
  EXPECT_TRUE(lock.owns_lock());
}

}  // namespace
}  // namespace headscope::test
