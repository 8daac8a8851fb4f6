// Models that read pictures, compared with their equations in double precision, and the preparation of
// pictures.

#include <gtest/gtest.h>

#include "attention/models/vision/vision_model.h"
#include "tests/attention/models/golden_models.h"
#include "tests/attention/models/made_up_checkpoint.h"
#include "tests/attention/models/vision_files.h"
#include "tests/support/matchers.h"

namespace headscope::attention::test {
namespace {

std::vector<Wide> wideColours(const ImageProcessor& processor, const RgbImage& fitted) {
  std::vector<Wide> colours(3, Wide(fitted.height, fitted.width));
  for (Index y = 0; y < fitted.height; ++y)
    for (Index x = 0; x < fitted.width; ++x)
      for (std::size_t c = 0; c < 3; ++c)
        colours[c](y, x) = (fitted.rgb[static_cast<std::size_t>(3 * (y * fitted.width + x)) + c] / 255.0 -
                            processor.mean[c]) /
                           processor.deviation[c];
  return colours;
}

/// A folder with a synthetic model, and the outcomes of the equations and of the model on a picture of 30 ×
/// 20 pixels.
struct Compared {
  explicit Compared(const PlainVision& plain, DType dtype = DType::F32)
      : picture(patternedPicture(30, 20)),
        processor(*ImageProcessor::read(plain.processor, "preprocessor_config.json", "ViT")),
        tensors(dtype, 5),
        expected(plain.run(tensors, wideColours(processor, *processor.fit(picture)))),
        folder(plain.config, tensors.file()) {}

