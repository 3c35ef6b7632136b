// SPDX-License-Identifier: MIT
#include "common/harness/bench_table.hpp"

#include <algorithm>
#include <functional>
#include <set>

#include <fmt/format.h>

namespace workshop {
namespace {

constexpr std::size_t kWidth = 100;
constexpr const char* kNothing = "-";

/// A column: its header, of two lines at most, and a cell for each row.
struct Column {
  std::string header;
  std::vector<std::string> cells;
  bool text = false;  // flush left; a number is flush right

  std::string top() const {
    const std::size_t blank = header.find(' ');
    return blank == header.npos ? "" : header.substr(0, blank);
  }
  std::string bottom() const { return header.substr(header.find(' ') + 1); }
  std::size_t width() const {
    std::size_t widest = std::max(top().size(), bottom().size());
    for (const std::string& cell : cells) widest = std::max(widest, cell.size());
    return widest;
  }
  bool is_shared() const {
    return cells.size() > 1 && std::ranges::count(cells, cells.front()) == int(cells.size());
  }
};

using Cell = std::function<std::string(const BenchRow&)>;

Column column(const std::string& header, const std::vector<BenchRow>& rows, const Cell& cell,
              bool text = false) {
  Column column{.header = header, .cells = {}, .text = text};
  for (const BenchRow& row : rows) column.cells.push_back(cell(row));
  return column;
}

std::vector<Column> problem_columns(const std::vector<BenchRow>& rows) {
  using std::to_string;
  return {column("N", rows, [](const BenchRow& row) { return to_string(row.result.n); }),
          column("D", rows, [](const BenchRow& row) { return to_string(row.result.d); }),
          column(
              "type", rows, [](const BenchRow& row) { return row.result.type; }, true),
          column(
              "mask", rows, [](const BenchRow& row) { return row.result.mask; }, true),
          column("BN", rows, [](const BenchRow& row) { return to_string(row.result.block_n); })};
}

/// A column of numbers that a row may lack.
Column number_column(const std::string& header, const std::vector<BenchRow>& rows,
                     const std::function<std::optional<double>(const BenchRow&)>& number,
                     int digits) {
  return column(header, rows, [&](const BenchRow& row) {
    const auto value = number(row);
    return value ? fmt::format("{:.{}f}", *value, digits) : kNothing;
  });
}

std::vector<Column> gpu_columns(const std::vector<BenchRow>& rows) {
  const auto microseconds = [](const BenchRow& row) {
    return row.result.time_ms ? std::optional(*row.result.time_ms * 1000) : std::nullopt;
  };
  const auto gflop_per_s = [](const BenchRow& row) {
    const auto rate = row.flop_per_s();
    return rate ? std::optional(*rate / 1e9) : std::nullopt;
  };
  return {number_column("median us", rows, microseconds, 1),
          number_column("GFLOP/s", rows, gflop_per_s, 0)};
}

/// One for each operation that any row did. All do one launch; how many blocks it has follows from N.
std::vector<Column> count_columns(const std::vector<BenchRow>& rows) {
  std::set<std::string> operations;
  for (const BenchRow& row : rows) {
    for (const auto& [operation, count] : row.counts) {
      if (count > 0) operations.insert(operation);
    }
  }
  operations.erase("launches");
  operations.erase("blocks");
  std::vector<Column> columns;
  for (const std::string& operation : operations) {
    columns.push_back(column(operation, rows, [&](const BenchRow& row) {
      const auto found = row.counts.find(operation);
      return found == row.counts.end() ? kNothing : std::to_string(found->second);
    }));
  }
  return columns;
}

std::string line(const std::vector<Column>& columns,
                 const std::function<std::string(const Column&)>& cell) {
  std::string text;
  for (const Column& column : columns) {
    const std::string content = cell(column);
    const std::string gap(column.width() - content.size(), ' ');
    text += (column.text ? content + gap : gap + content) + "  ";
  }
  text.erase(text.find_last_not_of(' ') + 1);
  return text + "\n";
}

std::size_t width(const std::vector<Column>& columns) {
  std::size_t sum = 0;
  for (const Column& column : columns) sum += column.width() + 2;
  return sum - 2;
}

/// The columns of a table, and the line above it that says what all rows share.
struct Layout {
  std::string shared;
  std::vector<Column> columns;

  void add(const Column& column) { columns.push_back(column); }
  void add_problem(const std::vector<BenchRow>& rows) {
    for (const Column& column : problem_columns(rows)) {
      if (column.is_shared()) {
        shared += fmt::format(", {} {}", column.header, column.cells.front());
      } else {
        add(column);
      }
    }
  }
  void add_where_room(const std::vector<Column>& more) {
    for (const Column& column : more) {
      if (width(columns) + 2 + column.width() <= kWidth) add(column);
    }
  }
};

std::string error_text(const BenchRow& row) {
  return row.result.passed ? fmt::format("{:.2f}", *row.result.error_share) : "WRONG";
}

Layout layout(const std::vector<BenchRow>& rows) {
  Layout layout{.shared = rows.front().result.device, .columns = {}};
  layout.add(column(
      "stage", rows, [](const BenchRow& row) { return row.result.stage; }, true));
  layout.add_problem(rows);
  layout.add(column("err/ bound", rows, error_text));
  const bool on_gpu = rows.front().device == simt::DeviceKind::gpu;
  if (on_gpu) {
    for (const Column& column : gpu_columns(rows)) layout.add(column);
  }
  layout.add(number_column(
      on_gpu ? "speedup" : "ratio", rows, [](const BenchRow& row) { return row.speedup; },
      on_gpu ? 2 : 1));
  layout.add_where_room(count_columns(rows));
  return layout;
}

std::string details(const std::vector<BenchRow>& rows) {
  std::string text;
  for (const BenchRow& one : rows) {
    const ResultRow& row = one.result;
    if (row.detail.empty()) continue;
    text += wrapped(fmt::format("\n{}, N {}, D {}, {}, mask {}, BN {}:\n{}\n", row.stage, row.n,
                                row.d, row.type, row.mask, row.block_n, row.detail));
  }
  return text;
}

}  // namespace

std::string bench_table(const std::vector<BenchRow>& rows) {
  const auto [shared, columns] = layout(rows);
  std::string text = shared + "\n\n" + line(columns, &Column::top) + line(columns, &Column::bottom);
  for (std::size_t row = 0; row < rows.size(); ++row) {
    text += line(columns, [&](const Column& column) { return column.cells[row]; });
  }
  return text + details(rows);
}

}  // namespace workshop
