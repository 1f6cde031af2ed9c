"""CuPy helper functions of generated sources for semirings.

They compute in the semiring max-plus; ``SUM``, the members of the C++ class of a sum of products,
differs in others: ``add`` adds the product of two numbers, ``value`` returns the sum.
"""

from __future__ import annotations

import cupy as cp

from ...core import tuning

BUSY = tuning.MIN_DEVICE_TILES
SUM = """\
T best = -T(1) / T(0);
__device__ void add(T x, T y) { T z = x + y; best = z > best || z != z ? z : best; }
__device__ T value() { return best; }
"""

# Each block of 16 x 16 threads computes a tile from tiles in its shared memory, each thread
# SIDE x SIDE entries of it. Entries beyond the ends of rows and columns aren't written.
KERNEL = (
    """\
struct Sum {
"""
    + SUM
    + """\
};
extern "C" __global__ void product(
    const T* x, const T* y, T* z, long long rows, long long length, long long columns)
{
    const int side = 16 * SIDE;
    __shared__ T left[16][16 * SIDE + 1], right[16][16 * SIDE];
    const long long across = (columns + side - 1) / side, down = (rows + side - 1) / side;
    const long long row = blockIdx.x / across % down * side, column = blockIdx.x % across * side;
    const long long place = blockIdx.x / across / down;
    const int own_row = threadIdx.x / 16, own_column = threadIdx.x % 16;
    x += place * rows * length;
    y += place * length * columns;
    z += place * rows * columns;
    Sum sums[SIDE][SIDE];
    for (long long start = 0; start < length; start += 16) {
        const int count = length - start < 16 ? length - start : 16;
        for (int k = threadIdx.x; k < 16 * side; k += 256) {
            const long long i = row + k / 16, j = start + k % 16;
            left[k % 16][k / 16] = i < rows && j < length ? x[i * length + j] : T(0);
            const long long m = start + k / side, n = column + k % side;
            right[k / side][k % side] = m < length && n < columns ? y[m * columns + n] : T(0);
        }
        __syncthreads();
        for (int k = 0; k < count; k++)
            for (int i = 0; i < SIDE; i++)
                for (int j = 0; j < SIDE; j++)
                    sums[i][j].add(left[k][own_row + 16 * i], right[k][own_column + 16 * j]);
        __syncthreads();
    }
    for (int i = 0; i < SIDE; i++)
        for (int j = 0; j < SIDE; j++) {
            const long long m = row + own_row + 16 * i, n = column + own_column + 16 * j;
            if (m < rows && n < columns) z[m * columns + n] = sums[i][j].value();
        }
}
"""
)
PRODUCTS = {
    (kind, side): cp.RawKernel(f"typedef {kind} T;\n#define SIDE {side}\n" + KERNEL, "product")
    for kind in ("float", "double")
    for side in (1, 4)
}


def product(x, y):
    """Return the product of stacks of matrices, by one kernel."""
    kind = cp.result_type(x, y)
    own, name = ("f", "float") if kind.itemsize < 8 else ("d", "double")
    stack = cp.broadcast_shapes(x.shape[:-2], y.shape[:-2])
    (rows, length), columns = x.shape[-2:], y.shape[-1]
    x = cp.ascontiguousarray(cp.broadcast_to(x, (*stack, rows, length)), dtype=own)
    y = cp.ascontiguousarray(cp.broadcast_to(y, (*stack, length, columns)), dtype=own)
    z = cp.empty((*stack, rows, columns), own)
    if z.size:
        # Large tiles read each entry less often; few of them leave most of the device idle.
        tiles = [z.size // (rows * columns) * -(-rows // s) * -(-columns // s) for s in (16, 64)]
        side = 4 if tiles[1] >= BUSY else 1
        PRODUCTS[name, side]((tiles[side == 4],), (256,), (x, y, z, rows, length, columns))
    return z.astype(kind, copy=False)
