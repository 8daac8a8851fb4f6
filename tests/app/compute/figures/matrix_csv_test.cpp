#include <gtest/gtest.h>

#include "app/compute/figures/picture_file.h"

namespace headscope::app {
namespace {

TEST(MatrixCsv, QuotesTokensAndWritesExactNumbers) {
  attention::Matrix values(2, 2);
  values << 0.1f, 1.0f / 3, -0.0f, 1e-20f;
  const std::vector<attention::Token> queries{{"a"}, {"he said \"no\""}}, keys{{","}, {"b"}};
  EXPECT_EQ(matrixCsv({values.data(), 2, 2}, queries, keys),
            ",\",\",b\na,0.1,0.33333334\n\"he said \"\"no\"\"\",-0,1e-20\n");
}

}  // namespace
}  // namespace headscope::app
