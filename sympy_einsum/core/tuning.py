"""The table of tuning constants: costs, and bounds on what is searched, written out or remembered.

One row per constant, with what it bounds and why it has its value. Costs are counted in
multiplications inside a contraction. Where a figure is called measured, it is from
``python -m benchmarks.tuning``; benchmarks/results-tuning.md shows for each constant of derivatives
and code what a quarter and four times of it change, in derivation, compile and run time.
"""

from sympy import Rational

# --- the cost model -------------------------------------------------------------------------------

# Length that a symbolic length counts as, so that n, n^2 and n^3 differ more than costs.
NOMINAL_LENGTH = 100
# Length that a symbolic number of entries of a window, or of neighbours, counts as in the choice of
# the entries of a sparse matrix: well below the square root of the length above.
NOMINAL_WINDOW = 5
# Cost of moving an entry of an array: it is read, or computed, and written. Measured: 3
# multiplications by a vector in the cache, 7 in memory.
ENTRY = 3
# That cost in the search for a contraction order: matrix products multiply much faster than memory
# is written. Measured: 11 to 30 multiplications of matrices.
SEARCH_ENTRY = 16
# Cost of a function of an entry. Measured: 6 for exp, which is vectorised, 10 for log1p; those of
# SciPy take several times as long.
FUNCTION = 20
# Cost of a root or a quotient of entries. Measured: 5 to 8.
ROOT = 4
# Iterations of Newton's method that a solution counts as.
NEWTON_ITERATIONS = 8
# Cost of a step of a loop beside its entries: statements that are interpreted. Measured: about 1000
# multiplications for each; kernels and JAX have less.
STEP = 500
# Relative difference below which two costs are equal: the model is no finer.
COST_SLACK = 1.02
# Gain by which a product has to be cheaper to be distributed over terms of low rank, and a
# derivative over bottlenecks to be no reverse sweep.
MIN_GAIN = 1.5

# --- contraction orders ---------------------------------------------------------------------------

# Operands of the exact search by dynamic programming, which is slow.
MAX_EXACT_OPERANDS = 16
# Operands where it tries outer products, which pay where operands share an index of the result.
# Measured: they make the search three times as long for a ring of 16 matrices.
MAX_OUTER_OPERANDS = 8
# Operands that share an index with one operand, and such pairs in all, in the exact search.
# Measured: one operand with 9 others takes 8 ms, and three times as long with each more; 9 operands
# that all share indices, which are 72 pairs, take 0.16 s, and four times as long with each more.
MAX_EXACT_NEIGHBOURS = 9
MAX_EXACT_PAIRS = 72
# Entries from which an operand with one neighbour is contracted before the search.
MIN_LEAF_ENTRIES = 16
# Lengths that are tried to see whether an order depends on them, and draws where there are several.
TRIED_LENGTHS = (3, 30, 1000)
MAX_LENGTH_DRAWS = 12
# Ratio to the best cost up to which an order stays in use for other lengths.
ORDER_TOLERANCE = 1.1
# Operands of a product that reuses what others have computed: each find is planned anew.
MAX_REUSING_OPERANDS = 32
# Operands of an intermediate product that others may reuse.
MAX_REUSED_OPERANDS = 8
# Operands of a product in which equal parts are looked for: orders are compared for each.
MAX_REPEATED_OPERANDS = 8
# Operands up to which a product merges into the only product that uses it.
MAX_MERGED_OPERANDS = 12
# Matrices by which a derivative of det is multiplied without being built itself.
MAX_DET_DIRECTIONS = 2
# Uses, all in products, for which systems are solved with a stack instead of inverting it: a matrix
# has factors for all of them.
MAX_STACK_SOLVES = 2

# --- scalar functions -----------------------------------------------------------------------------