  RgbImage picture;
  ImageProcessor processor;
  MadeUpTensors tensors;
  PlainOutcome expected;
  MadeUpCheckpoint folder;
};

class VisionModels : public testing::TestWithParam<PlainVision> {};

TEST_P(VisionModels, MatchesEquations) {
  for (const DType dtype : {DType::F32, DType::F16, DType::F64}) {
    const Compared made(GetParam(), dtype);
    const auto base = openModel(made.folder.path());
    EXPECT_EQ(base->config().notes.size(), GetParam().config.find("\"clip\"") != std::string::npos ? 1u : 0u);
    const auto on = checked(modelOnPicture(base, made.processor, made.picture));
    EXPECT_EQ(on->rows, GetParam().rows);
    EXPECT_EQ(on->cols, GetParam().cols);
    EXPECT_EQ(on->before, GetParam().before);
    EXPECT_EQ(std::ssize(on->names()), on->tokens());
    std::vector<Index> ids(static_cast<std::size_t>(on->tokens()));
    for (std::size_t i = 0; i < ids.size(); ++i) ids[i] = static_cast<Index>(i);
    ModelSession session(on->model);
    PassRequest request;
    request.hidden = true;
    const auto pass = checked(session.append(ids, request));
    const auto near = [&](const Wide& wide, const Matrix& found, const std::string& what) {
      EXPECT_LE(distance(wide.cast<float>(), found), 1e-5 * std::max(1.0, wide.cwiseAbs().maxCoeff()))
          << what << ", " << name(dtype);
    };
    near(made.expected.hidden[0], pass->embedded, "embedded");
    ASSERT_EQ(pass->layers.size(), made.expected.attention.size());
    for (std::size_t i = 0; i < pass->layers.size(); ++i) {
      for (std::size_t h = 0; h < made.expected.attention[i].size(); ++h) {
        const Matrix found = pass->layers[i]->weights[static_cast<Index>(h)];
        near(made.expected.attention[i][h], found, "weights");
        EXPECT_LE((found.rowwise().sum().array() - 1).abs().maxCoeff(), 1e-5f);
      }
      near(made.expected.hidden[i + 1], pass->layers[i]->hidden, "layer " + std::to_string(i));
    }
    EXPECT_TRUE(pass->logits.size() == 0);
    EXPECT_EQ(base->classifies(), made.expected.logits.size() > 0);
    EXPECT_EQ(base->whyNoPredictions().empty(), base->classifies());
    if (!base->classifies()) continue;
    EXPECT_EQ(std::ssize(base->config().picture->classes), made.expected.logits.cols());
    near(made.expected.logits, on->model->classLogits(pass->stream), "class logits");
  }
}

INSTANTIATE_TEST_SUITE_P(Families, VisionModels, testing::ValuesIn(plainVisionModels()),
                         [](const auto& info) { return info.param.name; });

// Without positions, moving a picture's patches moves the weights in the same way.
TEST(Vision, SwappedPatchesSwapTheirWeights) {
  Compared made(smallVit());
  SafetensorsFile file = made.tensors.file();
  std::ranges::fill(file.tensors.at("vit.embeddings.position_embeddings").bytes, std::uint8_t{0});
  const MadeUpCheckpoint folder(smallVit().config, file);
  RgbImage one = patternedPicture(8, 8), other = one;
  for (Index y = 0; y < 8; ++y)  // the left and right halves swap places
    for (Index i = 0; i < 12; ++i)
      std::swap(other.rgb[static_cast<std::size_t>(24 * y + i)],
                other.rgb[static_cast<std::size_t>(24 * y + 12 + i)]);
  const auto weightsOf = [&](const RgbImage& picture) {
    const auto on = modelOnPicture(openModel(folder.path()), made.processor, picture);
    ModelSession session(on->model);
    return Matrix(session.append({{0, 1, 2, 3, 4}}, {})->layers[1]->weights[0]);
  };
  const Matrix a = weightsOf(one), b = weightsOf(other);
  const Index place[] = {0, 2, 1, 4, 3};
  for (Index q = 0; q < 5; ++q)
    for (Index k = 0; k < 5; ++k) EXPECT_NEAR(a(q, k), b(place[q], place[k]), 1e-5f);
}

TEST(Vision, TakesClassNamesFromConfig) {
  const Compared made(smallVit(3));
  EXPECT_THAT(openModel(made.folder.path())->config().picture->classes,
              testing::ElementsAre("class a", "class b", "class c"));
  const MadeUpCheckpoint other(smallVit(2).config, made.tensors.file());
  EXPECT_THAT(Model::open(other.path()).error().message, HasSubstr("classifier.weight"));
  const auto alone = openModel(Compared(smallVit()).folder.path());
  EXPECT_THAT(alone->whyNoPredictions(), HasSubstr("the file has no classifier.weight"));
}

TEST(Vision, RefusesInputsThatDoNotFit) {
  const Compared made(smallVit());
  const auto base = openModel(made.folder.path());
  ModelSession session(base);
  EXPECT_THAT(session.append({{0, 1}}, {}).error().message, HasSubstr("expected a picture"));
  ImageProcessor larger = made.processor;
  larger.size = {12, 12};
  EXPECT_THAT(modelOnPicture(base, larger, made.picture).error().message,
              HasSubstr("makes pictures 12 × 12 pixels, expected 8 × 8"));
  EXPECT_THAT(modelOnPictureFile(base, "a.png").error().message,
              HasSubstr("has no preprocessor_config.json"));
  EXPECT_THAT(modelOnPictureFile(openModel(goldenModel("gpt2")), "a.png").error().message,
              HasSubstr("reads text, expected a model that reads pictures"));
}

TEST(PictureProcessors, DefaultsDependOnProcessorClass) {
  const auto read = [](const char* json) { return *ImageProcessor::read(json, "p", "ViT"); };
  const ImageProcessor vit = read("{}"), clip = read(R"({"image_processor_type": "CLIPImageProcessorFast"})");
  EXPECT_EQ(vit.size, (ImageProcessor::Size{224, 224}));
  EXPECT_FALSE(vit.crop);
  EXPECT_EQ(vit.mean[0], 0.5);
  EXPECT_EQ(clip.shortest, 224);
  EXPECT_EQ(clip.crop, (ImageProcessor::Size{224, 224}));
  EXPECT_EQ(clip.filter, ResampleFilter::bicubic);
  EXPECT_EQ(read(R"({"size": 99})").size, (ImageProcessor::Size{99, 99}));
  EXPECT_EQ(read(R"({"feature_extractor_type": "CLIPFeatureExtractor", "size": 99})").shortest, 99);
  EXPECT_EQ(read(R"({"do_resize": false, "do_normalize": false, "do_rescale": false})").rescale, 1);
  EXPECT_THAT(read(R"({"foo": 1})").notes, testing::ElementsAre(HasSubstr("\"foo\"")));
}

TEST(PictureProcessors, RefusesUnsupportedSettings) {
  const std::pair<const char*, const char*> kCases[] = {
      {"[]", "p"},
      {R"({"image_processor_type": "ConvNextImageProcessor"})", "ViTImageProcessor"},
      {R"({"resample": 6})", "resample"},
      {R"({"size": {"longest_edge": 3}})", "longest_edge"},
      {R"({"size": {"height": 3}})", "size.width"},
      {R"({"size": 99999999})", "4096"},
      {R"({"image_mean": [1, 2]})", "a list of 3"},
      {R"({"image_std": [1, 0, 1]})", "nonzero numbers"},
      {R"({"do_center_crop": true})", "crop_size"},
      {R"({"do_pad": true})", "do_pad"}};
  for (const auto& [json, what] : kCases) {
    const auto read = ImageProcessor::read(json, "p", "ViT");
    ASSERT_FALSE(read.ok()) << json;
    EXPECT_THAT(read.error().message, testing::StartsWith("p")) << json;
    EXPECT_THAT(read.error().message, HasSubstr(what)) << json;
  }
}

TEST(PictureProcessors, ResizesShorterSideThenCrops) {
  const auto processor = *ImageProcessor::read(
      R"({"image_processor_type": "CLIPImageProcessor", "size": 10, "crop_size": {"height": 6, "width": 12}})",
      "p", "");
  const auto fitted = checked(processor.fit(patternedPicture(30, 20)));
  EXPECT_EQ(fitted->width, 12);
  EXPECT_EQ(fitted->height, 6);
  // 10 × 15 pixels: a black column on each side.
  const auto narrow = checked(processor.fit(patternedPicture(20, 30)));
  EXPECT_EQ(narrow->width, 12);
  for (const Index x : {Index{0}, Index{11}}) EXPECT_EQ(narrow->rgb[static_cast<std::size_t>(3 * x)], 0);
}

// Worked out by hand from the filters' definitions.
TEST(Resampling, MatchesFilterDefinitions) {
  const auto halved = resampleSums(4, 2, ResampleFilter::bilinear);
  // Center 1, support 2: triangle of half-width 2 at distances 0.5, 0.5 and 1.5.
  ASSERT_EQ(halved[0].shares.size(), 3u);
  EXPECT_NEAR(halved[0].shares[0], 0.75 / 1.75, 1e-12);
  EXPECT_NEAR(halved[0].shares[2], 0.25 / 1.75, 1e-12);
  RgbImage row{4, 1, {0, 0, 0, 100, 100, 100, 200, 200, 200, 40, 40, 40}};
  EXPECT_EQ(resized(row, 2, 1, ResampleFilter::bilinear).rgb[0], 71);  // (75 + 50) / 1.75 = 71.43
  for (const auto& sums : {cubicSums(3, 7), cubicSums(9, 2), resampleSums(3, 7, ResampleFilter::lanczos)})
    for (const ResampleSum& sum : sums) {
      double whole = 0;
      for (const double share : sum.shares) whole += share;
      EXPECT_NEAR(whole, 1, 1e-12);
    }
  // A picture of a single colour keeps it.
  const RgbImage grey{5, 7, std::vector<std::uint8_t>(105, 91)};
  for (const std::uint8_t c : resized(grey, 3, 11, ResampleFilter::bicubic).rgb) EXPECT_EQ(c, 91);
}

}  // namespace

void PrintTo(const PlainVision& model, std::ostream* to) {
  *to << model.name;
}

}  // namespace headscope::attention::test
