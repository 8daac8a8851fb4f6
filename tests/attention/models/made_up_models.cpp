#include "tests/attention/models/made_up_models.h"

#include "attention/models/vision/vision_model.h"
#include "tests/attention/models/plain/plain_encoder_decoder.h"
#include "tests/attention/models/plain/plain_vision.h"

namespace headscope::attention::test {
namespace {

template <class Plain, class... Inputs>
MadeUpModel madeUp(const Plain& plain, const Inputs&... inputs) {
  MadeUpTensors tensors(DType::F32, 5);
  (void)plain.run(tensors, inputs...);  // makes the tensors that the equations ask for
  return {plain.name, plain.config, tensors.file()};
}

std::vector<MadeUpModel> makeAll() {
  const std::vector<Index> ids{3, 30, 0}, source{2, 8};
  std::vector<MadeUpModel> models;
  for (const PlainModel& plain : plainModels()) models.push_back(madeUp(plain, ids));
  for (const PlainPair& plain : plainPairs()) models.push_back(madeUp(plain, source, ids));
  for (const PlainVision& plain : plainVisionModels()) {
    const auto processor = ImageProcessor::read(plain.processor, "preprocessor_config.json", "ViT");
    const auto fitted = processor->fit(RgbImage{30, 20, std::vector<std::uint8_t>(3 * 30 * 20)});
    models.push_back(madeUp(plain, std::vector<Wide>(3, Wide::Zero(fitted->height, fitted->width))));
  }
  return models;
}

}  // namespace

const std::vector<MadeUpModel>& madeUpModels() {
  static const std::vector<MadeUpModel> models = makeAll();
  return models;
}

}  // namespace headscope::attention::test
