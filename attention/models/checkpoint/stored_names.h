#pragma once

#include <map>
#include <string>
#include <vector>

#include "attention/models/checkpoint/checkpoint.h"
#include "attention/models/checkpoint/tensor_finder.h"

namespace headscope::attention {

struct TensorNames;  // families.h

/// Adds the names that save_model() of safetensors dropped because several names shared one tensor: its
/// metadata map each of them to the name that was kept.
void addOtherNames(const std::map<std::string, std::string>& metadata,
                   std::map<std::string, TensorView>& tensors);

/// Removes from the tensors' names what programs that wrap a model add to them, such as "_orig_mod.", unless
/// the family's own names have it too. Returns what was removed, one sentence each.
std::vector<std::string> unwrapNames(std::map<std::string, TensorView>& tensors, const TensorNaming& naming);

/// Returns an Error if the tensors are changes to a model's weights that PEFT keeps apart (Hu et al. 2021,
/// LoRA), with or without the weights themselves.
Status refuseAdapters(const std::map<std::string, TensorView>& tensors, const std::filesystem::path& folder);

/// Finds the table of token embeddings, [vocabulary, embeddingSize]. A file may store it only under the head's
/// name, if config.json ties the two, and a table that two stacks share only under the other stack's. Adds a
/// note if a stack's own table differs from the one it is tied to.
MappedRows embeddingTable(TensorFinder& body, TensorFinder& head, const ModelConfig& config,
                          const TensorNames& names, std::vector<std::string>& notes);

/// Whether two tables of one size differ in any of 64 rows, including the first and the last. A separately
/// trained head differs in all of them, and reading a whole table takes as long as reading a fifth of a small
/// model.
bool differ(const MappedRows& one, const MappedRows& other);

}  // namespace headscope::attention
