#pragma once

#include "attention/formats/files/zip_archive.h"
#include "attention/formats/safetensors.h"

namespace headscope::attention {

// Files of torch.save(): a pickle that describes tensors, and their numbers beside it. In a zip archive since
// PyTorch 1.6 (https://pytorch.org/docs/stable/notes/serialization.html), before it one after another.

/// Whether a file's first bytes, at least eight, are those of torch.save() before PyTorch 1.6.
bool beginsAsOldTorchFile(std::span<const std::uint8_t> start);
/// Whether an archive is one of torch.save().
bool isTorchArchive(const ZipArchive& archive);

/// Reads where the tensors of such a file lie, without running any of its code (PickleReader). What
/// dictionaries and lists hold is named by keys and places, joined by dots: "attentions.0"; of a list alone,
/// "attention.0"; a tensor alone is "array". Numbers and texts become metadata, as do lists of them, as JSON.
/// `dataBegin` is 0. Returns an Error, one sentence, for what PickleReader refuses, for numbers of a type
/// that isn't known, and for tensors beyond the file's numbers.
Result<SafetensorsLayout> readTorchLayout(const RegularFile& file);

/// The texts of a pickled NumPy array of objects, as JSON; nothing if it holds anything else.
std::optional<std::string> pickledTexts(std::span<const std::uint8_t> pickle);

}  // namespace headscope::attention
