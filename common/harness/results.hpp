// SPDX-License-Identifier: MIT
/// @file
/// What a run found: rows, the table a reader sees, and the envelope that all result files share.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

namespace workshop {

/// One stage on one device on one problem.
struct ResultRow {
  std::string stage;
  std::string device;  // "CPU device", or the GPU's name
  std::string input;   // the file's name, or "normal, seed 1"
  int n = 0;
  int d = 0;
  std::string type;
  std::string mask;
  int block_n = 0;
  std::optional<double> error_share = {};  // largest error / bound; none if it is no number
  std::optional<double> time_ms = {};      // median
  int repeats = 0;
  bool passed = false;
  std::string detail = {};  // what is wrong, and where
};

/// The table: at most 100 columns, and under it the detail of each row that failed.
std::string table(const std::vector<ResultRow>& rows);

/// { "format", "kind", "created", "build": {...}, "devices": [...], "rows": [...] }
/// @param kind  what made it: "run", "check", "bench"
nlohmann::json envelope(const std::string& kind, const std::vector<ResultRow>& rows,
                        const nlohmann::json& devices);

/// The same around rows that say more than a ResultRow does.
nlohmann::json envelope_around(const std::string& kind, const nlohmann::json& row_list,
                               const nlohmann::json& devices);

/// A row as it stands in an envelope.
nlohmann::json row_json(const ResultRow& row);

/// Breaks lines of more than 100 columns at a blank.
std::string wrapped(std::string text);

/// What a result file says of the device that this program is linked to: [{kind, name, description}].
nlohmann::json device_json();

/// Writes an envelope, whole or not at all.
void write_envelope(const std::string& file, const nlohmann::json& envelope);
void write_results(const std::string& file, const std::string& kind,
                   const std::vector<ResultRow>& rows, const nlohmann::json& devices);

/// The rows of an envelope.
std::vector<ResultRow> rows_of(const nlohmann::json& envelope);

}  // namespace workshop
