// SPDX-License-Identifier: MIT
/// @file
/// Stage 1: a tile of scores, its softmax, PV from it; for many tiles, two sweeps over the keys.
///
///   >   stage 1   single tile       softmax of one tile; for many tiles, two sweeps
///       stage 2   online softmax    one sweep that carries (m, l, a)
///       stage 3   masking           any N, causal
///       stage 4   tuning            tensor cores, copies in flight, more of the GPU
///
/// Computes     O = softmax(Q K^T / sqrt(D)) V, one head
/// Shapes       Q, K, V, O: [N][D], row-major, contiguous; O in the type of the inputs
/// Requires     N a multiple of kBlockN = 32; no mask (the launcher refuses anything else)
/// Guarantees   the error bound (common/attention/error_bound.hpp); the same bits on every run
/// Not yet      one sweep instead of two: stage 2; ragged N and causal: stage 3
///
/// Who owns what (128 threads, 8 lanes to a query row, so a warp has 4 rows)
///
///   | thread t     | owns                             | phase   |
///   |--------------|----------------------------------|---------|
///   | row  = t / 8 | one query row, its m and l       | all     |
///   | lane = t % 8 | keys    lane, lane + 8, ...      | 2, 3b-c |
///   |              | columns lane, lane + 8, ... of a | 3d to 4 |
///
/// Shared memory (D = 64: 23,232 bytes)
///
///   | field | shape                  | written | read by                | in     |
///   |-------|------------------------|---------|------------------------|--------|
///   | q     | [kBlockM][D + 1]       | 1       | the 8 lanes of its row | 2b, 3b |
///   | k     | [kBlockN][D + 1]       | 2a, 3a  | every warp             | 2b, 3b |
///   | v     | [kBlockN][D]           | 3a      | every warp             | 3d     |
///   | probs | [kBlockM][kBlockN + 8] | 3c      | the 8 lanes of its row | 3d     |
///
///   The padding keeps rows that a warp touches at once in different banks (8 of k; 4 of q, probs).
///
/// Barriers
///
///   B1  q, k are complete before any warp reads them              (read after write)
///   B2  all are done with k before it is overwritten              (write after read)
///   B3  k, v are complete before any warp reads them              (read after write)
///   B4  a row's 8 lanes see each other's probabilities            (the same, within a warp)
///   B5  all are done with k, v, probs before they are overwritten (write after read)

#include "attention.hpp"

#include "common/attention/dispatch.hpp"
#include "common/attention/stages.hpp"
#include "common/device/simt.hpp"

namespace stage1_single_tile {

template <int HeadDim>
struct TileShape {
  static constexpr int kHeadDim = HeadDim;
  static constexpr int kBlockM = 16;  // query rows a block owns
  static constexpr int kBlockN = 32;  // keys a tile holds
  static constexpr int kThreads = 128;
  static constexpr int kLanesPerRow = kThreads / kBlockM;       // 8
  static constexpr int kKeysPerLane = kBlockN / kLanesPerRow;   // 4
  static constexpr int kColsPerLane = kHeadDim / kLanesPerRow;  // 2, 4 or 8

