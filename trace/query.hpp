// SPDX-License-Identifier: MIT
/// @file
/// What is traced: one query, and the keys and values it goes through tile by tile.
#pragma once

#include <string>
#include <vector>

#include "common/attention/matrix.hpp"
#include "common/attention/problem.hpp"

namespace workshop {

/// One query to replay, with its keys and values in tiles.
struct Query {
  std::string title;  // one line: where it comes from
  Matrix<double> q;   // [M][D]
  Matrix<double> k;   // [N][D]
  Matrix<double> v;   // [N][columns]
  int row = 0;        // of q, and of the mask
  Mask mask = Mask::none;
  std::vector<int> tile_keys;  // how many keys each tile holds; together N
};

/// A query written by hand. Tiles are separated by `;`, keys by `,`, the columns of a value by `:`.
/// A number is decimal or log(x), with an optional sign. In terms of Q and K this is D = 1, q = 1,
/// k = logit, so that q k / sqrt(D) is the logit itself.
/// @param logits  "0,0;log(2)"
/// @param values  "1,3;10"
/// @throws Refusal naming --logits or --values, the part that is wrong and what it may be
Query hand_query(const std::string& logits, const std::string& values);

/// Row `row` of the tensor q of a safetensors file.
/// @param block_n  keys a tile holds, from 1 on; the last tile may have fewer
/// @throws Refusal naming the file and the tensor, or --row
Query file_query(const std::string& file, int row, int block_n, Mask mask);

}  // namespace workshop