# Operations of a formula whose power series, or whose limits by SymPy, are looked for: SymPy takes
# a second for a limit at this size, minutes beyond.
MAX_SERIES_OPERATIONS = 200
MAX_LIMIT_OPERATIONS = 14
# Coefficients of such a series: poles of a higher order aren't removed.
SERIES_TERMS = 8
# Terms of a written out derivative of gamma functions.
MAX_GAMMA_TERMS = 20
# Order of a derivative that is written with primes.
MAX_PRIMES = 3
# Bits of an exact number: a longer one is of no use and takes forever to compute.
MAX_NUMBER_BITS = 10**6
# Bits of coefficients that are multiplied: doubles hold four of them.
MAX_COEFFICIENT_BITS = 256
# Bits of a coefficient that is taken out of a sum: in a chain of sums with denominators the product
# of all of them would overflow.
MAX_CONTENT_BITS = 64

# --- expectations and power series ----------------------------------------------------------------

# Terms of an expectation's expression multiplied out, and pairings of the factors of one of them:
# those of a product of eight forms are 764.
MAX_MONOMIALS = 512
MAX_MATCHINGS = 10_000
# Orders of factors that are compared for the canonical one of a term: those of four equal factors,
# each with two orders of axes.
MAX_CODE_STATES = 400
# Covariances in a product of which both orders of axes are compared: all combinations are printed.
MAX_ORIENTED_FACTORS = 3
# By how many powers a series is computed beyond those wanted, where leading ones cancel.
EXTRA_POWERS = (0, 1, 2, 4, 8)
# Round-off of a covariance of floating-point numbers, relative to its largest entry.
COVARIANCE_TOLERANCE = 1e-9

# --- expressions as they are built ----------------------------------------------------------------

# Terms of a sum and factors of a product that are flattened: without a bound a running total would
# be quadratic.
MAX_FLATTENED_TERMS = 64
MAX_FLATTENED_FACTORS = 16
# Permutations of axes by which a tensor is compared with its transposes: those of five axes.
MAX_PERMUTATIONS = 120
# Orders of identical operands that are compared for the canonical one: those of four operands.
MAX_OPERAND_ORDERS = 24
# Entries with symbols of a converted array: they become terms of a sum.
MAX_CONVERTED_ENTRIES = 1000
# Entries of a product that is written out, instead of as a product of an interval.
MAX_WRITTEN_FACTORS = 8
# Free symbols of a node that remembers them. Measured without a bound: a chain of 1,500 sums takes
# ten times as long to search, and twenty times the memory.
MAX_KEPT_LEAVES = 16
# Entries that a step may leave to be computed before the loop, for each of its carries and inputs:
# four gates of a cell are, products of all pairs aren't. What is computed entry by entry stays if
# all parts have more entries for each of the inputs: three carries of an adjoint by Runge-Kutta's
# method have 20 such parts, which take 1.35 times as long for 30,000 entries, 0.85 for 2.
MAX_HOISTED_ENTRIES = 4
# Steps of loops that are compared with their steps written out: a second, with ten operations each.
MAX_COMPARED_STEPS = 16
# Equal steps of a chain that become a loop: measured for a recurrent network in NumPy, a loop takes
# as long as its steps written out at 8 and at 20 steps, and three quarters at 100. Passes over a
# graph, of which each rerolls chains that take values of those rerolled before.
MIN_REROLLED_STEPS = 8
MAX_REROLLING_PASSES = 16
# Equal steps of functions of entries where these would be fused: a loop writes all entries at each
# step. Measured: four times as long for 20 steps of x*y + x**2/4 and a million entries in Numba.
MIN_ENTRYWISE_STEPS = 128
# The share of a program that steps must have to read a list of numbers: those of 40 steps of Adam's
# method have 0.1 of it with its gradient, which would take 1.6 times as long to compile.
MIN_SHARE_WITH_NUMBERS = 0.4
# How far numbers may be from a function of the step that replaces them, relative to their sizes.
NUMBER_ROUNDING = 1e-15
# Levels of operands by which nodes of equal steps are recognised, and distances between these on a
# path that are tried.
SIGNATURE_LEVELS = 3
MAX_TRIED_PERIODS = 4
# Steps at the end of a chain that may differ from the others.
MAX_OTHER_STEPS = 2
# Places in a step where it may end that are compared.
MAX_STEP_ENDS = 32

