#include "app/scene/text/number_text.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "tests/app/scene/random_scene.h"
#include "tests/support/matchers.h"

namespace headscope::app {
namespace {

using test::Dice;

TEST(NumberText, DigitsAreRaisedAndLowered) {
  EXPECT_EQ(raisedDigits(-1230456789), "⁻¹²³⁰⁴⁵⁶⁷⁸⁹");
  EXPECT_EQ(loweredDigits(1230456789), "₁₂₃₀₄₅₆₇₈₉");
  EXPECT_EQ(loweredDigits(-4), "₋₄");
}

TEST(BytesText, UsesLargestFittingUnit) {
  EXPECT_EQ(bytesText(0), "0 B");
  EXPECT_EQ(bytesText(384), "384 B");
  EXPECT_EQ(bytesText(1023), "1023 B");
  EXPECT_EQ(bytesText(1024), "1 KiB");
  EXPECT_EQ(bytesText(2355), "2.3 KiB");
  EXPECT_EQ(bytesText(1280), "1.3 KiB") << "halves go up";
  EXPECT_EQ(bytesText(1279), "1.2 KiB");
  EXPECT_EQ(bytesText(5120), "5 KiB");
  EXPECT_EQ(bytesText(1 << 20), "1 MiB");
  EXPECT_EQ(bytesText(std::ldexp(1, 30)), "1 GiB");
  EXPECT_EQ(bytesText(std::ldexp(1, 60)), "1024 PiB") << "there is no larger unit";
}

TEST(BytesText, NeverRoundsUpTo1024) {
  for (int unit = 1; unit < 6; ++unit) {
    const double nearly = std::ldexp(1.0, 10 * unit) * (1 - 1e-9);
    if (unit > 1) {
      EXPECT_THAT(bytesText(nearly), Not(HasSubstr("1024"))) << nearly;
    }
  }
}

TEST(WholePercentText, HasATrueMinus) {
  EXPECT_EQ(wholePercentText(0.824), "82 %");
  EXPECT_EQ(wholePercentText(-0.13), "−13 %");
  EXPECT_EQ(wholePercentText(-0.001), "0 %");
}

TEST(WeightText, ShowsZeroAndOneOnlyWhenExact) {
  EXPECT_EQ(weightText(0), "0");
  EXPECT_EQ(weightText(1), "1");
  EXPECT_EQ(weightText(0.819F), "0.819");
  EXPECT_EQ(weightText(std::nextafter(1.0F, 0.0F)), "1.000");
  for (float tiny : {4e-4F, 1e-7F, 1e-30F, std::numeric_limits<float>::denorm_min()}) {
    EXPECT_NE(weightText(tiny), "0") << tiny;
    EXPECT_THAT(weightText(tiny), Not(testing::StartsWith("0.000"))) << tiny;
  }
}

TEST(NumberText, NamesNonFiniteNumbers) {
  EXPECT_EQ(numberText(NAN), "NaN");
  EXPECT_EQ(numberText(INFINITY), "∞");
  EXPECT_EQ(numberText(-INFINITY), "−∞");
  EXPECT_EQ(numberText(0.0), "0");
  EXPECT_EQ(numberText(-0.0), "0");
}

TEST(NumberText, ShowsSignificantDigitsAndTrueMinusSign) {
  EXPECT_EQ(numberText(5.59), "5.590");
  EXPECT_EQ(numberText(31.62), "31.62");
  EXPECT_EQ(numberText(-31.62), "−31.62");
  EXPECT_EQ(numberText(1234.56), "1235");
  EXPECT_EQ(numberText(0.25, 3), "0.25");
}

/// The number that a text such as "120" or "2.4·10⁻⁶" represents.
double readBack(std::string text) {
  const auto replaceAll = [&](const std::string& from, const std::string& to) {
    for (std::size_t at; (at = text.find(from)) != std::string::npos;) text.replace(at, from.size(), to);
  };
  replaceAll("−", "-");
  replaceAll("·10", "e");
  replaceAll("⁻", "-");
  const char* raised[] = {"⁰", "¹", "²", "³", "⁴", "⁵", "⁶", "⁷", "⁸", "⁹"};
  for (int digit = 0; digit < 10; ++digit) replaceAll(raised[digit], std::to_string(digit));
  std::size_t end = 0;
  const double value = std::stod(text, &end);
  EXPECT_EQ(end, text.size()) << text << " is not a number";
  return value;
}

/// Within half a unit of the last digit shown; with one digit, that is half of the number itself.
TEST(NumberText, ReadsBackWithinRounding) {
  Dice dice(1);
  for (int i = 0; i < 20'000; ++i) {
    const int significant = static_cast<int>(dice.between(2, 6));
    const double value = (dice.coin() ? -1 : 1) * std::pow(10.0, dice.real(-12, 12));
    const std::string text = numberText(value, significant);
    ASSERT_LE(std::abs(readBack(text) - value), std::abs(value) * 0.5 * (1 + 1e-12))
        << value << " is " << text;
    if (std::abs(value) >= 1 && std::abs(value) < 1e5) {
      ASSERT_LE(std::abs(readBack(text) - value),
                std::abs(value) * 0.5 * std::pow(10, 1 - significant) * (1 + 1e-9))
          << value << " is " << text;
    }
    ASSERT_NE(readBack(text), 0) << value << " with " << significant << " digits is shown as " << text;
    ASSERT_EQ(text.find('-'), std::string::npos) << text << " has a hyphen for a minus sign";
  }
}

TEST(CountText, SeparatesThousands) {
  EXPECT_EQ(countText(0), "0");
  EXPECT_EQ(countText(999), "999");
  EXPECT_EQ(countText(1000), "1,000");
  EXPECT_EQ(countText(12288), "12,288");
  EXPECT_EQ(countText(123456789), "123,456,789");
  EXPECT_EQ(countText(std::numeric_limits<std::uint64_t>::max()), "18,446,744,073,709,551,615");
}

TEST(TimeText, ChoosesASuitableUnit) {
  EXPECT_EQ(timeText(0.00031), "0.31 ms");
  EXPECT_EQ(timeText(0.012), "12 ms");
  EXPECT_EQ(timeText(1.42), "1.4 s");
  EXPECT_EQ(timeText(0), "0.00 ms");
  EXPECT_THAT(timeText(1 - 1e-9), Not(HasSubstr("1000")));
}

class NumberStyles : public testing::Test {
 protected:
  ~NumberStyles() override { setNumberStyle(NumberStyle::point); }
};

TEST_F(NumberStyles, EachStyleUsesItsSeparators) {
  const auto written = [](NumberStyle style) {
    setNumberStyle(style);
    return std::vector<std::string>{fixedText(-0.5, 2), signedText(1.25, 1), roundedText(1.0 / 12, 3),
                                    countText(1048576), numberText(2.4e-6),  bytesText(2355)};
  };
  using ::testing::ElementsAre;
  EXPECT_THAT(written(NumberStyle::point),
              ElementsAre("−0.50", "+1.3", "0.0833", "1,048,576", "2.40·10⁻⁶", "2.3 KiB"));
  EXPECT_THAT(written(NumberStyle::comma),
              ElementsAre("−0,50", "+1,3", "0,0833", "1.048.576", "2,40·10⁻⁶", "2,3 KiB"));
  EXPECT_THAT(written(NumberStyle::space),
              ElementsAre("−0,50", "+1,3", "0,0833", "1\u202f048\u202f576", "2,40·10⁻⁶", "2,3 KiB"));
}

TEST_F(NumberStyles, HalvesRoundAwayFromZero) {
  EXPECT_EQ(fixedText(0.125, 2), "0.13");
  EXPECT_EQ(fixedText(-0.125, 2), "−0.13");
  EXPECT_EQ(fixedText(2.5, 0), "3");
  EXPECT_EQ(fixedText(0.1249999, 2), "0.12");
  EXPECT_EQ(roundedText(0.25, 1), "0.3");
  EXPECT_EQ(bytesText(1280), "1.3 KiB");
}

TEST_F(NumberStyles, RoundedZeroHasNoSign) {
  EXPECT_EQ(fixedText(-0.004, 2), "0.00");
  EXPECT_EQ(signedText(0.004, 2), "0.00");
  EXPECT_EQ(signedText(-0.004, 2), "0.00");
  EXPECT_EQ(roundedText(-0.0), "0");
}

TEST_F(NumberStyles, ReadsTypedNumbersInEveryStyle) {
  for (const NumberStyle style : {NumberStyle::point, NumberStyle::comma, NumberStyle::space}) {
    setNumberStyle(style);
    for (const char* half : {"0.5", "0,5", ".5", ",5", " 0,50 ", "+0.5", "5e-1"})
      EXPECT_EQ(typedNumber(half), 0.5) << half;
    for (const char* thousands : {"1,234.5", "1.234,5", "1 234,5", "1\u202f234.5", "1234.5"})
      EXPECT_EQ(typedNumber(thousands), 1234.5) << thousands;
    for (const char* million : {"1,048,576", "1.048.576", "1 048 576"})
      EXPECT_EQ(typedNumber(million), 1048576) << million;
    EXPECT_EQ(typedNumber("−0.125"), -0.125);
    EXPECT_EQ(typedNumber("-0,125"), -0.125);
    for (const char* none : {"", "abc", "1.5.2", "1,04,576", "inf", "nan", "1,234,56.7", "5 apples", "--5"})
      EXPECT_EQ(typedNumber(none), std::nullopt) << none;
  }
  setNumberStyle(NumberStyle::point);
  EXPECT_EQ(typedNumber("12,288"), 12288);
  EXPECT_EQ(typedNumber("12.288"), 12.288);
  setNumberStyle(NumberStyle::comma);
  EXPECT_EQ(typedNumber("12,288"), 12.288);
  EXPECT_EQ(typedNumber("12.288"), 12288);
}

TEST_F(NumberStyles, ProseNumbersFollowStyleButNamesStay) {
  const char* const prose = "1,024 at 0.5 and .25; Llama-3.1, 2.1.2, `x = 0.5`, 12,34, V0.1, 7.5.";
  EXPECT_EQ(shownProse(prose), prose);
  setNumberStyle(NumberStyle::comma);
  EXPECT_EQ(shownProse(prose), "1.024 at 0,5 and ,25; Llama-3.1, 2.1.2, `x = 0.5`, 12,34, V0.1, 7,5.");
}

TEST_F(NumberStyles, FormattedNumbersRoundTrip) {
  Dice dice(5);
  for (const NumberStyle style : {NumberStyle::point, NumberStyle::comma, NumberStyle::space}) {
    setNumberStyle(style);
    for (int i = 0; i < 2000; ++i) {
      const double value = std::ldexp(dice.real(-1, 1), static_cast<int>(dice.between(-8, 30)));
      const double rounded = std::round(value * 100) / 100;
      EXPECT_EQ(typedNumber(fixedText(rounded, 2)), rounded == 0 ? 0 : rounded) << rounded;
      const auto count = static_cast<std::uint64_t>(std::abs(value));
      EXPECT_EQ(typedNumber(countText(count)), static_cast<double>(count)) << count;
    }
  }
}

}  // namespace
}  // namespace headscope::app
