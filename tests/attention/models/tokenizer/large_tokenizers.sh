#!/usr/bin/env bash
# large_tokenizers.sh ATTENTION_TESTS FOLDER: fetches the large vocabularies into FOLDER and runs their golden tests on
# those that are there. Exits with 77 and a sentence if there are none.
set -euo pipefail

tests=$1 folder=$2
code=0
bash "$(dirname -- "${BASH_SOURCE[0]}")/fetch_tokenizers.sh" "$folder" || code=$?
if ((code != 0 && code != 77)); then exit "$code"; fi
if ! compgen -G "$folder/*.json" >/dev/null; then exit 77; fi
HEADSCOPE_TOKENIZERS=$folder exec "$tests" --gtest_brief=1 --gtest_filter='*LargeTokenizers*'