# --- analyses -------------------------------------------------------------------------------------

# Steps of the search for symmetric pairings of the operands of a product, and pairings found.
MAX_PAIRING_STEPS = 500
MAX_PAIRINGS = 16
# Operands of an inlined product, so that work stays linear in the graph.
MAX_INLINED_OPERANDS = 12

# --- the normal form ------------------------------------------------------------------------------

# Nodes of a graph in which nothing is searched that takes more than linear time.
LARGE_GRAPH = 500
# Shared nodes that the normal form tries to inline: with more it costs half of the time, and hasn't
# paid in any derivative of the gallery and the benchmarks.
MAX_SHARED_NODES = 64
# Terms of all products, multiplied out, beyond which nobody reads a derivative.
MAX_READABLE_TERMS = 1000
# Results for different dependency sets that a node remembers.
MAX_REMEMBERED_RESULTS = 4
# Terms that multiplying out a product, a power or a function may give in the normal form.
MAX_DISTRIBUTED_TERMS = 64
# Terms of a product of sums that are positioned one by one in a sparse matrix.
MAX_SPARSE_TERMS = 256
# Terms of a product, and of a scalar, where multiplying out is asked for.
MAX_EXPANDED_TERMS = 256
# Terms of a sum, or of a condition, that are searched in pairs.
MAX_PAIRED_TERMS = 16
# Common factors of a sum that are tried.
MAX_COMMON_FACTORS = 4
# Terms of a sum, and of its products multiplied out, whose parts may cancel.
MAX_CANCELLED_TERMS = 8
# The cost of a contraction whose sums are multiplied out so that terms cancel, relative to that of
# the contraction: for accuracy. It is 1.3 and more where deviations from a mean are lost.
CANCELLATION_COST = Rational(6, 5)
# Pairs of equal operands for which equal halves of a product are looked for.
MAX_EQUAL_PAIRS = 4
# Operands of a composition of functions: SymPy's time grows with a power of their number.
MAX_COMPOSED_OPERANDS = 8
# Symmetric matrices of a product that are transposed, and orders of the axes of all of its operands
# that are compared; beyond it they are compared for one operand after the other.
MAX_SYMMETRIC_FACTORS = 4
MAX_AXIS_ORDERS = 64
# Axes of an antisymmetric tensor: their permutations are compared.
MAX_ALTERNATING_AXES = 6
# Terms into which simplify multiplies out a product of two antisymmetric tensors; those into which
# it is multiplied out to decide equality, or a product with one is for code.
MAX_CONTRACTED_TERMS = 2
MAX_ALTERNATING_TERMS = 24
# Length of a matrix of which products are simplified entry by entry, and nodes one above the other
# in it.
MAX_ENTRY_MATRIX = 4
MAX_ENTRY_MATRIX_DEPTH = 20
# Terms of an entry to which trigonometric identities are applied: SymPy takes seconds for 40, and
# four rotations one after the other have 16.
MAX_TRIGONOMETRIC_TERMS = 24
# Parts from which an entry is computed that is written as a formula.
MAX_ENTRY_PARTS = 64
# Order of cofactors that are written out: more have too many terms.
MAX_WRITTEN_COFACTORS = 3
# Levels that a slice is pushed down in a pass, and passes.
MAX_SLICE_LEVELS = 50
MAX_SLICE_PASSES = 4
# Factors of a denominator that are searched.
MAX_DENOMINATOR_FACTORS = 4

# --- numerically stable forms ---------------------------------------------------------------------

