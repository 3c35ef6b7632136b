// SPDX-License-Identifier: MIT
/// @file
/// A query out of a file of Q, K and V.
#include "query.hpp"

#include <algorithm>
#include <filesystem>

#include <fmt/format.h>

#include "common/attention/inputs.hpp"
#include "common/attention/safetensors.hpp"

namespace workshop {

Query file_query(const std::string& file, int row, int block_n, Mask mask) {
  const Inputs inputs = inputs_from(read_safetensors(file), file);
  require_finite(inputs);
  const int seq_len = inputs.seq_len();
  if (row >= seq_len) {
    throw Refusal(
        fmt::format("--row '{}'; allowed: 0 to {}, the rows of {}", row, seq_len - 1, file));
  }
  Query query{.title = {},
              .q = widen(inputs.type, inputs.q),
              .k = widen(inputs.type, inputs.k),
              .v = widen(inputs.type, inputs.v),
              .row = row,
              .mask = mask,
              .tile_keys = {}};
  for (int left = seq_len; left > 0; left -= query.tile_keys.back()) {
    query.tile_keys.push_back(std::min(left, block_n));
  }
  query.title = fmt::format("query {} of {}, D = {}, {}{}", row,
                            std::filesystem::path(file).filename().string(), inputs.head_dim(),
                            name_of(inputs.type), mask == Mask::causal ? ", causal" : "");
  return query;
}

}  // namespace workshop
