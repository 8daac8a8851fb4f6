#include "app/compute/file_job.h"

#include <new>

#include "app/compute/layer_file.h"
#include "app/compute/mask_picture.h"
#include "app/scene/fields.h"
#include "app/scene/scene_json.h"

namespace headscope::app {

using attention::Error;
using attention::Result;

namespace {

Result<LoadedWeights> readWeights(const std::filesystem::path& path, Index heads) {
  Result<attention::AttentionProblem> layer = readLayerFile(path, heads);
  if (!layer) return layer.error();
  const attention::AttentionConfig& config = layer->config;
  // attend takes any layer; a scene takes over these, and they have to be legal in one.
  struct Taken {
    const char *what, *field;
    double value;
  };
  for (const Taken& taken :
       {Taken{"number of heads", "model.heads", static_cast<double>(config.heads)},
        Taken{"head size", "model.head_dim", static_cast<double>(config.headDim)},
        Taken{"model dim", "model.model_dim", static_cast<double>(config.modelDim)},
        Taken{"soft-cap", "model.softcap", static_cast<double>(config.softcap.value_or(0))},
        Taken{"RoPE theta", "model.rope_theta", config.ropeTheta.value_or(1)}})
    if (const Field& field = fieldAt(taken.field); !allows(field, taken.value))
      return Error{path.filename().string() + ": the " + taken.what + " is " + shortNumber(taken.value) +
                   ", expected " + valuesText(field) + " in a scene"};
  return LoadedWeights{config, layer->projections.q.bias.size() > 0};
}

Result<attention::Table> readEmbeddings(const std::filesystem::path& path) {
  Result<attention::Table> table = attention::readTable(path);
  if (!table) return table;
  const std::string name = path.filename().string();
  if (table->values.rows() > kMaxTokens || table->values.cols() > kMaxModelDim)
    return Error{name + ": the table is " + attention::shapeText(table->values.rows(), table->values.cols()) +
                 ", expected at most " + attention::shapeText(kMaxTokens, kMaxModelDim) +
                 " (tokens × dimensions)"};
  return table;
}

Result<attention::MaskFile> readMask(const FileRequest& request) {
  Result<attention::MaskFile> file = attention::readMaskFile(request.path, request.convention);
  if (file.ok() && std::max(file->cells->queries, file->cells->keys) > kMaxTokens)
    return Error{request.path.filename().string() + ": the mask is " + std::to_string(file->cells->queries) +
                 " × " + std::to_string(file->cells->keys) + ", the window shows at most " +
                 std::to_string(kMaxTokens) + " a side"};
  return file;
}

/// As a picture, one pixel for each cell, by the ending .png; otherwise as numbers.
Result<Saved> saveMask(const FileRequest& request) {
  const attention::MaskFormula& mask = *request.formula;
  const attention::Status written = request.path.extension() == ".png"
                                        ? writeMaskPicture(request.path, mask, mask.variantOf(request.head))
                                        : attention::writeMaskFile(request.path, mask, request.convention);
  if (!written) return written.error();
  return Saved{};
}

template <typename T>
void fill(FileAnswer& answer, Result<T> result) {
  if (result.ok())
    answer.content = *std::move(result);
  else
    answer.content = result.error();
}

}  // namespace

FileAnswer readRequested(const FileRequest& request) {
  FileAnswer answer;
  answer.request = request;
  try {
    switch (request.kind) {
      case FileRequest::Kind::scene:
        fill(answer, readScene(request.path));
        break;
      case FileRequest::Kind::weights:
        fill(answer, readWeights(request.path, request.heads));
        break;
      case FileRequest::Kind::table:
        fill(answer, readEmbeddings(request.path));
        break;
      case FileRequest::Kind::inspectMask:
        fill(answer, attention::possibleConventions(request.path));
        break;
      case FileRequest::Kind::mask:
        fill(answer, readMask(request));
        break;
      case FileRequest::Kind::saveMask:
        fill(answer, saveMask(request));
        break;
    }
  } catch (const std::bad_alloc&) {
    answer.content = Error{request.path.filename().string() + ": there is not enough free memory to read it"};
  }
  return answer;
}

Result<FileRequest> requestFor(const std::filesystem::path& path) {
  const std::string ending = path.extension().string();
  if (ending == ".json") return FileRequest{FileRequest::Kind::scene, path};
  if (ending == ".safetensors") return FileRequest{FileRequest::Kind::weights, path};
  if (ending == ".npy" || ending == ".csv" || ending == ".tsv" || ending == ".txt")
    return FileRequest{FileRequest::Kind::table, path};
  return Error{path.filename().string() + " has the ending \"" + ending +
               "\"; expected .json (a scene), .safetensors (weights), .npy or .csv (embeddings)"};
}

}  // namespace headscope::app