# Levels of functions of functions that are searched.
STABLE_LEVELS = 5
# Nodes of a scalar that is expanded for a stable form: SymPy multiplies shared ones out.
MAX_EXPANDED_NODES = 24
# Terms of a sum, or factors of a product, that are searched for parts of a form.
STABLE_TERMS = 16
# Operands of a part that is searched.
STABLE_OPERANDS = 3
# Levels above the argument of a form, operands of an operation in it, and its nodes.
STABLE_FORM_DEPTH = 5
STABLE_FORM_WIDTH = 4
STABLE_FORM_NODES = 24

# --- derivatives ----------------------------------------------------------------------------------

# Nodes of a formula whose choices are inlined before it is differentiated, and choices in choices:
# written out, shared parts are repeated, and SymPy takes long to combine conditions.
MAX_CHOICE_NODES = 200
MAX_NESTED_CHOICES = 4
# Reshaped tensors that a function is made of, and steps, where it is differentiated by each.
MAX_RESHAPED_PARTS = 64
MAX_RESHAPING_STEPS = 16
# Nodes between a function and its variables for which both ways of a derivative are built.
MAX_COMPARED_NODES = 100
# Operands in all terms of a product's derivative for which it isn't split in halves.
MAX_PRODUCT_RULE_OPERANDS = 256
# Value from which a negative power of a base isn't taken for huge.
LEAST_BASE = Rational(1, 1000)
# Rows of a table of derivation steps.
MAX_DERIVATION_ROWS = 100

# --- plans ----------------------------------------------------------------------------------------

# Sums that are tried as a part of another one, the longest first, of those with a rarest term.
MAX_TRIED_SUMS = 4
# Ratio below which the rest of a floating-point multiple counts as 0.
FLOAT_ROUNDING = 1e-13
# Ratio to a sum's largest factor up to which those of two sums that it consists of may be: what
# cancels in x + v/10 cancelled in the steps that were written.
MAX_CANCELLED = 3
# Terms left of a sum without a multiple of another one for which those of two are tried too.
MAX_ADDED_TERMS = 2
# Numeric factors of terms that are added before smaller ones, which would be rounded beside one of
# them: for accuracy, not for speed.
LARGE_FACTOR = 10_000
# Terms of a sum that isn't a running total, and levels of nodes computed for one term of it.
# Measured: neither is faster, but a running total keeps one term in memory at a time.
MAX_SUMMANDS = 16
MAX_TERM_LEVELS = 50
# Zero-padded terms that are compared before they are added.
MAX_COMPARED_TERMS = 64
# Terms of a sum over the positions of a window that are written out.
MAX_WINDOW_TERMS = 128
# Entries of an extremum that is computed by comparing slices: libraries are slow along short axes.
# Measured: a sixth of the time at 16 entries, equal at 64; each entry is a line of code.
MAX_COMPARED_SLICES = 16
# Entries of the matrices of a stack that is multiplied by vectors with einsum, not one by one by a
# library. Measured in NumPy for 20,000: half the time for 3×3, equal for 6×3, 1.5 times for 20×3.
MAX_EINSUM_ENTRIES = 9
# Levels and arguments of a scalar expression in one instruction: Python's parser limits nesting,
# and a sum nests as often as it has terms.
MAX_SCALAR_LEVELS = 12
MAX_SCALAR_ARGUMENTS = 100
# Values from which the type of a value follows; with more it counts as one of its own.
MAX_TYPE_SOURCES = 32
# Expressions that are tidied one by one, each with all that they share.
MAX_SEPARATE_EXPRESSIONS = 8
# Operands of a fused function, and levels of functions in it: printing one recurses.
MAX_FUSED_OPERANDS = 16
MAX_FUSED_LEVELS = 16
# Vectors that systems are solved for one by one, which is more precise than multiplying them by the
# inverse. Measured for the Hessian of a Gaussian process, with six vectors and matrices that are
# multiplied by the inverse: multiplying takes 0.81 of the time for 5 points, 0.94 for 400.
MAX_SOLVED_VECTORS = 4
# Instructions that read matrices with all rows from which blocks of rows pay in NumPy, and rows.
# Measured for a softmax regression: code with blocks takes 10 % more time at 200 rows, 3 % more at
# 1,000, 10 % less at 100,000.
MIN_BLOCK_READS = 3
MIN_BLOCKED_ROWS = 1000
# Sums, each an operand of the next, that make a running total, which is written in place. Measured:
# 5 % less time for 20 vectors of a million entries.
MIN_RUNNING_SUMS = 4

