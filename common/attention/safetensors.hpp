// SPDX-License-Identifier: MIT
/// @file
/// The safetensors format, as much of it as attention needs: little-endian, an 8-byte header length,
/// a JSON header, then the tensors' bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "common/attention/inputs.hpp"

namespace workshop {

/// One tensor of a file, its bytes as stored.
struct StoredTensor {
  std::string dtype;                // "F16", "BF16", "F32", "F64", ... as the header says
  std::vector<std::int64_t> shape;  // outermost first
  std::vector<std::byte> bytes;
};

using StoredTensors = std::map<std::string, StoredTensor>;

/// Reads and checks a whole file: header length, JSON, types, shapes against byte ranges, ranges
/// inside the file, none overlapping, none left over.
/// @throws Refusal naming the file and the tensor
StoredTensors read_safetensors(const std::filesystem::path& file);

/// Writes a file as write_whole_file does.
/// @throws Refusal if it cannot be written there
void write_safetensors(const std::filesystem::path& file, const StoredTensors& tensors);

/// The tensors `q`, `k`, `v` of a file, as inputs: F16 or BF16, all of one type, [N][D] within the
/// contract.
/// @throws Refusal naming the tensor, what it is and what it may be
Inputs inputs_from(const StoredTensors& tensors, const std::string& file_name);

/// The named [N][D] tensor of type F16, BF16, F32 or F64, as numbers.
/// @throws Refusal as above
Matrix<double> numbers_from(const StoredTensors& tensors, const std::string& tensor,
                            const std::string& file_name);

/// An [N][D] tensor of stored 16-bit elements, ready to write.
StoredTensor stored_tensor(ElementType type, const Matrix<std::uint16_t>& stored);

}  // namespace workshop
