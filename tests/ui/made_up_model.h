#pragma once

#include <stdexcept>
#include <string>

#include "tests/attention/models/made_up_checkpoint.h"
#include "tests/attention/models/tokenizer/tokenizer_json.h"
#include "tests/support/ui_driver.h"

namespace headscope::test {

/// The folder of a family's synthetic model, by its name in plainModels().
inline attention::test::MadeUpCheckpoint madeUpFolder(const std::string& name) {
  const attention::test::PlainModel& model = attention::test::plainNamed(name);
  attention::test::MadeUpTensors tensors(attention::DType::F32, 5);
  (void)model.run(tensors, {1, 2, 3});
  return attention::test::MadeUpCheckpoint(model.config, tensors.file());
}

/// Opens the model in a window of 1920 × 1080, with a tokenizer of single letters. If it reads text, it reads
/// the five tokens of "abcad". Throws std::runtime_error with the window's message if it doesn't open.
inline void openMadeUp(UiDriver& ui, const attention::test::MadeUpCheckpoint& folder) {
  putFile(folder / "tokenizer.json", attention::test::bytePairJson({"a", "b", "c", "d"}).dump());
  ui.resize(1920, 1080).drop({folder.path().string()});
  if (!ui.scene().setup.subject.opened) throw std::runtime_error(ui.view().messages.error);
  if (ui.has("text")) ui.replaceText("text", "abcad");
  ui.draw();
}

}  // namespace headscope::test