# --- emitted code ---------------------------------------------------------------------------------

# Entries of a constant array that is written into the source.
MAX_WRITTEN_CONSTANT = 1000
# Characters of code that stands inside the code that uses it, in Python.
MAX_INLINED_CODE = 60
# Names and numbers of code that stands inside the code that uses it, in a kernel.
MAX_INLINED_NAMES = 7
# Levels of entries that are computed inside of others in a kernel.
MAX_INLINED_LEVELS = 32
# Operations of an entrywise function that a kernel recomputes wherever it is needed, and along
# other axes too.
MAX_RECOMPUTED_OPERATIONS = 8
MAX_OPERATIONS_ALONG = 1
# Loops of a nest: no argument has the name of their variables.
MAX_NAMED_LOOPS = 32
# Entries of a block of rows in a kernel: 512 KiB of doubles, which a second-level cache holds; its
# rows at least; and entries of the sums over blocks, half of that.
BLOCK_ENTRIES = 2**16
MIN_BLOCK_ROWS = 32
MAX_BLOCK_TOTALS = 2**15
# Products of entries that a matrix product in a semiring computes at once: 512 KiB of doubles,
# which stay in the cache; those in PyTorch; and those that keep a device busy.
MAX_SEMIRING_PRODUCTS = 2**16
MAX_SEMIRING_PRODUCTS_IN_TORCH = 2**17
MAX_SEMIRING_PRODUCTS_ON_DEVICE = 2**22
# Tiles of 64 x 64 entries that keep a device busy; with fewer, those of 16 x 16 are faster.
MIN_DEVICE_TILES = 200

# --- caches ---------------------------------------------------------------------------------------

# Bytes, and half of what it was, by which what is alive grows before caches are emptied.
CACHE_GROWTH_BYTES = 64 * 2**20
# Bytes that a node takes with what passes remember at it, and that a part of static data takes.
NODE_BYTES = 1024
ENTRY_BYTES = 64
# Digests of stock expressions that are remembered at least, and half of those at most: each
# expression takes kilobytes, most of them for what SymPy knows about its sign and the like.
MAX_DIGESTS = 8192
# Bits of a number that is digested in decimal digits: they take quadratic time, and Python may
# refuse more than 640 of them.
MAX_DECIMAL_BITS = 2000
# Sets of axis lengths whose plans are remembered, and plans for other lengths that a program keeps.
MAX_VARIANTS = 1000
MAX_PLANS = 16
# Patterns of a sparse matrix that are remembered, with their positions: each is as large as some
# arrays of its entries.
MAX_PATTERNS = 4
# Kernels kept on disk, of about 150 KB each.
MAX_KEPT_KERNELS = 500

# --- texts ----------------------------------------------------------------------------------------

# Characters of a text that is read, or written in a language, and seconds for reading it.
MAX_TEXT = 100_000
MAX_SECONDS = 2.0

# --- conversion and evaluation --------------------------------------------------------------------

# Terms of a sum, or entries of a matrix, that are computed exactly: more are floating-point.
MAX_EXACT_TERMS = 20_000
# Nodes and levels of a converted expression as a tree: SymPy's objects are trees, and most of its
# functions recurse; beyond these they never end.
MAX_CONVERTED_SIZE = 10_000
MAX_CONVERTED_DEPTH = 150
# Those of one that is converted to sums: SymPy queries the sign of a function of these at every
# level.
MAX_SUMS_SIZE = 1000
MAX_SUMS_DEPTH = 60
# Nodes of a text in which a shared argument is written wherever it occurs.
MAX_WRITTEN_TREE = 100_000
# Points for which an interpolating line is a piecewise formula.
MAX_INTERPOLATION_POINTS = 20

