"""Numba intrinsics for the memory of arrays in C order, whose code stands in the kernel: NumPy's
functions for that are several functions for Numba, compiled anew for each number of axes.
"""

from __future__ import annotations

import numba
from numba import extending


def require_c_order(*kinds):
    """Raise an error if the type of an array is that of one in another order."""
    if any(isinstance(kind, numba.types.Array) and kind.layout != "C" for kind in kinds):
        raise numba.errors.TypingError("an array isn't in C order")


def strides_in_c_order(builder, item, lengths):
    """Return the strides of an array, its size in bytes, and whether that is too large."""
    sizes, is_too_large = [item], numba.core.cgutils.false_bit
    for length in reversed(lengths):
        product = builder.smul_with_overflow(sizes[0], length)
        sizes.insert(0, builder.extract_value(product, 0))
        is_too_large = builder.or_(is_too_large, builder.extract_value(product, 1))
    return sizes[1:], sizes[0], is_too_large


def allocated(context, builder, array, lengths):
    """Return a new array of a type."""
    arrays, integers = numba.np.arrayobj, numba.types
    item = context.get_constant(integers.intp, arrays.get_itemsize(context, array))
    strides, size, is_too_large = strides_in_c_order(builder, item, lengths)
    # There isn't as much memory, which the allocation finds out.
    size = builder.select(is_too_large, context.get_constant(integers.intp, 2**62), size)
    align = context.get_constant(
        integers.uint32, context.get_preferred_array_alignment(array.dtype)
    )
    memory = context.nrt.meminfo_alloc_aligned(builder, size, align)
    made = context.make_array(array)(context, builder)
    data = builder.bitcast(context.nrt.meminfo_data(builder, memory), made.data.type)
    arrays.populate_array(made, data, lengths, strides, item, memory)
    return made


@extending.intrinsic
def empty(context, shape, kind):
    """Allocate an array."""
    array = numba.types.Array(kind.dtype, len(shape), "C")

    def generate(context, builder, signature, values):
        lengths = numba.core.cgutils.unpack_tuple(builder, values[0])
        made = allocated(context, builder, array, lengths)._getvalue()
        return numba.core.imputils.impl_ret_new_ref(context, builder, array, made)

    return array(shape, kind), generate


@extending.intrinsic
def copied(context, X):
    """Return a copy of an array."""
    require_c_order(X)
    array = X.copy(readonly=False)

    def generate(context, builder, signature, values):
        cgutils = numba.core.cgutils
        own = context.make_array(X)(context, builder, values[0])
        made = allocated(context, builder, array, cgutils.unpack_tuple(builder, own.shape))
        cgutils.raw_memcpy(builder, made.data, own.data, own.nitems, own.itemsize)
        made = made._getvalue()
        return numba.core.imputils.impl_ret_new_ref(context, builder, array, made)

    return array(X), generate


@extending.intrinsic
def cleared(context, X):
    """Set the bytes of an array to 0, and return it."""

    def generate(context, builder, signature, values):
        array = context.make_array(X)(context, builder, values[0])
        size = builder.mul(array.nitems, array.itemsize)
        numba.core.cgutils.memset(builder, array.data, size, 0)
        return numba.core.imputils.impl_ret_borrowed(context, builder, X, values[0])

    return X(X), generate


@extending.intrinsic
def reshaped(context, X, shape):
    """Return the entries of an array in another shape."""
    require_c_order(X)
    array = X.copy(ndim=len(shape))

    def generate(context, builder, signature, values):
        own = context.make_array(X)(context, builder, values[0])
        lengths = numba.core.cgutils.unpack_tuple(builder, values[1])
        strides, _, _ = strides_in_c_order(builder, own.itemsize, lengths)
        made = context.make_array(array)(context, builder)
        numba.np.arrayobj.populate_array(
            made, own.data, lengths, strides, own.itemsize, own.meminfo, own.parent
        )
        made = made._getvalue()
        return numba.core.imputils.impl_ret_borrowed(context, builder, array, made)

    return array(X, shape), generate


@extending.intrinsic
def store_row(context, X, place, row):
    """Copy an array into a row of one with one axis more."""
    require_c_order(X, row)
    if X.dtype != row.dtype:
        raise numba.errors.TypingError("a row of another type")

    def generate(context, builder, signature, values):
        own, given = [
            context.make_array(kind)(context, builder, value)
            for kind, value in ((X, values[0]), (row, values[2]))
        ]
        start = builder.gep(own.data, [builder.mul(values[1], given.nitems)])
        numba.core.cgutils.raw_memmove(builder, start, given.data, given.nitems, given.itemsize)
        return context.get_dummy_value()

    return numba.types.void(X, place, row), generate