  static_assert(32 % kLanesPerRow == 0, "the lanes of a row share a warp: B4 is a warp barrier");
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
template <typename Tile, int kRows, int kPitch, typename Element>
__device__ void load_tile(float (&tile_smem)[kRows][kPitch],       // [kRows][D]
                          const Element* tensor, int first_row) {  // [N][D]
  static_assert(kRows * Tile::kHeadDim % Tile::kThreads == 0, "each thread copies as many");
#pragma unroll
  for (int first = 0; first < kRows * Tile::kHeadDim; first += Tile::kThreads) {
    const int i = first + threadIdx.x;
    const int row = i / Tile::kHeadDim;
    const int col = i % Tile::kHeadDim;
    tile_smem[row][col] = simt::to_float(tensor[(first_row + row) * Tile::kHeadDim + col]);
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

// [update_row_max]
/// Sweep 1: m = max(m, max s). All lanes of the row end with the same m.
template <typename Tile>
__device__ void update_row_max(const float (&scores)[Tile::kKeysPerLane], float& row_max) {
  for (float score : scores) row_max = fmaxf(row_max, score);
  row_max = simt::reduce_max<Tile::kLanesPerRow>(row_max);
}
// [update_row_max]

// [update_row_sum]
/// Sweep 2: p = exp(s - m) with the final m, and l = l + sum p; `scores` becomes probabilities.
///
/// No p exceeds 1, since m is the largest score: this is why softmax subtracts it.
/// All lanes of the row end with the same l.
template <typename Tile>
__device__ void update_row_sum(float (&scores)[Tile::kKeysPerLane], float row_max, float& row_sum) {
  float tile_sum = 0;
  for (float& score : scores) {
    score = expf(score - row_max);
    tile_sum += score;
  }
  row_sum += simt::reduce_sum<Tile::kLanesPerRow>(tile_sum);
}
// [update_row_sum]

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
template <typename Tile, typename Element>
__device__ void store_output(Element* o, int q_row,  // [N][D]
                             const float (&acc_o)[Tile::kColsPerLane], float row_sum, int lane) {
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
                     int seq_len, float softmax_scale) {
  auto& smem = *simt::dynamic_shared<SharedTiles<Tile>>();
  const int row = threadIdx.x / Tile::kLanesPerRow;
  const int lane = threadIdx.x % Tile::kLanesPerRow;
  const int m_block = blockIdx.x;
  const int q_row = m_block * Tile::kBlockM + row;
  const int num_n_blocks = seq_len / Tile::kBlockN;

  // 1  The queries of this block stay for both sweeps.
  load_tile<Tile>(smem.q, q, m_block * Tile::kBlockM);

  float row_max = -INFINITY;             // m
  float row_sum = 0;                     // l
  float acc_o[Tile::kColsPerLane] = {};  // a

  // [sweeps]
  // 2  First sweep over the keys, a tile at a time: the largest score of the row.
  for (int n_block = 0; n_block < num_n_blocks; ++n_block) {
    // 2a  The keys of this tile.
    load_tile<Tile>(smem.k, k, n_block * Tile::kBlockN);
    __syncthreads();  // B1

    // 2b  Scores: this row against the keys of this lane. Only their maximum is kept.
    float scores[Tile::kKeysPerLane];
    tile_scores<Tile>(scores, smem, row, lane, softmax_scale);
    update_row_max<Tile>(scores, row_max);
    __syncthreads();  // B2
  }

  // 3  Second sweep: with the final maximum, every p can be summed as it is.
  for (int n_block = 0; n_block < num_n_blocks; ++n_block) {
    // 3a  The keys of this tile once more, and its values.
    load_tile<Tile>(smem.k, k, n_block * Tile::kBlockN);
    load_tile<Tile>(smem.v, v, n_block * Tile::kBlockN);
    __syncthreads();  // B3

    // 3b  The same scores once more.
    float scores[Tile::kKeysPerLane];
    tile_scores<Tile>(scores, smem, row, lane, softmax_scale);

    // 3c  Probabilities relative to the maximum of the whole row.
    update_row_sum<Tile>(scores, row_max, row_sum);
    store_probs<Tile, Element>(smem, scores, row, lane);
    __syncwarp();  // B4

    // 3d  The share of this tile.
    accumulate_pv<Tile>(acc_o, smem, row, lane);
    __syncthreads();  // B5
  }
  // [sweeps]

  // 4  Divide once, round once.
  store_output<Tile>(o, q_row, acc_o, row_sum, lane);
}

/// One block for every kBlockM query rows; the keys are a loop inside it.
template <typename Tile, typename Element>
void launch_attention(const workshop::AttentionProblem& problem, simt::Stream stream) {
  const dim3 grid(problem.seq_len() / Tile::kBlockM);
  simt::launch({grid, Tile::kThreads, sizeof(SharedTiles<Tile>), stream},
               attention_kernel<Tile, Element>, static_cast<const Element*>(problem.q.data),
               static_cast<const Element*>(problem.k.data),
               static_cast<const Element*>(problem.v.data), static_cast<Element*>(problem.o.data),
               problem.seq_len(), problem.softmax_scale());
}

void attention(const workshop::AttentionProblem& problem, simt::Stream stream) {
  workshop::require_promised(problem, workshop::stage(1));
  workshop::dispatch(problem, [&]<typename Element, int kHeadDim>() {
    launch_attention<TileShape<kHeadDim>, Element>(problem, stream);
  });
}

}  // namespace stage1_single_tile
