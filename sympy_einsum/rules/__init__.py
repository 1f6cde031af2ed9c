"""The normal form and its rules."""

from .association import reassociated as reassociated
from .blocks import Blocks as Blocks
from .compressed import Compressed as Compressed, compress as compress, structure as structure
from .diagonal_pushdown import push_diagonals_down as push_diagonals_down
from .diagonals import by_diagonals as by_diagonals
from .entry_formulas import entry_of as entry_of
from .entry_positions import (
    AffinePlace as AffinePlace,
    GatheredPlace as GatheredPlace,
    Place as Place,
)
from .equal_axes import lift_deltas as lift_deltas
from .expansion import (
    expand as expand,
    factor as factor,
    over as over,
    symbols_outside as symbols_outside,
)
from .loop_hoisting import hoist_inputs as hoist_inputs, sum_stored_values as sum_stored_values
from .loop_symmetry import (
    share_symmetric_carries as share_symmetric_carries,
    with_symmetric_symbols as with_symmetric_symbols,
)
from .low_rank import by_low_rank as by_low_rank
from .matrices import cofactors_as_inverse as cofactors_as_inverse
from .normal_form import (
    normal_form as normal_form,
    simplify as simplify,
    stabilise as stabilise,
    tidy as tidy,
)
from .partial_sums import with_partial_sums as with_partial_sums
from .rerolling import reroll as reroll
from .rewriting import Step as Step
from .scalar_contractions import distribute_scalar_contractions as distribute_scalar_contractions
from .semiring_meaning import MEANING as MEANING, Natural as Natural, in_meaning as in_meaning
from .shared_products import with_shared_products as with_shared_products
from .slice_pushdown import push_slices_down as push_slices_down
from .sparse_terms import SparseTerm as SparseTerm, sparse_terms as sparse_terms
