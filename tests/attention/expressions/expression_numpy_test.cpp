#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>

#include "attention/expressions/expression.h"
#include "test_paths.h"

namespace headscope::attention {
namespace {

using Json = nlohmann::json;

Array arrayOf(const Json& json) {
  return {json.at("shape").get<ArrayShape>(), json.at("values").get<std::vector<double>>()};
}

class CaseNames : public ExpressionNames {
 public:
  explicit CaseNames(const Json& json) {
    for (const auto& [name, value] : json.items()) arrays_.emplace(name, arrayOf(value));
  }
  Result<Array> value(const std::string& name) const override {
    const auto found = arrays_.find(name);
    if (found == arrays_.end()) return Error{name + " is unknown"};
    return found->second;
  }
  Result<Array> call(const std::string& function, std::span<const ExpressionArgument>) const override {
    return Error{function + " is unknown"};
  }

 private:
  std::map<std::string, Array> arrays_;
};

TEST(ExpressionNumPy, RandomExpressionsMatchNumPy) {
  std::ifstream file(std::string(HEADSCOPE_TEST_DIR) + "/attention/expressions/cases.json");
  const Json all = Json::parse(file);
  const CaseNames names(all.at("names"));
  ASSERT_GE(all.at("cases").size(), 600u);
  for (const Json& each : all.at("cases")) {
    const auto text = each.at("expression").get<std::string>();
    const auto expression = Expression::parse(text);
    ASSERT_TRUE(expression.ok()) << text << "\n" << expression.error().message;
    const auto value = expression->evaluate(names);
    ASSERT_TRUE(value.ok()) << text << "\n" << value.error().message;
    const Array wanted = arrayOf(each);
    ASSERT_EQ(shapeText(value->shape()), shapeText(wanted.shape())) << text;
    for (Index i = 0; i < wanted.size(); ++i) {
      const double found = value->at(i), expected = wanted.at(i);
      ASSERT_NEAR(found, expected, 1e-9 * std::max(1.0, std::abs(expected))) << text << " at " << i;
    }
  }
}

}  // namespace
}  // namespace headscope::attention
