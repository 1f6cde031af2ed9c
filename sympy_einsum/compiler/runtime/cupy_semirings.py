"""CuPy helper functions of generated sources for semirings.

They compute in the semiring max-plus; ``SUM``, the members of the C++ class of a sum of products,
differs in others: ``add`` adds the product of two numbers, ``value`` returns the sum.
"""

from __future__ import annotations

import cupy as cp

SUM = """\
T best = -T(1) / T(0);
__device__ void add(T x, T y) { T z = x + y; best = z > best || z != z ? z : best; }
__device__ T value() { return best; }
"""

# Each block of threads computes a tile of 64 x 64 entries from tiles in its shared memory, each
# of its 256 threads 4 x 4 of them. Entries beyond the ends of rows and columns aren't written.
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
    __shared__ T left[16][65], right[16][64];
    const long long across = (columns + 63) / 64, down = (rows + 63) / 64;
    const long long row = blockIdx.x / across % down * 64, column = blockIdx.x % across * 64;
    const long long place = blockIdx.x / across / down;
    const int own_row = threadIdx.x / 16, own_column = threadIdx.x % 16;
    x += place * rows * length;
    y += place * length * columns;
    z += place * rows * columns;
    Sum sums[4][4];
    for (long long start = 0; start < length; start += 16) {
        const int count = length - start < 16 ? length - start : 16;
        for (int k = threadIdx.x; k < 1024; k += 256) {
            const long long i = row + k / 16, j = start + k % 16;
            left[k % 16][k / 16] = i < rows && j < length ? x[i * length + j] : T(0);
            const long long m = start + k / 64, n = column + k % 64;
            right[k / 64][k % 64] = m < length && n < columns ? y[m * columns + n] : T(0);
        }
        __syncthreads();
        for (int k = 0; k < count; k++)
            for (int i = 0; i < 4; i++)
                for (int j = 0; j < 4; j++)
                    sums[i][j].add(left[k][own_row + 16 * i], right[k][own_column + 16 * j]);
        __syncthreads();
    }
    for (int i = 0; i < 4; i++)
        for (int j = 0; j < 4; j++) {
            const long long m = row + own_row + 16 * i, n = column + own_column + 16 * j;
            if (m < rows && n < columns) z[m * columns + n] = sums[i][j].value();
        }
}
"""
)
PRODUCTS = {
    "float32": cp.RawKernel("typedef float T;\n" + KERNEL, "product"),
    "float64": cp.RawKernel("typedef double T;\n" + KERNEL, "product"),
}


def product(x, y):
    """Return the product of stacks of matrices, by one kernel."""
    kind = cp.result_type(x, y)
    own = "float32" if kind.itemsize < 8 else "float64"
    stack = cp.broadcast_shapes(x.shape[:-2], y.shape[:-2])
    (rows, length), columns = x.shape[-2:], y.shape[-1]
    x = cp.ascontiguousarray(cp.broadcast_to(x, (*stack, rows, length)), dtype=own)
    y = cp.ascontiguousarray(cp.broadcast_to(y, (*stack, length, columns)), dtype=own)
    z = cp.empty((*stack, rows, columns), own)
    if z.size:
        tiles = z.size // (rows * columns) * -(-rows // 64) * -(-columns // 64)
        PRODUCTS[own]((tiles,), (256,), (x, y, z, rows, length, columns))
    return z.astype(kind, copy=False)
