"""The full check of arguments, the fallback of generated code when its quick test fails.

Imports nothing: :func:`codegen` copies these functions into the source it returns, which is why
they have no annotations either.
"""

from __future__ import annotations


def checked_array(name, value, shape, asarray, error):
    """Return an argument as an array of the order of its shape. Narrow and unsigned integers are
    widened, whose sums and negatives wrap around; so are True and False, whose sum is an "or".
    Bytes are put into the machine's order."""
    narrow = ("bool", "int8", "int16", "uint8", "uint16", "uint32", "uint64")
    listed = shape or hasattr(value, "__len__")
    if hasattr(value, "toarray"):
        raise error(f"argument {name} is a sparse matrix; write out its zeros with .toarray()")
    if hasattr(value, "filled") and hasattr(value, "mask") and value.mask.any():
        raise error(f"argument {name} has masked entries; fill them, such as with .filled(0)")
    try:
        array = asarray(value) if listed and asarray is not None else value
    except (TypeError, ValueError) as failure:
        raise error(f"argument {name} is no array of numbers: {failure}") from None
    if shape and not hasattr(array, "shape"):
        raise error(f"argument {name} must be an array of the library used, not {value!r:.80}")
    given = tuple(getattr(array, "shape", ()))
    dtype = getattr(array, "dtype", None)
    kind = getattr(dtype, "kind", "")
    if listed and (kind in tuple("USMm") or (kind == "O" and not given)):
        raise error(f"argument {name} must be an array of numbers, not {value!r:.80}")
    if dtype is not None and not getattr(dtype, "isnative", True):
        array = array.astype(dtype.newbyteorder("="))
    if kind not in ("f", "c") and str(dtype).removeprefix("torch.") in narrow:
        array = array.long() if hasattr(array, "long") else array.astype(int)
    if len(given) != len(shape):
        raise error(
            f"argument {name} must have order {len(shape)}, but an array of order "
            f"{len(given)}, shape {given}, was given"
        )
    return array


def checked_integer(name, value, error, traced=False):
    """Return an argument that is a length or a position as an integer of Python's; where
    ``traced``, one that a library traces, whose value isn't known yet, stays as it is."""
    kind = str(getattr(value, "dtype", type(value).__name__))
    is_number = not getattr(value, "shape", ()) and "bool" not in kind
    try:
        if is_number and int(value) == value:
            return int(value)
    except (TypeError, ValueError, OverflowError, RuntimeError):
        if traced and is_number and "int" in kind:
            return value
    raise error(
        f"argument {name} is a length or a position, so it must be an integer, not {value!r:.80}"
    )


def check_shapes(arguments, asarray=None, error=ValueError, solved=()):
    """Return the arguments as arrays, after their orders and axis lengths are found consistent.

    Each argument is (name, value, shape). An entry of a shape is a number, the name of a length,
    or (text, names, function) for a length computed from others; the shape is None for an
    argument that is a length itself, ``...`` for a position. ``solved`` lists the lengths that an
    axis tells together with others: name, place of the argument, axis, those others, and the
    function of the axis and them.
    """
    lengths: dict = {}
    for name, value, shape in arguments:
        if shape is None:
            lengths[name] = (checked_integer(name, value, error), f"argument {name}")
    arrays = []
    for name, value, shape in arguments:
        if shape is None or shape is ...:
            arrays.append(checked_integer(name, value, error, shape is ...))
            continue
        array = checked_array(name, value, shape, asarray, error)
        for axis, length in enumerate(shape):
            if isinstance(length, str):
                given = array.shape[axis]
                known, origin = lengths.setdefault(length, (given, f"axis {axis} of {name}"))
                # The unknown lengths of a lazy array are not equal to themselves.
                if known != given and known == known and given == given:
                    raise error(
                        f"argument {name} has length {given} on axis {axis}, but {length} "
                        f"is {known}, from {origin}"
                    )
        arrays.append(array)
    for key, place, axis, names, function in solved:
        known = [lengths[other][0] for other in names]
        origin = f"axis {axis} of {arguments[place][0]}"
        lengths[key] = (function(arrays[place].shape[axis], *known), origin)
    for (name, _, shape), array in zip(arguments, arrays, strict=True):
        for axis, length in enumerate(shape if isinstance(shape, tuple) else ()):
            if isinstance(length, str):
                continue
            text, expected = length, length
            if isinstance(length, tuple):
                text, names, function = length
                if not set(names) <= set(lengths):
                    continue
                expected = function(*[lengths[other][0] for other in names])
                text = f"{text} = {expected}"
            given = array.shape[axis]
            if given != expected and given == given:
                raise error(
                    f"argument {name} has length {given} on axis {axis}, which must be {text}"
                )
    return arrays