# --- verification ---------------------------------------------------------------------------------

# Relative error below which numbers are equal.
TOLERANCE = 1e-5
# Steps of finite differences that are tried, each half of the one before.
MAX_HALVINGS = 24
# Sets of random data on which expressions that may be equal are compared, and those that are tried
# for each.
SAMPLES = 6
MAX_SAMPLE_DRAWS = 20
# Condition of a matrix that is inverted: it may lose four digits, not more.
MAX_CONDITION = 1e4
# The least length of an axis in a sample, and that of one with loops, which it may be the number
# of steps of.
LEAST_LENGTH = 2
LEAST_LENGTH_OF_LOOPS = 4
# Lengths that are all different: the tensors of more would be too large.
MAX_DIFFERENT_LENGTHS = 6
# Terms of a scalar that is brought to one denominator.
MAX_FRACTIONS = 32
# Factors of all products that are written without brackets: a few seconds.
MAX_INLINED_FACTORS = 4000

# --- languages and programs -----------------------------------------------------------------------

# Parentheses, and scalar functions, that are nested: SymPy's time grows with the fourth power of
# the latter.
MAX_NESTING = 1_000
MAX_SCALAR_DEPTH = 64
# Exponent of a number, and of a matrix, whose power is a product.
MAX_EXPONENT = 10_000
MAX_MATRIX_POWER = 64
# Argument at which gamma functions are evaluated exactly, which takes forever at large ones.
MAX_EXACT_ARGUMENT = 170
# Order of a tensor that is read, and that is drawn: there are as many letters.
MAX_READ_ORDER = 50
MAX_DRAWN_ORDER = 20
# Nodes of which all steps of reverse mode are drawn: each is a graph of its own.
MAX_DRAWN_NODES = 300
# Axis length, or position, in a program, and entries of a list.
MAX_PROGRAM_LENGTH = 10_000
MAX_LIST_ENTRIES = 10_000
# Steps of a loop in a program that are written out; more are a scan.
MAX_WRITTEN_STEPS = 16
# Nodes of a scalar as a tree: some of SymPy's functions walk it as one.
MAX_SCALAR_TREE = 50_000
# Calls that are nested, and functions in memory that call one another.
MAX_CALL_DEPTH = 50
MAX_CALLED_FUNCTIONS = 30

# --- printing -------------------------------------------------------------------------------------

# Parts and levels of an expression that is printed without names.
MAX_UNNAMED_PARTS = 100
MAX_UNNAMED_LEVELS = 25
# Size of a part that never gets a name; size, characters and levels above which it always gets
# one.
SMALL_PART = 4
LONG_PART = 60
LONG_TEXT = 300
DEEP_PART = 16
# Sums that a sum is compared with.
MAX_COMPARED_SUMS = 4
# Nodes of which the notation is remembered: queries mostly concern scalars of one graph.
MAX_NOTATIONS = 10_000
# Entries that are shown, of a constant or of a matrix that is made entry by entry.
MAX_SHOWN_ENTRIES = 36
# Power of a matrix that is written as a chain.
MAX_CHAIN_POWER = 4
# Levels of an expression in Ricci notation.
MAX_RICCI_DEPTH = 100
# Characters of a line of a drawing: a name may have thousands of letters.
MAX_DRAWN_LINE = 40
# Operands of a drawn product: what it uses twice is drawn twice, so that inlining may grow
# exponentially. Levels of an operand whose text is shown: that of a deeper one would be cut off.
MAX_DRAWN_OPERANDS = 1000
MAX_DRAWN_DEPTH = 6
# Expressions of a list that are shown as formulas, and characters of a derivative in a docstring.
MAX_SHOWN_FORMULAS = 100
MAX_SHOWN_DERIVATIVE = 200

# --- optimization problems ------------------------------------------------------------------------

