// SPDX-License-Identifier: MIT
/// @file
/// The words of every report: who, where, what is wrong, what a GPU would do.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include "common/device/cpu/block_runner.hpp"
#include "common/device/cpu/runtime.hpp"

namespace simt::cpu {

/// Whether two sites are the same line of the same file.
bool same_line(Site a, Site b);

/// "stage1_single_tile/attention.cu:40": the file with its folder.
std::string to_text(Site site);

/// "(3,0,0)"
std::string to_text(uint3 index);

namespace reports {

/// "thread (3,0,0) of block (0,0,0)"; the block is the one that this OS thread runs.
std::string name_of(const CudaThread& thread);

/// "__syncwarp() with mask 0xffffffff, kernel.cu:40"
std::string waiting_place(const Arrival& arrival);

/// For the reports that an operation has of its own: "KIND: who at PLACE: WHAT".
std::string custom(const std::string& kind, const CudaThread& thread, const std::string& place,
                   const std::string& what);

std::string exited_before_barrier(const CudaThread& exited, const CudaThread& waiting);
std::string barriers_differ(const CudaThread& first, const CudaThread& second);
std::string warp_operations_differ(const CudaThread& first, const CudaThread& second);
std::string not_in_own_mask(const CudaThread& thread);
std::string deadlock(const std::map<std::string, std::vector<const CudaThread*>>& groups);
std::string exception_thrown(const CudaThread& thread, const std::string& what);

std::string too_little_shared_memory(const CudaThread& thread, std::size_t needed,
                                     std::size_t given);
std::string shared_memory_damaged(std::ptrdiff_t offset, std::size_t bytes);
std::string outside_shared_memory(const CudaThread& thread, std::ptrdiff_t offset,
                                  std::size_t bytes);
std::string misaligned_access(const CudaThread& thread);
std::string not_in_shared_memory(const CudaThread& thread, const char* instruction, Site site,
                                 const void* address, const SharedMemory& memory);
std::string misaligned_shared_vector(const CudaThread& thread, const char* instruction, Site site,
                                     const void* address, const SharedMemory& memory);
std::string copy_not_waited_for(const CudaThread& thread, Site site);
std::string illegal_address(const CudaThread& thread, const void* address);
std::string stack_overflow(const CudaThread& thread, std::size_t stack_bytes);

}  // namespace reports
}  // namespace simt::cpu
