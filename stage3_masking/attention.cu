// SPDX-License-Identifier: MIT
/// @file
/// Stage 3: a key that a row may not see gets the score -inf; a row past the end stores nothing.
///
///       stage 1   single tile       softmax of one tile; for many tiles, two sweeps
///       stage 2   online softmax    one sweep that carries (m, l, a)
///   >   stage 3   masking           any N, causal
///       stage 4   tuning            tensor cores, copies in flight, more of the GPU
///
/// Computes     O = softmax(Q K^T / sqrt(D)) V, one head
/// Shapes       Q, K, V, O: [N][D], row-major, contiguous; O in the type of the inputs
/// Requires     1 <= N <= 2048; no mask, or causal: k_col <= q_row
/// Guarantees   the error bound (common/attention/error_bound.hpp); the same bits on every run
/// Not yet      tiles wholly in the future are still visited; scalar arithmetic: stage 4
///
/// Who owns what (128 threads, 8 lanes to a query row, so a warp has 4 rows)
///
///   | thread t     | owns                             | phase   |
///   |--------------|----------------------------------|---------|
///   | row  = t / 8 | one query row, its m and l       | all     |
///   | lane = t % 8 | keys    lane, lane + 8, ...      | 2b, 2c  |
///   |              | columns lane, lane + 8, ... of a | 2c to 3 |
///
/// Shared memory (D = 64: 23,232 bytes)
///
///   | field | shape                  | written | read by                | in |
///   |-------|------------------------|---------|------------------------|----|
///   | q     | [kBlockM][D + 1]       | 1       | the 8 lanes of its row | 2b |
///   | k     | [kBlockN][D + 1]       | 2a      | every warp             | 2b |
///   | v     | [kBlockN][D]           | 2a      | every warp             | 2d |
///   | probs | [kBlockM][kBlockN + 8] | 2c      | the 8 lanes of its row | 2d |
///
///   The padding keeps rows that a warp touches at once in different banks (8 of k; 4 of q, probs).
///
/// Barriers
///
///   B1  q, k, v are complete before any warp reads them           (read after write)
///   B2  a row's 8 lanes see each other's probabilities            (the same, within a warp)
///   B3  all are done with k, v, probs before they are overwritten (write after read)

#include "attention.hpp"

#include "common/attention/dispatch.hpp"
#include "common/attention/stages.hpp"
#include "common/device/simt.hpp"

namespace stage3_masking {

template <int HeadDim>
struct TileShape {
  static constexpr int kHeadDim = HeadDim;
  static constexpr int kBlockM = 16;  // query rows a block owns
  static constexpr int kBlockN = 32;  // keys a tile holds
  static constexpr int kThreads = 128;
  static constexpr int kLanesPerRow = kThreads / kBlockM;       // 8
  static constexpr int kKeysPerLane = kBlockN / kLanesPerRow;   // 4
  static constexpr int kColsPerLane = kHeadDim / kLanesPerRow;  // 2, 4 or 8

