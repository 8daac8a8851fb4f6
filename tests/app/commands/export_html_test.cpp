#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "app/scene/scene_json.h"
#include "attention/formats/base64.h"
#include "attention/formats/files/file_io.h"
#include "tests/app/commands/run_headscope.h"
#include "tests/support/matchers.h"
#include "tests/support/temporary_folder.h"

namespace headscope::app {
namespace {

using test::Outcome;
using test::runHeadscope;

std::string textOf(const std::filesystem::path& path) {
  const auto bytes = attention::readFile(path);
  return bytes ? std::string(bytes->begin(), bytes->end()) : "";
}

/// The data that the page contains under `name`.
std::string given(const std::string& page, const std::string& name) {
  const std::string begin = "id=\"given\" data-name=\"" + name + "\">";
  const std::size_t from = page.find(begin), end = page.find("</script>", from);
  if (from == std::string::npos || end == std::string::npos) return "";
  const std::size_t at = from + begin.size();
  return attention::fromBase64(page.substr(at, end - at), attention::Base64::standard).value_or("");
}

class ExportHtml : public ::testing::Test {
 protected:
  ExportHtml() { EXPECT_TRUE(attention::writeFile(page_, "<body><!--DATA--><i></i></body>").ok()); }
  Outcome run(const std::string& scene) const {
    return runHeadscope({"export-html", scene, "-o", out_.string(), "--page", page_.string()});
  }
  const test::TemporaryFolder folder_;
  const std::filesystem::path page_ = folder_ / "page.html", out_ = folder_ / "out.html";
};

TEST_F(ExportHtml, PageContainsTheScene) {
  Scene scene = openingScene();
  scene.setup.input.text = "</script> one two";
  ASSERT_TRUE(writeScene(folder_ / "mine & yours.json", scene).ok());
  const Outcome outcome = run((folder_ / "mine & yours.json").string());
  EXPECT_EQ(outcome.errors, "");
  const std::string page = textOf(out_);
  EXPECT_THAT(page, HasSubstr("</script><i></i></body>"));
  EXPECT_EQ(parseScene(given(page, "mine___yours.json"), "given").value(), scene);
}

TEST_F(ExportHtml, PageContainsRecordedAttentionUnchanged) {
  const std::string bytes("\0\1recorded\xFF", 11);
  ASSERT_TRUE(attention::writeFile(folder_ / "a.npz", bytes).ok());
  EXPECT_EQ(run((folder_ / "a.npz").string()).exitCode, 0);
  EXPECT_EQ(given(textOf(out_), "a.npz"), bytes);
}

TEST_F(ExportHtml, RefusesContentAPageCannotHold) {
  Scene scene = openingScene();
  scene.cost.config = (folder_ / "config.json").string();
  ASSERT_TRUE(writeScene(folder_ / "s.json", scene).ok());
  EXPECT_THAT(run((folder_ / "s.json").string()).errors, HasSubstr("config.json\", which a page"));
  std::filesystem::resize_file(page_, 0);
  EXPECT_THAT(run("").errors, HasSubstr("the name is empty"));
  EXPECT_THAT(runHeadscope({"export-html", "-o", out_.string(), "--page", page_.string()}).errors,
              HasSubstr("has no room for a scene"));
  ASSERT_TRUE(attention::writeFile(folder_ / "a.npz", "x").ok());
  std::filesystem::resize_file(folder_ / "a.npz", 20'000'001);
  ASSERT_TRUE(attention::writeFile(page_, "<!--DATA-->").ok());
  EXPECT_THAT(run((folder_ / "a.npz").string()).errors,
              HasSubstr("20,000,001 bytes, expected up to 20,000,000"));
  EXPECT_FALSE(std::filesystem::exists(out_));
}

}  // namespace
}  // namespace headscope::app
