#!/usr/bin/env bash
# slow_products.sh OPTIMISED... -- OTHER...: no object that is compiled for quick building holds a matrix product of
# Eigen's. The linker keeps one of all functions of a name, and would give that one to those that compute as well.
# Of the optimised objects at least one has to hold one: otherwise their names have changed.
set -euo pipefail
products='Eigen::internal::(gebp_kernel|general_matrix_matrix_product|general_matrix_vector_product)<'

# productsOf OBJECT...: the objects that hold one.
productsOf() {
  local object
  for object in "$@"; do
    # To its end, so that nm isn't cut off.
    if nm -C --defined-only "$object" 2>/dev/null | grep -cE "$products" >/dev/null; then printf '%s\n' "$object"; fi
  done
}

optimised=()
while [[ $1 != -- ]]; do optimised+=("$1") && shift; done
shift
if [[ -z $(productsOf "${optimised[@]}") ]]; then
  echo "No optimised object holds a product of Eigen's: what this looks for has another name" >&2
  exit 1
fi
found=$(productsOf "$@")
if [[ -n $found ]]; then
  echo "These hold matrix products of Eigen's, but are compiled with less than -O3:" >&2
  printf '%s\n' "$found" >&2
  exit 1
fi