  static_assert(32 % kLanesPerRow == 0, "the lanes of a row share a warp: B2 is a warp barrier");
  static_assert(kBlockN % kLanesPerRow == 0, "every lane of a row takes as many keys");
  static_assert(kHeadDim % kLanesPerRow == 0, "every lane of a row takes as many columns");
};

template <typename Tile>
struct SharedTiles {
  float q[Tile::kBlockM][Tile::kHeadDim + 1];
  float k[Tile::kBlockN][Tile::kHeadDim + 1];
  float v[Tile::kBlockN][Tile::kHeadDim];
  float probs[Tile::kBlockM][Tile::kBlockN + 8];
};
static_assert(sizeof(SharedTiles<TileShape<64>>) == 23'232, "the shared-memory map above says so");

/// Copies `kRows` rows of a tensor, from `first_row` on, into shared memory as FP32: all threads.
///
/// Counted and unrolled, so that a thread waits once, for all of its loads.
///
/// Rows past the end become 0. Their p is 0 too, but 0 times what lies there could be NaN.
template <typename Tile, int kRows, int kPitch, typename Element>
__device__ void load_tile(float (&tile_smem)[kRows][kPitch],     // [kRows][D]
                          const Element* tensor, int first_row,  // [N][D]
                          int seq_len) {
  static_assert(kRows * Tile::kHeadDim % Tile::kThreads == 0, "each thread copies as many");
#pragma unroll
  for (int first = 0; first < kRows * Tile::kHeadDim; first += Tile::kThreads) {
    const int i = first + threadIdx.x;
    const int row = i / Tile::kHeadDim;
    const int col = i % Tile::kHeadDim;
    tile_smem[row][col] = first_row + row < seq_len
                              ? simt::to_float(tensor[(first_row + row) * Tile::kHeadDim + col])
                              : 0.0f;
  }
}

/// scores = q k^T * softmax_scale for the keys of this lane.
template <typename Tile>
__device__ void tile_scores(float (&scores)[Tile::kKeysPerLane], const SharedTiles<Tile>& smem,
                            int row, int lane, float softmax_scale) {
  for (int i = 0; i < Tile::kKeysPerLane; ++i) {
    const int key = i * Tile::kLanesPerRow + lane;
    float dot = 0;
    for (int d = 0; d < Tile::kHeadDim; ++d) dot += smem.q[row][d] * smem.k[key][d];
    scores[i] = dot * softmax_scale;
  }
}

// [mask_scores]
/// s = -inf, and so p = 0, for keys past the end and, if causal, for keys in the future of the row.
///
/// Every row sees key 0, in the first tile: m is finite from there on, and a tile that is masked
/// whole leaves (m, l, a) bitwise as they were (alpha = exp(m - m) = 1, every p = exp(-inf) = 0).
template <typename Tile>
__device__ void mask_scores(float (&scores)[Tile::kKeysPerLane], int q_row, int first_key, int lane,
                            int seq_len, bool causal) {
  for (int i = 0; i < Tile::kKeysPerLane; ++i) {
    const int k_col = first_key + i * Tile::kLanesPerRow + lane;
    const bool visible = k_col < seq_len && (!causal || k_col <= q_row);
    if (!visible) scores[i] = -INFINITY;
  }
}
// [mask_scores]

// [update_row_stats]
/// The online step: takes a row to its new maximum; `scores` becomes probabilities relative to it.
///
///     m' = max(m, max s)    alpha = exp(m - m')    p = exp(s - m')    l' = alpha l + sum p
///
/// All lanes of the row end with the same m' and l'.
/// @returns alpha, which is 0 on the first tile, where m = -inf
template <typename Tile>
__device__ float update_row_stats(float (&scores)[Tile::kKeysPerLane], float& row_max,
                                  float& row_sum) {
  float new_max = row_max;
  for (float score : scores) new_max = fmaxf(new_max, score);
  new_max = simt::reduce_max<Tile::kLanesPerRow>(new_max);

  float tile_sum = 0;
  for (float& score : scores) {
    score = expf(score - new_max);
    tile_sum += score;
  }
  tile_sum = simt::reduce_sum<Tile::kLanesPerRow>(tile_sum);

  const float alpha = expf(row_max - new_max);
  row_sum = alpha * row_sum + tile_sum;
  row_max = new_max;
  return alpha;
}
// [update_row_stats]

/// Gives p to the other lanes of the row, rounded to the input type as a tensor core takes it.
/// (row_sum has summed it unrounded.)
template <typename Tile, typename Element>
__device__ void store_probs(SharedTiles<Tile>& smem, const float (&probs)[Tile::kKeysPerLane],
                            int row, int lane) {
  for (int i = 0; i < Tile::kKeysPerLane; ++i) {
    const int key = i * Tile::kLanesPerRow + lane;
    smem.probs[row][key] = simt::to_float(simt::from_float<Element>(probs[i]));
  }
}

/// a' = alpha a: what was summed relative to the old maximum becomes relative to the new one.
template <typename Tile>
__device__ void rescale_output(float (&acc_o)[Tile::kColsPerLane], float alpha) {
  for (float& a : acc_o) a *= alpha;
}

/// a' = a + p V for the columns of this lane.
template <typename Tile>
__device__ void accumulate_pv(float (&acc_o)[Tile::kColsPerLane], const SharedTiles<Tile>& smem,
                              int row, int lane) {
  for (int i = 0; i < Tile::kColsPerLane; ++i) {
    const int col = i * Tile::kLanesPerRow + lane;
    for (int key = 0; key < Tile::kBlockN; ++key) {
      acc_o[i] += smem.probs[row][key] * smem.v[key][col];
    }
  }
}

/// O = a / l for the columns of this lane: one division, one rounding.
///
/// Each row has one owner, and the owner of a row past the end stores nothing.
template <typename Tile, typename Element>
__device__ void store_output(Element* o, int q_row, int seq_len,  // [N][D]
                             const float (&acc_o)[Tile::kColsPerLane], float row_sum, int lane) {
  if (q_row >= seq_len) return;
  for (int i = 0; i < Tile::kColsPerLane; ++i) {
    const int col = i * Tile::kLanesPerRow + lane;
    o[q_row * Tile::kHeadDim + col] = simt::from_float<Element>(acc_o[i] / row_sum);
  }
}

/// One block an SM is enough (the 1): the compiler saves no registers so that more would fit.
template <typename Tile, typename Element>
__global__ void __launch_bounds__(Tile::kThreads, 1)
    attention_kernel(const Element* q,  // [N][D]
                     const Element* k,  // [N][D]
                     const Element* v,  // [N][D]
                     Element* o,        // [N][D]
                     int seq_len, float softmax_scale, bool causal) {
  auto& smem = *simt::dynamic_shared<SharedTiles<Tile>>();
  const int row = threadIdx.x / Tile::kLanesPerRow;
  const int lane = threadIdx.x % Tile::kLanesPerRow;
  const int m_block = blockIdx.x;
  const int q_row = m_block * Tile::kBlockM + row;
  const int num_n_blocks = (seq_len + Tile::kBlockN - 1) / Tile::kBlockN;

  // 1  The queries of this block stay for the whole sweep.
  load_tile<Tile>(smem.q, q, m_block * Tile::kBlockM, seq_len);

  float row_max = -INFINITY;             // m
  float row_sum = 0;                     // l
  float acc_o[Tile::kColsPerLane] = {};  // a

  // [sweep]
  // 2  One sweep over the keys, a tile at a time.
  for (int n_block = 0; n_block < num_n_blocks; ++n_block) {
    // 2a  The keys and values of this tile.
    load_tile<Tile>(smem.k, k, n_block * Tile::kBlockN, seq_len);
    load_tile<Tile>(smem.v, v, n_block * Tile::kBlockN, seq_len);
    __syncthreads();  // B1

    // 2b  Scores: this row against the keys of this lane, as far as the row may see them.
    float scores[Tile::kKeysPerLane];
    tile_scores<Tile>(scores, smem, row, lane, softmax_scale);
    mask_scores<Tile>(scores, q_row, n_block * Tile::kBlockN, lane, seq_len, causal);

    // 2c  The row moves to its new maximum, and with it what it has summed so far.
    const float alpha = update_row_stats<Tile>(scores, row_max, row_sum);
    rescale_output<Tile>(acc_o, alpha);
    store_probs<Tile, Element>(smem, scores, row, lane);
    __syncwarp();  // B2

    // 2d  The share of this tile.
    accumulate_pv<Tile>(acc_o, smem, row, lane);
    simt::trace(q_row, n_block, row_max, alpha, row_sum, acc_o);
    __syncthreads();  // B3
  }
  // [sweep]

  // 3  Divide once, round once.
  store_output<Tile>(o, q_row, seq_len, acc_o, row_sum, lane);
}

/// One block for every kBlockM query rows or what is left of them; the keys are a loop inside it.
template <typename Tile, typename Element>
void launch_attention(const workshop::AttentionProblem& problem, simt::Stream stream) {
  const dim3 grid((problem.seq_len() + Tile::kBlockM - 1) / Tile::kBlockM);
  simt::launch({grid, Tile::kThreads, sizeof(SharedTiles<Tile>), stream},
               attention_kernel<Tile, Element>, static_cast<const Element*>(problem.q.data),
               static_cast<const Element*>(problem.k.data),
               static_cast<const Element*>(problem.v.data), static_cast<Element*>(problem.o.data),
               problem.seq_len(), problem.softmax_scale(), problem.causal());
}

void attention(const workshop::AttentionProblem& problem, simt::Stream stream) {
  workshop::require_promised(problem, workshop::stage(3));
  workshop::dispatch(problem, [&]<typename Element, int kHeadDim>() {
    launch_attention<TileShape<kHeadDim>, Element>(problem, stream);
  });
}

}  // namespace stage3_masking