# Unknowns of a sparse system that is solved as a dense one, and the share of its entries that may
# differ from 0 where a larger one isn't.
MAX_DENSE_SYSTEM = 500
MAX_SPARSE_SHARE = 0.1
# Rank up to which a product beside a sparse matrix isn't added up with it.
MAX_RANK = 16
# Entries of a sparse matrix in small blocks, for each entry that isn't 0, up to which its products
# take less time: with blocks of (3, 6), all filled, two fifths.
MAX_FILLED_BLOCKS = 2
# Blocks of rows by which a dense Schur complement is computed.
COMPLEMENT_PARTS = 8
# Diagonals up to which a sparse system is solved as a band. Measured for 100,000 unknowns: a third
# of the time of sparse factors at 7, half of it at 61.
MAX_BANDWIDTH = 64
# Corrections of a solution by elimination; the backward error that needs none, and the largest one
# after them.
MAX_REFINEMENTS = 3
REFINED_ERROR = 1e-13
MAX_BACKWARD_ERROR = 1e-10
# Rows of the small matrices that a block consists of which a Schur complement eliminates.
MAX_ELIMINATED_BLOCK = 64
# Unknowns up to which Hessians are matrices; beyond, methods get products with them.
MAX_DENSE_HESSIAN = 500
# Parts of a vector up to which its Hessian is derived in blocks.
MAX_VECTOR_PARTS = 16
# Of Newton's method with structured Hessians: the damping, relative to the diagonal, below which
# there is none, that of the first step of least squares, and that beyond which none is tried; the
# least diagonal, relative to the largest; the share of a predicted decrease that is enough; the
# decrease, relative to the objective, that is lost in rounding.
MIN_DAMPING = 1e-10
FIRST_DAMPING = 1e-4
MAX_DAMPING = 1e20
LEAST_DIAGONAL = 1e-8
MIN_RATIO = 1e-4
FLAT_STEP = 1e-13
# Of that with dense ones: the least curvature, relative to the largest.
LEAST_CURVATURE = 1e-10
# How often a step is shortened, by which factor one may be longer than that before after a first
# trial failed, by which factor the objective may be steeper at its end, and the share of its slope
# that a step which is lengthened still has there.
MAX_STEP_CUTS = 40
LONGER_STEP = 4
MAX_STEEPER = 1000
STEEP_END = 0.9
# The part of the error to which a step has to reduce it for the Hessian to be kept for the next,
# and the multiple of the observed change that counts as possible later.
KEPT_HESSIAN = 0.3
CHANGE_MARGIN = 10
# Systems by which a step within bounds is found, and the diagonal, relative to the largest, that
# holds entries.
MAX_BOUNDED_SYSTEMS = 10
HELD_DIAGONAL = 1e15
# Entries from which a Jacobian may be a sparse matrix, where few of them may differ from 0.
MIN_SPARSE_JACOBIAN = 10**5
# Entries of the Jacobian of a residual, up to which sums of squares are solved by it.
MAX_JACOBIAN = 10**7
# Iterations of a method, and of the interior-point method.
MAX_SOLVER_ITERATIONS = 10_000
MAX_BARRIER_ITERATIONS = 1000
# Entries of the Jacobian of a residual up to which squares within bounds are fitted by it.
MAX_BOUNDED_JACOBIAN = 10**5
# Iterations of Newton's method that polish the end of another, and the part of the tolerance at
# which they end.
MAX_POLISHING_STEPS = 5
POLISHED = 1e-4
# Relative distance from equality up to which constraints may be active.
NEAR_ACTIVE = 1e-4
# Multiple of the tolerance, relative to gradients, up to which conditions for an optimum hold, and
# up to which they do where a method says that it has converged.
OPTIMAL = 100
NEARLY_OPTIMAL = 10_000
# Relative distance from a bound on which the gradient isn't finite.
POLE_MARGIN = 1e-9
# Part of an affine equation beside those before, up to which it follows from them.
REDUNDANT_ROW = 1e-10
# Augmented Lagrangians that are minimised one after the other.
MAX_PENALTIES = 30
# Saddle points that are left one after the other, and the relative length of the step.
MAX_SADDLES = 5
SADDLE_STEP = 0.1
# Relative difference of the derivative of an affine constraint from that of a bound.
SAME_PROBE = 1e-12
# Value, relative to 1 and the one at the start, below whose negative an objective counts as
# unbounded, and an entry or a step from which on a problem may be unbounded.
UNBOUNDED_VALUE = 1e20
LARGE_ENTRY = 1e6
# Nodes of an expression that are searched for one that isn't finite.
MAX_DIAGNOSED_NODES = 200

