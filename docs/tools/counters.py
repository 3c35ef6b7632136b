#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""usage: docs/tools/counters.py BUILD_FOLDER PROGRAM:BLOCK_N...

Prints a table of what Nsight Compute counts in one launch of each program, D = 64, N = 2048, FP16, no
mask. Needs a GPU, `ncu` and the right to read its counters. The clocks are left as they are.
"""

import csv
import subprocess
import sys

STALLED = "smsp__average_warps_issue_stalled_{}_per_issue_active.ratio"
COUNTERS = {
    "registers a thread": "launch__registers_per_thread",
    "cycles": "sm__cycles_elapsed.max",
    "instructions": "smsp__inst_executed.sum",
    "loads from shared memory": "smsp__inst_executed_op_shared_ld.sum",
    "`ldmatrix`": "smsp__sass_inst_executed_op_ldsm.sum",
    "bank conflicts of loads": "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum",
    "loads from global memory": "smsp__inst_executed_op_global_ld.sum",
    "`cp.async`": "smsp__sass_inst_executed_op_ldgsts.sum",
    "tensor-core unit": "sm__inst_executed_pipe_tensor_op_hmma.sum",
    "warps that wait for global memory, per issue": STALLED.format("long_scoreboard"),
    "... for shared memory or a shuffle": STALLED.format("short_scoreboard"),
    "... for the queue of memory instructions": STALLED.format("mio_throttle"),
    "... at a barrier": STALLED.format("barrier"),
    "... for the result of arithmetic": STALLED.format("wait"),
    "... for an arithmetic unit": STALLED.format("math_pipe_throttle"),
    "... for their turn": STALLED.format("not_selected"),
}


def counted(program: str, block_n: str) -> dict[str, str]:
    """The counters of the second launch, with the caches as the first one left them."""
    command = ["ncu", "--clock-control", "none", "--cache-control", "none", "--csv"]
    command += ["--launch-skip", "1", "--launch-count", "1"]
    command += ["--metrics", ",".join(COUNTERS.values())]
    command += [program, "--n", "2048", "--d", "64", "--block-n", block_n]
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if done.returncode != 0:
        sys.exit(f"{done.stdout}\n{' '.join(command)}: status {done.returncode}")
    table = [line for line in done.stdout.splitlines() if line.startswith('"')]
    return {row["Metric Name"]: row["Metric Value"] for row in csv.DictReader(table)}


def main() -> None:
    folder, *chosen = sys.argv[1:] or [""]
    pairs = [choice.split(":") for choice in chosen]
    if not pairs or any(len(pair) != 2 for pair in pairs):
        sys.exit(__doc__.splitlines()[0])
    columns = [counted(f"{folder}/bin/{name}", block_n) for name, block_n in pairs]
    heads = [f"{name.removeprefix('stage4_tuning_')}, {block_n}" for name, block_n in pairs]
    print("| in one launch |", " | ".join(heads), "|")
    print("|:--|", " | ".join("--:" for _ in pairs), "|")
    for what, metric in COUNTERS.items():
        print(f"| {what} |", " | ".join(column.get(metric, "-") for column in columns), "|")


if __name__ == "__main__":
    main()
