"""Analyses of expressions: properties of values, features by which rules are looked up, products
with what is inlined, and the cost of evaluation."""

from .alternating_factors import joined_labels as joined_labels, sides_of as sides_of
from .canonical_products import (
    Code as Code,
    Labelled as Labelled,
    Labels as Labels,
    canonical_product as canonical_product,
    with_labels as with_labels,
)
from .cost_model import SPECIAL as SPECIAL, cost as cost, has_known_zeros as has_known_zeros
from .entry_bodies import EntryBodies as EntryBodies, Leaf as Leaf
from .features import (
    DIAGONAL as DIAGONAL,
    DISCONNECTED as DISCONNECTED,
    NESTED as NESTED,
    PAIRS as PAIRS,
    QUOTIENT as QUOTIENT,
    REPEATED as REPEATED,
    SHARED as SHARED,
    SQUARE as SQUARE,
    SYMMETRIC as SYMMETRIC,
    Feature as Feature,
    features as features,
    functions_below as functions_below,
    is_denominator as is_denominator,
)
from .inlined_products import (
    Barriers as Barriers,
    Product as Product,
    Surroundings as Surroundings,
    UpToSign as UpToSign,
    as_powers as as_powers,
    components as components,
    distributed as distributed,
    factors_of as factors_of,
    frontier as frontier,
    inlined_product as inlined_product,
    is_difference_of_rows as is_difference_of_rows,
    is_inlined as is_inlined,
    like_terms as like_terms,
    opposite_of as opposite_of,
    pays as pays,
    scalar_and_tensor as scalar_and_tensor,
    times_entries as times_entries,
    up_to_sign as up_to_sign,
    with_common_output as with_common_output,
)
from .memoised import Answer as Answer, Property as Property, all_of as all_of
from .node_ranges import as_set as as_set, bounds as bounds, node_ranges as node_ranges
from .properties import (
    definiteness as definiteness,
    has_cholesky as has_cholesky,
    has_declared_symmetry as has_declared_symmetry,
    has_symmetry as has_symmetry,
    is_diagonal as is_diagonal,
    is_nonnegative as is_nonnegative,
    is_positive as is_positive,
    is_positive_definite as is_positive_definite,
    is_semidefinite as is_semidefinite,
    is_symmetric as is_symmetric,
    transposed as transposed,
)
from .scalar_ranges import (
    Ranges as Ranges,
    assumed_range as assumed_range,
    is_defined as is_defined,
    is_smooth as is_smooth,
    power_domain as power_domain,
    rough_range as rough_range,
    scalar_range as scalar_range,
    smooth_domain as smooth_domain,
)
from .stored_positions import are_positions as are_positions
from .value_ranges import (
    NONNEGATIVE as NONNEGATIVE,
    POSITIVE as POSITIVE,
    REALS as REALS,
    ValueRange as ValueRange,
    intersection as intersection,
    is_at_most as is_at_most,
    lies_in as lies_in,
)
