// SPDX-License-Identifier: MIT
/// @file
/// Stage 4, step 3: tensor cores multiply; scores become probabilities without leaving registers.
///
///       stage 1   single tile       softmax of one tile; for many tiles, two sweeps
///       stage 2   online softmax    one sweep that carries (m, l, a)
///       stage 3   masking           any N, causal
///       stage 4   tuning            the same results, in measured steps:
///         step 1  tile width        32 keys a tile, or 64
///         step 2  skip future       the sweep ends where the last row of the block ends
///   >     step 3  tensor cores      a warp multiplies 16 rows at once, from registers
///
/// Computes     O = softmax(Q K^T / sqrt(D)) V, one head
/// Shapes       Q, K, V, O: [N][D], row-major, contiguous; O in the type of the inputs
/// Requires     1 <= N <= 2048; no mask, or causal: k_col <= q_row; compute capability 8.0
/// Guarantees   the error bound (common/attention/error_bound.hpp); the same bits on every run
/// Not yet      every tile is waited for; V is gathered in halves of a register: step 4
///
/// Who owns what (4 warps; a warp has a slab of 16 query rows, the rows of an mma)
///
///   | lane t of a warp  | owns                                            | phase   |
///   |-------------------|-------------------------------------------------|---------|
///   | group = t / 4     | query rows group and group + 8, their m and l   | all     |
///   | pair  = 2 (t % 4) | of a strip of 8 keys    pair and pair + 1       | 2b, 2c  |
///   |                   | of a strip of 8 columns pair and pair + 1, of a | 2c to 3 |
///
/// Shared memory (D = 64: 9,216 bytes with kBlockN = 32, 18,432 with 64)
///
///   | field | shape            | written | read by    | in |
///   |-------|------------------|---------|------------|----|
///   | k     | [kBlockN][D + 8] | 2a      | every warp | 2b |
///   | v     | [kBlockN][D + 8] | 2a      | every warp | 2d |
///
///   Q and p are not here: no lane needs what another lane holds of them.
///   The padding keeps the 8 rows that a warp touches at once in different banks.
///
/// Barriers
///
///   B1  k, v are complete before any warp reads them       (read after write)
///   B3  all are done with k, v before they are overwritten (write after read)
///   B2, between store_probs and accumulate_pv, is gone with the array that it guarded.

#include "attention.hpp"

#include "common/attention/dispatch.hpp"
#include "common/attention/stages.hpp"
#include "common/device/simt.hpp"

namespace stage4_tuning_step3 {

// [tile_shape]
template <int HeadDim, int BlockN>
struct TileShape {
  static constexpr int kHeadDim = HeadDim;
  static constexpr int kWarps = 4;
  static constexpr int kBlockM = 16 * kWarps;  // query rows a block owns, 16 to a warp
  static constexpr int kBlockN = BlockN;       // keys a tile holds
  static constexpr int kThreads = 32 * kWarps;
  static constexpr int kLanesPerRow = 4;
  static constexpr int kPitch = kHeadDim + 8;          // of a row in shared memory
  static constexpr int kHeadDimSteps = kHeadDim / 16;  // an mma sums over 16: of q k^T
  static constexpr int kKeySteps = kBlockN / 16;       //                       of p V
  static constexpr int kKeyStrips = kBlockN / 8;       // and has strips of 8 columns: of the scores
  static constexpr int kColStrips = kHeadDim / 8;      //                              of a

