# SPDX-License-Identifier: Apache-2.0
"""Formats the results. A ratio below 1 always means that Nereid needs less."""

import statistics


def _figure(value):
    if value >= 1e6:
        return f"{value / 1e6:.2f}M"
    if value >= 1e5:
        return f"{value / 1e3:.0f}k"
    if value >= 1e4:
        return f"{value / 1e3:.1f}k"
    return f"{value:.0f}" if value >= 100 else f"{value:.1f}" if value >= 10 else f"{value:.2f}"


def spread(values):
    """Returns minimum, median, maximum."""
    return min(values), statistics.median(values), max(values)


def ratios(runs, key):
    """Returns Nereid's value over the other server's, for each repeat in which both were measured.
    """
    other = next(name for name in runs if name != "nereid")
    return [ours[key] / theirs[key]
            for ours, theirs in zip(runs["nereid"], runs[other])
            if ours.get(key) and theirs.get(key)]


CASE_HEAD = (f"{'case':32} {'server':7} {'req/s':>8} {'p50 us':>8} {'p99 us':>8} {'CPU us/req':>11}"
             f"   {'CPU ratio: min median max':>26}   {'p50 ratio':>9}")


def case_lines(case, runs):
    """Returns one line for each server, with the ratios in the second one."""
    for server in runs:
        good = [r for r in runs[server] if not r["errors"]]
        title = case if server == next(iter(runs)) else ""
        if len(good) < len(runs[server]):
            bad = next(r for r in runs[server] if r["errors"])
            yield f"{title:32} {server:7} FAILED: {bad['first_error']}"
            continue
        cells = [_figure(statistics.median(r[key] for r in good))
                 for key in ("throughput", "p50_us", "p99_us", "server_cpu_us")]
        line = f"{title:32} {server:7} {cells[0]:>8} {cells[1]:>8} {cells[2]:>8} {cells[3]:>11}"
        cpu = ratios(runs, "server_cpu_us") if server == "nereid" and len(runs) > 1 else []
        if cpu:
            low, middle, high = spread(cpu)
            p50 = statistics.median(ratios(runs, "p50_us"))
            line += f"   {low:>12.2f} {middle:>6.2f} {high:>6.2f}   {p50:>9.2f}"
        yield line


def hop_lines(hop, results):
    """Returns for each server how much longer the second case of `hop` takes than the first."""
    direct, batched = (results.get(name) for name in hop)
    if not direct or not batched:
        return
    for server in direct:
        hops = [b["p50_us"] - d["p50_us"] for d, b in zip(direct[server], batched[server])
                if not d["errors"] and not b["errors"]]
        if hops:
            low, middle, high = spread(hops)
            yield (f"{'batcher hop (p50, us)':32} {server:7} min {low:.1f}, median {middle:.1f}, "
                   f"max {high:.1f}")


def throughput_lines(results):
    """Nereid's throughput over Triton's for the cases behind a batcher with many clients."""
    for case, runs in results.items():
        gains = ratios(runs, "throughput") if {"nereid", "triton"} <= set(runs) else []
        if gains and case.startswith("mlp_batched/"):
            low, middle, high = spread(gains)
            yield (f"{case:32} throughput, Nereid over Triton: min {low:.2f}, "
                   f"median {middle:.2f}, max {high:.2f}")


def open_sequence_lines(results):
    """Returns the memory of an open sequence in each server."""
    for server, one in results.items():
        yield (f"{'memory of an open sequence':32} {server:7} {one['bytes_each']:.0f} bytes each "
               f"({one['sequences']} of them: {one['mib_before']:.1f} to {one['mib_after']:.1f} MiB)")


def idle_lines(idle):
    yield (f"{'without a model':32} {'server':7} {'RSS MiB':>8} {'anonymous':>9} {'threads':>8} "
           f"{'ready after ms':>15}")
    for server, runs in idle.items():
        middle = {key: statistics.median(r[key] for r in runs) for key in runs[0]}
        yield (f"{'':32} {server:7} {middle['resident_mib']:>8.1f} {middle['anonymous_mib']:>9.1f} "
               f"{middle['threads']:>8.0f} {middle['seconds_to_ready'] * 1e3:>15.0f}")


def markdown_lines(idle, results):
    """Returns both tables in the form of docs/user/performance.md."""
    yield "| without a model | Triton | Nereid |"
    yield "|---|---|---|"
    for key, title, factor in (("resident_mib", "resident memory, MiB", 1),
                               ("anonymous_mib", "of it anonymous, MiB", 1),
                               ("threads", "threads", 1),
                               ("seconds_to_ready", "ready after, ms", 1000)):
        cells = [_figure(statistics.median(r[key] for r in idle[server]) * factor)
                 for server in ("triton", "nereid")]
        yield f"| {title} | {cells[0]} | {cells[1]} |"
    yield ""
    yield "| case | CPU us/req: Triton | Nereid | ratio: min, median, max | req/s: Triton | Nereid |"
    yield "|---|---|---|---|---|---|"
    for case, runs in results.items():
        cpu, rate = ([_figure(statistics.median(r[key] for r in runs[server]))
                      for server in ("triton", "nereid")]
                     for key in ("server_cpu_us", "throughput"))
        low, middle, high = spread(ratios(runs, "server_cpu_us"))
        yield (f"| {case} | {cpu[0]} | {cpu[1]} | {low:.2f}, {middle:.2f}, {high:.2f} "
               f"| {rate[0]} | {rate[1]} |")
