#!/usr/bin/env python3
"""Compares a picture of an untrained encoding (8 heads, d_model 256) with the formula of its paper:
plot_formulas.py ENCODING FILE"""
import math
import sys

from svg_facts import read_facts

HEADS, D, K, POSITIONS = 8, 256, 32, 128
LEVELS = 41


def level_of(share):
    return round(share * (LEVELS - 1))


def check_cells(cells, scale, count, expected):
    """`expected` of a column and a row is a share of the scale; half a level is lost by rounding."""
    assert len(cells) == count, f"{len(cells)} cells, expected {count}"
    for (column, row), color in cells.items():
        share = expected(column, row)
        assert color[0] == scale and abs(int(color[1:]) - share * (LEVELS - 1)) < 0.51, (column, row, color, share)


def check_line(line, expected, tolerance):
    distances = [round(x) for x, _ in line]
    assert distances == list(range(1 - POSITIONS, POSITIONS)), distances
    for x, y in line:
        assert abs(x - round(x)) < 0.02 and abs(y - expected(round(x))) < tolerance, (x, y, expected(round(x)))


def check_alibi(lines, maps):
    """Press et al. 2022, section 3: head h = 1 … 8 has the slope 2^-h."""
    assert len(lines) == HEADS and not maps
    for head, line in enumerate(lines):
        check_line(line, lambda d, h=head: -abs(d) * 2.0 ** -(h + 1), 0.02)


def check_rope(lines, maps):
    """Su et al. 2021, equation 34: pair k turns by theta^(-2k/K); pairs are (k, k + K/2)."""
    def speed(k):
        return 10000 ** (-2 * (k % (K // 2)) / K)

    def angle(column, row):
        return math.acos(math.cos((column + 1 - POSITIONS) * speed(row))) / math.pi

    assert len(lines) == 1 and len(maps) == 1
    check_line(lines[0], lambda d: sum(math.cos(d * speed(k)) for k in range(K)) / K, 0.002)
    check_cells(maps[0], "s", K * (2 * POSITIONS - 1), angle)


def check_sinusoidal(lines, maps):
    """Vaswani et al. 2017, section 3.5; of 128 pairs of dimensions, every fourth is drawn."""
    def share(column, row):
        angle = row / 10000 ** (2 * (column // 2 * 4) / D)
        return ((math.cos if column % 2 else math.sin)(angle) + 1) / 2

    def cosine(d):
        return sum(math.cos(d / 10000 ** (2 * k / D)) for k in range(D // 2)) / (D // 2)

    assert len(lines) == 1 and len(maps) == 2
    check_cells(maps[0], "d", POSITIONS * 64, share)
    check_cells(maps[1], "d", 64 * 64, lambda column, row: (cosine(2 * (column - row)) + 1) / 2)
    assert len(lines[0]) == POSITIONS // 2
    for d, (x, y) in enumerate(lines[0]):
        assert abs(x - d) < 0.02 and abs(y - cosine(d)) < 0.005, (d, x, y)


def bucket_of(d, buckets):
    """Raffel et al. 2020, section 2.1."""
    half = buckets // 2
    return d if d < half else min(buckets - 1, half + int(math.log(d / half) / math.log(128 / half) * half + 1e-9))


def check_t5(lines, maps):
    """All distances of a bucket, and no others, are one horizontal step, in the encoder 16 buckets for a direction."""
    assert len(lines) == 2 * HEADS and not maps
    for line in lines:
        steps = [(round(a[0] + b[0]) // 2, round(b[0] - a[0], 1), a[1], b[1]) for a, b in zip(line[::2], line[1::2])]
        first, last = steps[0][0], steps[-1][0]
        assert [step[0] for step in steps] == list(range(first, last + 1))
        assert all(width == 1 and left == right for _, width, left, right in steps), steps
        value = {d: y for d, _, y, _ in steps}
        buckets = 16 if last > 0 else 32
        for d in range(first, last):
            same = bucket_of(abs(d), buckets) == bucket_of(abs(d + 1), buckets)
            assert same == (value[d] == value[d + 1]), (d, value[d], value[d + 1])


def check_shaw(lines, maps):
    """Shaw et al. 2018, equation 5: distances beyond the clip of 16 have one vector, those within have their own."""
    assert not lines and len(maps) == 2
    for cells, first in zip(maps, (-32, -64)):
        columns = {first + c: [cells[c, row] for row in range(K)] for c in range(65)}
        assert all(columns[d] == columns[-16] for d in columns if d <= -16)
        assert all(columns[d] == columns[16] for d in columns if d >= 16)
        within = [tuple(columns[d]) for d in columns if abs(d) <= 16]
        assert len(set(within)) == len(within)


if __name__ == "__main__":
    _, found_lines, found_maps = read_facts(sys.argv[2])
    globals()["check_" + sys.argv[1]](found_lines, found_maps)