  static_assert(kHeadDim % 16 == 0 && kBlockN % 16 == 0, "an mma sums over 16 at a time");
};
// [tile_shape]

template <typename Tile, typename Element>
struct SharedTiles {
  Element k[Tile::kBlockN][Tile::kPitch];
  Element v[Tile::kBlockN][Tile::kPitch];
};
static_assert(sizeof(SharedTiles<TileShape<64, 32>, workshop::Half>) == 9'216, "as the map says");
static_assert(sizeof(SharedTiles<TileShape<64, 64>, workshop::Half>) == 18'432, "as the map says");

/// Copies `kRows` rows of a tensor, from `first_row` on, into shared memory, 16 bytes at a time: all
/// threads.
///
/// Counted and unrolled, so that a thread waits once, for all of its loads.
///
/// Rows past the end become 0. Their p is 0 too, but 0 times what lies there could be NaN.
template <typename Tile, int kRows, int kPitch, typename Element>
__device__ void load_tile(Element (&tile_smem)[kRows][kPitch],   // [kRows][D]
                          const Element* tensor, int first_row,  // [N][D]
                          int seq_len) {
  constexpr int kChunks = Tile::kHeadDim / 8;  // of a row: 8 elements are 16 bytes
  static_assert(kRows * kChunks % Tile::kThreads == 0 || kRows * kChunks < Tile::kThreads,
                "each thread copies as many chunks, or (D = 16, 32 keys) some copy one");
#pragma unroll
  for (int first = 0; first < kRows * kChunks; first += Tile::kThreads) {
    const int i = first + threadIdx.x;
    if (kRows * kChunks < Tile::kThreads && i >= kRows * kChunks) break;
    const int row = i / kChunks;
    const int chunk = i % kChunks;
    uint4 elements = {};
    if (first_row + row < seq_len) {
      elements =
          *reinterpret_cast<const uint4*>(&tensor[(first_row + row) * Tile::kHeadDim + chunk * 8]);
    }
    *reinterpret_cast<uint4*>(&tile_smem[row][chunk * 8]) = elements;
  }
}

// [load_queries]
/// The A operands of q k^T: of each 16 columns, this lane's pairs of both of its rows.
template <typename Tile, typename Element>
__device__ void load_queries(unsigned (&q_frag)[Tile::kHeadDimSteps][4], const Element* q,
                             int q_row,  // [N][D]
                             int seq_len, int pair) {
  for (int k_step = 0; k_step < Tile::kHeadDimSteps; ++k_step) {
    for (int i = 0; i < 4; ++i) {
      const int row = q_row + i % 2 * 8;
      const int col = k_step * 16 + i / 2 * 8 + pair;
      q_frag[k_step][i] = row < seq_len ? simt::load_pair(&q[row * Tile::kHeadDim + col]) : 0;
    }
  }
}
// [load_queries]

// [tile_scores]
/// scores = q k^T * softmax_scale for 16 rows and all keys of the tile, a strip of 8 keys at a time.
/// They come in as 0.
///
/// B is k^T: a lane gives it key `group` of each strip, two neighbouring columns to a register.
template <typename Tile, typename Element>
__device__ void tile_scores(float (&scores)[Tile::kKeyStrips][4],
                            const unsigned (&q_frag)[Tile::kHeadDimSteps][4],
                            const Element (&k_smem)[Tile::kBlockN][Tile::kPitch], int group,
                            int pair, float softmax_scale) {
  for (int strip = 0; strip < Tile::kKeyStrips; ++strip) {
    for (int k_step = 0; k_step < Tile::kHeadDimSteps; ++k_step) {
      const Element* k = &k_smem[strip * 8 + group][k_step * 16 + pair];
      simt::mma_m16n8k16<Element>(scores[strip], q_frag[k_step], simt::load_pair(k),
                                  simt::load_pair(k + 8));
    }
  }
  for (auto& strip : scores) {
    for (float& score : strip) score *= softmax_scale;
  }
}
// [tile_scores]

// [mask_scores]
/// s = -inf, and so p = 0, for keys past the end and, if causal, for keys in the future of the row.
///
/// Every row sees key 0, in the first tile: m is finite from there on, and a tile that is masked
/// whole leaves (m, l, a) bitwise as they were (alpha = exp(m - m) = 1, every p = exp(-inf) = 0).
template <typename Tile>
__device__ void mask_scores(float (&scores)[Tile::kKeyStrips][4], int q_row, int first_key,
                            int pair, int seq_len, bool causal) {
  for (int strip = 0; strip < Tile::kKeyStrips; ++strip) {
    for (int i = 0; i < 4; ++i) {
      const int k_col = first_key + strip * 8 + pair + i % 2;
      const bool visible = k_col < seq_len && (!causal || k_col <= q_row + i / 2 * 8);
      if (!visible) scores[strip][i] = -INFINITY;
    }
  }
}
// [mask_scores]

// [update_row_stats]
/// The online step: takes a row to its new maximum; `scores` becomes probabilities relative to it.
///
///     m' = max(m, max s)    alpha = exp(m - m')    p = exp(s - m')    l' = alpha l + sum p
///
/// All lanes of the row end with the same m' and l'.
/// @param r  which of the two rows of this lane
/// @returns alpha, which is 0 on the first tile, where m = -inf
template <typename Tile>
__device__ float update_row_stats(float (&scores)[Tile::kKeyStrips][4], float& row_max,
                                  float& row_sum, int r) {
  float new_max = row_max;
  for (const auto& strip : scores) {
    new_max = fmaxf(new_max, fmaxf(strip[2 * r], strip[2 * r + 1]));
  }
  new_max = simt::reduce_max<Tile::kLanesPerRow>(new_max);

  float tile_sum = 0;
  for (auto& strip : scores) {
    for (int i = 2 * r; i < 2 * r + 2; ++i) {
      strip[i] = expf(strip[i] - new_max);
      tile_sum += strip[i];
    }
  }
  tile_sum = simt::reduce_sum<Tile::kLanesPerRow>(tile_sum);

  const float alpha = expf(row_max - new_max);
  row_sum = alpha * row_sum + tile_sum;
  row_max = new_max;
  return alpha;
}
// [update_row_stats]

// [pack_probs]
/// The A operands of p V: what this lane holds of p *is* what the next mma wants of it.
///
/// Two neighbours round to the input type and share a register. (row_sum has summed them unrounded.)
template <typename Tile, typename Element>
__device__ void pack_probs(unsigned (&p_frag)[Tile::kKeySteps][4],
                           const float (&probs)[Tile::kKeyStrips][4]) {
  for (int strip = 0; strip < Tile::kKeyStrips; ++strip) {
    for (int r = 0; r < 2; ++r) {
      p_frag[strip / 2][strip % 2 * 2 + r] =
          simt::pack<Element>(probs[strip][2 * r], probs[strip][2 * r + 1]);
    }
  }
}
// [pack_probs]

/// a' = alpha a: what was summed relative to the old maximum becomes relative to the new one.
template <typename Tile>
__device__ void rescale_output(float (&acc_o)[Tile::kColStrips][4], const float (&alpha)[2]) {
  for (auto& strip : acc_o) {
    for (int i = 0; i < 4; ++i) strip[i] *= alpha[i / 2];
  }
}

// [accumulate_pv]
/// a' = a + p V for 16 rows and all columns.
///
/// B is V: a lane gives it column `group` of each strip. The two keys that share a register lie in
/// two rows of the tile: they are put together from two reads.
template <typename Tile, typename Element>
__device__ void accumulate_pv(float (&acc_o)[Tile::kColStrips][4],
                              const unsigned (&p_frag)[Tile::kKeySteps][4],
                              const Element (&v_smem)[Tile::kBlockN][Tile::kPitch], int group,
                              int pair) {
  for (int strip = 0; strip < Tile::kColStrips; ++strip) {
    const int col = strip * 8 + group;
    for (int k_step = 0; k_step < Tile::kKeySteps; ++k_step) {
      const int key = k_step * 16 + pair;
      simt::mma_m16n8k16<Element>(acc_o[strip], p_frag[k_step],
                                  simt::pack(v_smem[key][col], v_smem[key + 1][col]),
                                  simt::pack(v_smem[key + 8][col], v_smem[key + 9][col]));
    }
  }
}
// [accumulate_pv]

/// O = a / l for the rows and columns of this lane: one division, one rounding.
///
/// Each row has one owner, and the owner of a row past the end stores nothing.
template <typename Tile, typename Element>
__device__ void store_output(Element* o, int q_row, int seq_len,  // [N][D]
                             const float (&acc_o)[Tile::kColStrips][4], const float (&row_sum)[2],
                             int pair) {
  for (int strip = 0; strip < Tile::kColStrips; ++strip) {
    for (int i = 0; i < 4; ++i) {
      const int row = q_row + i / 2 * 8;
      const int col = strip * 8 + pair + i % 2;
      if (row >= seq_len) continue;
      o[row * Tile::kHeadDim + col] = simt::from_float<Element>(acc_o[strip][i] / row_sum[i / 2]);
    }
  }
}

// [count_n_blocks]
/// The tiles a block visits: under a causal mask, only as far as its last row sees.
///
/// It is a number of the block, not of the row: all of its threads meet at every barrier.
template <typename Tile>
__device__ int count_n_blocks(int m_block, int seq_len, bool causal) {
  const int end_of_rows = (m_block + 1) * Tile::kBlockM;
  const int end_of_keys = causal && end_of_rows < seq_len ? end_of_rows : seq_len;
  return (end_of_keys + Tile::kBlockN - 1) / Tile::kBlockN;
}
// [count_n_blocks]

/// One block an SM is enough (the 1): the compiler saves no registers so that more would fit.
template <typename Tile, typename Element>
__global__ void __launch_bounds__(Tile::kThreads, 1)
    attention_kernel(const Element* q,  // [N][D]
                     const Element* k,  // [N][D]
                     const Element* v,  // [N][D]
                     Element* o,        // [N][D]
                     int seq_len, float softmax_scale, bool causal) {
  auto& smem = *simt::dynamic_shared<SharedTiles<Tile, Element>>();
  const int warp_id = threadIdx.x / 32;
  const int lane_id = threadIdx.x % 32;
  const int group = lane_id / Tile::kLanesPerRow;
  const int pair = lane_id % Tile::kLanesPerRow * 2;
  const int m_block = blockIdx.x;
  const int q_row = m_block * Tile::kBlockM + warp_id * 16 + group;  // and q_row + 8
  const int num_n_blocks = count_n_blocks<Tile>(m_block, seq_len, causal);

  // 1  The queries of this warp stay in registers for the whole sweep.
  unsigned q_frag[Tile::kHeadDimSteps][4];
  load_queries<Tile>(q_frag, q, q_row, seq_len, pair);

  float row_max[2] = {-INFINITY, -INFINITY};  // m
  float row_sum[2] = {};                      // l
  float acc_o[Tile::kColStrips][4] = {};      // a

  // [sweep]
  // 2  One sweep over the keys, a tile at a time.
  for (int n_block = 0; n_block < num_n_blocks; ++n_block) {
    // 2a  The keys and values of this tile.
    load_tile<Tile>(smem.k, k, n_block * Tile::kBlockN, seq_len);
    load_tile<Tile>(smem.v, v, n_block * Tile::kBlockN, seq_len);
    __syncthreads();  // B1

    // 2b  Scores: the rows of this warp against all keys, as far as the rows may see them.
    float scores[Tile::kKeyStrips][4] = {};
    tile_scores<Tile>(scores, q_frag, smem.k, group, pair, softmax_scale);
    mask_scores<Tile>(scores, q_row, n_block * Tile::kBlockN, pair, seq_len, causal);

    // 2c  The rows move to their new maximum, and with them what they have summed so far.
    float alpha[2];
    for (int r = 0; r < 2; ++r) {
      alpha[r] = update_row_stats<Tile>(scores, row_max[r], row_sum[r], r);
    }
    rescale_output<Tile>(acc_o, alpha);
    unsigned p_frag[Tile::kKeySteps][4];
    pack_probs<Tile, Element>(p_frag, scores);

    // 2d  The share of this tile.
    accumulate_pv<Tile>(acc_o, p_frag, smem.v, group, pair);
    simt::trace(q_row, n_block, row_max, alpha, row_sum, acc_o);
    __syncthreads();  // B3
  }
  // [sweep]

  // 3  Divide once, round once.
  store_output<Tile>(o, q_row, seq_len, acc_o, row_sum, pair);
}

/// One block for every kBlockM query rows or what is left of them; the keys are a loop inside it.
template <typename Tile, typename Element>
void launch_attention(const workshop::AttentionProblem& problem, simt::Stream stream) {
  const dim3 grid((problem.seq_len() + Tile::kBlockM - 1) / Tile::kBlockM);
  simt::launch({grid, Tile::kThreads, sizeof(SharedTiles<Tile, Element>), stream},
               attention_kernel<Tile, Element>, static_cast<const Element*>(problem.q.data),
               static_cast<const Element*>(problem.k.data),
               static_cast<const Element*>(problem.v.data), static_cast<Element*>(problem.o.data),
               problem.seq_len(), problem.softmax_scale(), problem.causal());
}

void attention(const workshop::AttentionProblem& problem, simt::Stream stream) {
  workshop::require_promised(problem, workshop::stage(4, 3));
  simt::require_compute_capability(workshop::stage(4, 3).compute_capability);
  workshop::dispatch_width(problem, [&]<typename Element, int kHeadDim, int kBlockN>() {
    launch_attention<TileShape<kHeadDim, kBlockN>, Element>(problem, stream);
  });
}

}  // namespace stage4_tuning_step3