# --- intervals and convexity ----------------------------------------------------------------------

# Bits of a rational endpoint and operations of an irrational one that is kept exactly, digits to
# which others are rounded outward, and the binary exponent beyond which they are infinite.
MAX_ENDPOINT_BITS = 128
MAX_ENDPOINT_OPS = 8
ENDPOINT_DIGITS = 30
MAX_ENDPOINT_EXPONENT = 5_000
# Relative difference of endpoints up to which they are compared exactly.
SAME_ENDPOINT = 1e-12
# Argument beyond which exponentials aren't computed: they exceed 2 to this power.
FAR_ARGUMENT = 1000
# Bisections of the interval of a function's argument, one inside the other.
MAX_RANGE_BISECTIONS = 5
# Schur complements one inside the other, and rows of a matrix whose entries, or all of whose
# minors, are examined.
MAX_SCHUR_COMPLEMENTS = 3
MAX_EXPLICIT_SIZE = 8
MAX_MINORS_SIZE = 4
# Operations of an expression whose sign is looked for, degree of a polynomial whose roots are
# counted, and intervals on which a sign is looked for, one inside the other and in all.
MAX_SIGN_OPS = 80
MAX_STURM_DEGREE = 40
MAX_SIGN_BISECTIONS = 8
MAX_SIGN_PARTS = 32
# Nodes of a graph up to which curvature is proved from the root down, and characters of an
# expression in a message.
MAX_RECURSIVE_NODES = 80
MAX_SHOWN_CHARACTERS = 80
# Points at which a sign is tried first, and the value that counts as one.
TRIED_POINTS = 8
TRIED_SIZE = 1e-6
# Arguments of a function whose Hessian is examined, and nodes of it and of its derivatives.
MAX_HESSIAN_ARGUMENTS = 3
MAX_HESSIAN_NODES = 100
# Degree of a polynomial whose extrema are computed exactly.
MAX_EXACT_DEGREE = 8
# Nodes one above the other, and operations, that are written as one scalar expression of an entry.
MAX_ENTRY_DEPTH = 12
MAX_ENTRY_OPS = 100

# --- the local page -------------------------------------------------------------------------------

# Order of a derivative, and its operations that are written.
MAX_REPORTED_ORDER = 10
MAX_REPORTED_OPERATIONS = 30_000
# Bytes of a request, seconds and bytes of memory that it takes, and seconds that a drawing takes,
# which is left out if it takes longer.
MAX_REQUEST_BYTES = 100_000
MAX_REQUEST_SECONDS = 10
MAX_REQUEST_MEMORY = 4 * 2**30
MAX_DRAWING_SECONDS = 5
# Requests that are computed at once, and seconds between two looks at the result.
MAX_PROCESSES = 2
POLLING_SECONDS = 0.2
# Seconds after which a notebook says which function is running.
NOTE_SECONDS = 2

# --- random programs for tests --------------------------------------------------------------------

# Axes and entries of a tensor, and its largest value: beyond that too many digits are lost.
MAX_DRAWN_AXES = 4
MAX_DRAWN_ENTRIES = 200
MAX_DRAWN_VALUE = 1e3
# Steps that are tried for one that is possible.
MAX_DRAWN_STEPS = 12
