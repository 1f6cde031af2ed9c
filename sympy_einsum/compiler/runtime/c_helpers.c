/// words
#ifdef USE_SIMD
#define PRAGMA(text) _Pragma(#text)
#define SIMD(clause) PRAGMA(omp simd clause)
#else
#define SIMD(clause)
#endif

/// memory
/* The arrays that are freed together. */
typedef struct {
    void **blocks;
    int64_t count, size;
} Memory;

/* Return an array of at least one entry; NULL if there is no memory. */
static void *allocate(Memory *memory, int64_t count, size_t size)
{
    void *block;
    if (memory->count == memory->size) {
        int64_t more = 2 * memory->size + 16;
        void **blocks = realloc(memory->blocks, (size_t)more * sizeof(void *));
        if (blocks == NULL)
            return NULL;
        memory->blocks = blocks;
        memory->size = more;
    }
    block = malloc((count > 0 ? (size_t)count : 1) * size);
    if (block != NULL)
        memory->blocks[memory->count++] = block;
    return block;
}

/* Free all arrays but the first ones; with -1 the list of them too. */
static void release(Memory *memory, int64_t kept)
{
    while (memory->count > 0 && memory->count > kept)
        free(memory->blocks[--memory->count]);
    if (kept < 0)
        free(memory->blocks);
}

/// fill
/* Write one number into all entries. */
static inline void fill(double *x, int64_t count, double value)
{
    for (int64_t k = 0; k < count; k++)
        x[k] = value;
}

/// fill_integers
/* Write one number into all entries. */
static inline void fill_integers(int64_t *x, int64_t count, int64_t value)
{
    for (int64_t k = 0; k < count; k++)
        x[k] = value;
}

/// copy
/* Copy entries; the arrays may overlap. */
static inline void copy(void *target, const void *source, int64_t count)
{
    if (count > 0)
        memmove(target, source, (size_t)count * 8);
}

/// make_finite
/* Replace the entries that aren't finite by 0. */
static inline void make_finite(double *x, int64_t count)
{
    for (int64_t k = 0; k < count; k++)
        if (!isfinite(x[k]))
            x[k] = 0;
}

/// smaller_integer
static inline int64_t smaller_integer(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/// larger_integer
static inline int64_t larger_integer(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

/// absolute_integer
static inline int64_t absolute_integer(int64_t a)
{
    return a < 0 ? -a : a;
}

/// floor_quotient
/* Return the largest integer that isn't above a / b. */
static inline int64_t floor_quotient(int64_t a, int64_t b)
{
    return a / b - (a % b != 0 && (a < 0) != (b < 0));
}

/// floor_remainder: floor_quotient
static inline int64_t floor_remainder(int64_t a, int64_t b)
{
    return a - b * floor_quotient(a, b);
}

/// integer_power
static inline int64_t integer_power(int64_t x, int64_t n)
{
    int64_t power = 1;
    for (; n > 0; n >>= 1, x *= n ? x : 1)
        if (n & 1)
            power *= x;
    return power;
}

/// square
static inline double square(double x)
{
    return x * x;
}

/// power_of
/* Return a power of which the exponent isn't negative. */
static inline double power_of(double x, int n)
{
    double power = 1;
    for (; n > 0; n >>= 1, x *= x)
        if (n & 1)
            power *= x;
    return power;
}

/// bits
static inline uint64_t bits_of(double x)
{
    uint64_t bits;
    memcpy(&bits, &x, sizeof x);
    return bits;
}

static inline double from_bits(uint64_t bits)
{
    double x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

/// exponent_parts: bits
/* Of x = k log 2 + r: return exp(r) - 1, and two factors of 2^k. Straight-line code, which loops
   are compiled to vectors of. W. J. Cody, W. Waite, "Software Manual for the Elementary
   Functions", 1980. */
static inline double exponent_parts(double x, double *a, double *b)
{
    double k = floor(x * 1.4426950408889634 + 0.5);
    double r = (x - k * 6.93145751953125e-1) - k * 1.42860682030941723212e-6, z = r * r;
    double p = r * ((1.26177193074810590878e-4 * z + 3.02994407707441961300e-2) * z + 1.0);
    double q = (3.00198505138664455042e-6 * z + 2.52448340349684104192e-3) * z;
    double half = floor(0.5 * k), shift = 6755399441055744.0 + 1023.0;
    q = (q + 2.27265548208155028766e-1) * z + 2.0;
    *a = from_bits(bits_of(half + shift) << 52);
    *b = from_bits(bits_of(k - half + shift) << 52);
    return 2.0 * (p / (q - p));
}

/// exp_of: exponent_parts
static inline double exp_of(double x)
{
    double y = x > 710.0 ? 710.0 : x < -750.0 ? -750.0 : x, a, b;
    double e = exponent_parts(y, &a, &b);
    return (1.0 + e) * a * b;
}

/// expm1_of: exponent_parts
static inline double expm1_of(double x)
{
    double y = x > 710.0 ? 710.0 : x < -60.0 ? -60.0 : x, a, b;
    double e = exponent_parts(y, &a, &b);
    double z = y < 60.0 ? e * a * b + (a * b - 1.0) : (1.0 + e) * a * b;
    return fabs(x) > 1e-20 || x != x ? z : x;
}

/// tanh_of: expm1_of
static inline double tanh_of(double x)
{
    double t = expm1_of(-2.0 * fabs(x));
    return fabs(x) > 1e-20 || x != x ? copysign(t / (t + 2.0), x) : x;
}

/// log_of: bits
/* Return the natural logarithm; the coefficients are those of FDLIBM. */
static inline double log_of(double x)
{
    int is_tiny = x < 2.2250738585072014e-308;
    double y = is_tiny ? x * 18014398509481984.0 : x;
    uint64_t bits = bits_of(y) + (0x3FF0000000000000 - 0x3FE6A09E667F3BCD);
    double k = from_bits((bits >> 52) | 0x4330000000000000) - (4503599627370496.0 + 1023.0);
    double f = from_bits((bits & 0x000FFFFFFFFFFFFF) + 0x3FE6A09E667F3BCD) - 1.0;
    double s = f / (2.0 + f), z = s * s, w = z * z, half = 0.5 * f * f;
    double one = 2.222219843214978396e-01 + w * 1.531383769920937332e-01;
    double other = 1.818357216161805012e-01 + w * 1.479819860511658591e-01, rest, value;
    one = w * (3.999999999940941908e-01 + w * one);
    other = z * (6.666666666666735130e-01 + w * (2.857142874366239149e-01 + w * other));
    k -= is_tiny ? 54.0 : 0.0;
    rest = half - (s * (half + one + other) + k * 1.90821492927058770002e-10);
    value = k * 6.93147180369123816490e-01 - (rest - f);
    value = x < INFINITY ? value : x;
    return x > 0 ? value : x == 0 ? -INFINITY : NAN;
}

/// log1p_of: log_of
static inline double log1p_of(double x)
{
    double total = 1.0 + x, lost = (x - (total - 1.0)) / total;
    double value = log_of(total) + (0 < total && total < INFINITY ? lost : 0.0);
    return total != 1 ? value : x;
}

/// maximum
/* Return the larger number; nan if either is. */
static inline double maximum(double a, double b)
{
    return a > b || a != a ? a : b;
}

/// minimum
/* Return the smaller number; nan if either is. */
static inline double minimum(double a, double b)
{
    return a < b || a != a ? a : b;
}

/// finite_or_0
static inline double finite_or_0(double x)
{
    return isfinite(x) ? x : 0.0;
}

/// heaviside
static inline double heaviside(double x, double at_0)
{
    return x > 0 ? 1.0 : x < 0 ? 0.0 : x == 0 ? at_0 : NAN;
}

/// sign
static inline double sign(double x)
{
    return x > 0 ? 1.0 : x < 0 ? -1.0 : x == 0 ? 0.0 : NAN;
}

/// logaddexp: exp_of log1p_of
/* Return log(exp(a) + exp(b)) without overflow. */
static inline double logaddexp(double a, double b)
{
    double gap = log1p_of(exp_of(-fabs(a - b)));
    return a == b ? a + 0.6931471805599453 : (a > b || a != a ? a : b) + gap;
}

/// nan_to_num
static inline double nan_to_num(double x)
{
    const double most = 1.7976931348623157e308;
    return x != x ? 0.0 : x > most ? most : x < -most ? -most : x;
}

/// sinc
static inline double sinc(double x)
{
    return x == 0 ? 1.0 : sin(3.141592653589793 * x) / (3.141592653589793 * x);
}

/// sigmoid: exp_of
static inline double sigmoid(double z)
{
    return 1 / (1 + exp_of(-z));
}

/// sigmoid_derivative: exp_of
static inline double sigmoid_derivative(double z)
{
    double t = exp_of(-fabs(z));
    return t / ((1 + t) * (1 + t));
}

/// softplus: exp_of log1p_of
static inline double softplus(double z)
{
    return (z > 0.0 || z != z ? z : 0.0) + log1p_of(exp_of(-fabs(z)));
}

/// ndtr
static inline double ndtr(double x)
{
    return 0.5 * erfc(-x * 0.7071067811865476);
}

/// xlogy: log_of
static inline double xlogy(double x, double y)
{
    return x == 0 && y == y ? 0.0 : x * log_of(y);
}

/// xlog1py: log1p_of
static inline double xlog1py(double x, double y)
{
    return x == 0 && y == y ? 0.0 : x * log1p_of(y);
}

/// entr: xlogy
static inline double entr(double x)
{
    return x < 0 ? -INFINITY : -xlogy(x, x);
}

/// rel_entr: log_of
static inline double rel_entr(double x, double y)
{
    if (x > 0 && y > 0)
        return x * log_of(x / y);
    return x == 0 && y >= 0 ? 0.0 : x != x || y != y ? NAN : INFINITY;
}

/// loggamma
static inline double loggamma(double x)
{
    return x < 0 ? NAN : lgamma(x);
}

/// betaln
static inline double betaln(double x, double y)
{
    return lgamma(x) + lgamma(y) - lgamma(x + y);
}

/// exprel
static inline double exprel(double x)
{
    return x == 0 ? 1.0 : expm1(x) / x;
}

/// sinhc
static inline double sinhc(double x)
{
    return x == 0 ? 1.0 : sinh(x) / x;
}

/// tanhc
static inline double tanhc(double x)
{
    return x == 0 ? 1.0 : tanh(x) / x;
}

/// floor_divide
static inline double floor_divide(double a, double b)
{
    return floor(a / b);
}

/// remainder_of
/* Return the remainder of a division, with the sign of the divisor. */
static inline double remainder_of(double a, double b)
{
    double rest = fmod(a, b);
    return rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest == 0 ? copysign(0.0, b) : rest;
}

/// cumsum: copy
/* Write running sums along the middle axis of three, or those from its end. */
static void cumsum(int64_t outer, int64_t count, int64_t inner, const double *x, int backwards,
                   double *total)
{
    if (inner == 1) {
        for (int64_t i = 0; i < outer; i++) {
            double sum = 0;
            for (int64_t j = 0; j < count; j++) {
                int64_t here = i * count + (backwards ? count - 1 - j : j);
                sum = j > 0 ? sum + x[here] : x[here];
                total[here] = sum;
            }
        }
        return;
    }
    copy(total, x, outer * count * inner);
    for (int64_t i = 0; i < outer; i++)
        for (int64_t j = 1; j < count; j++) {
            int64_t here = backwards ? count - 1 - j : j, there = backwards ? here + 1 : here - 1;
            for (int64_t k = 0; k < inner; k++)
                total[(i * count + here) * inner + k] += total[(i * count + there) * inner + k];
        }
}

/// lagged_cumsum: memory cumsum smaller_integer larger_integer
/* Write running sums of which entry j ends at j - lag; backwards, they begin at j + lag. */
static int lagged_cumsum(Memory *memory, int64_t outer, int64_t length, int64_t inner,
                         const double *x, int backwards, int64_t lag, int64_t count, double *total)
{
    double *sums = allocate(memory, outer * length * inner, sizeof(double));
    if (sums == NULL)
        return 3;
    cumsum(outer, length, inner, x, backwards, sums);
    for (int64_t i = 0; i < outer; i++)
        for (int64_t j = 0; j < count; j++) {
            int64_t place =
                backwards ? larger_integer(j + lag, 0) : smaller_integer(j - lag, length - 1);
            for (int64_t k = 0; k < inner; k++)
                total[(i * count + j) * inner + k] =
                    0 <= place && place < length ? sums[(i * length + place) * inner + k] : 0.0;
        }
    return 0;
}

/// cummax: copy maximum
/* Write the largest entries so far along the middle axis. */
static void cummax(int64_t outer, int64_t count, int64_t inner, const double *x, double *total)
{
    copy(total, x, outer * count * inner);
    for (int64_t i = 0; i < outer; i++)
        for (int64_t j = (i * count + 1) * inner; j < (i + 1) * count * inner; j++)
            total[j] = maximum(total[j - inner], x[j]);
}

/// cummin: copy minimum
/* Write the smallest entries so far along the middle axis. */
static void cummin(int64_t outer, int64_t count, int64_t inner, const double *x, double *total)
{
    copy(total, x, outer * count * inner);
    for (int64_t i = 0; i < outer; i++)
        for (int64_t j = (i * count + 1) * inner; j < (i + 1) * count * inner; j++)
            total[j] = minimum(total[j - inner], x[j]);
}

/// argbest
/* Write the positions of the largest entries along the middle axis, or of the smallest ones for the
   sign -1, or of the first that is no number. */
static int argbest(int64_t outer, int64_t count, int64_t inner, const double *x, double sign_of,
                   int64_t *total)
{
    if (count == 0)
        return 2;
    for (int64_t i = 0; i < outer; i++)
        for (int64_t k = 0; k < inner; k++) {
            int64_t place = 0;
            for (int64_t j = 1; j < count; j++) {
                double best = sign_of * x[(i * count + place) * inner + k];
                if (best == best && !(sign_of * x[(i * count + j) * inner + k] <= best))
                    place = j;
            }
            total[i * inner + k] = place;
        }
    return 0;
}

/// last_equal
/* Write the positions of the last entries so far that are equal to others. */
static void last_equal(int64_t outer, int64_t count, int64_t inner, const double *x,
                       const double *best, int64_t *total)
{
    for (int64_t i = 0; i < outer; i++)
        for (int64_t j = 0; j < count; j++)
            for (int64_t k = (i * count + j) * inner; k < (i * count + j + 1) * inner; k++)
                total[k] = j == 0 ? 0 : x[k] == best[k] ? j : total[k - inner];
}

/// cumprod
/* Write the running products of rows. */
static void cumprod(int64_t rows, int64_t n, const double *x, double *total)
{
    for (int64_t i = 0; i < rows; i++) {
        double product = 1;
        for (int64_t j = i * n; j < (i + 1) * n; j++)
            total[j] = product *= x[j];
    }
}

/// running_products
/* Write 1 and the running products of rows, or those from their ends and 1. */
static void running_products(int64_t rows, int64_t n, const double *x, int backwards,
                             double *total)
{
    for (int64_t i = 0; i < rows; i++) {
        double product = 1, *row = total + i * (n + 1);
        row[backwards ? n : 0] = product;
        for (int64_t j = 0; j < n; j++) {
            int64_t here = backwards ? n - 1 - j : j;
            product *= x[i * n + here];
            row[backwards ? here : here + 1] = product;
        }
    }
}

/// recurrence
/* Solve y[j] = x[j - 1] y[j - 1] + b[j] of rows; backwards y[j] = x[j] y[j + 1] + b[j]. */
static void recurrence(int64_t rows_x, int64_t rows_b, int64_t n, const double *x, const double *b,
                       int backwards, double *total)
{
    int64_t rows = rows_x == 1 ? rows_b : rows_x;
    for (int64_t i = 0; i < rows; i++) {
        const double *own = x + i % rows_x * (n - 1), *given = b + i % rows_b * n;
        double last = 0, *row = total + i * n;
        for (int64_t j = 0; j < n; j++) {
            int64_t here = backwards ? n - 1 - j : j;
            if (j > 0)
                last *= own[backwards ? here : here - 1];
            last = j > 0 ? last + given[here] : given[here];
            row[here] = last;
        }
    }
}

/// dot
/* Return a scalar product, added up in several parts. */
static inline double dot(int64_t n, const double *x, const double *y)
{
    double part[8] = {0}, total = 0;
    int64_t k = 0;
    for (; k + 8 <= n; k += 8)
        for (int r = 0; r < 8; r++)
            part[r] += x[k + r] * y[k + r];
    for (; k < n; k++)
        total += x[k] * y[k];
    return total + ((part[0] + part[4]) + (part[1] + part[5])) +
           ((part[2] + part[6]) + (part[3] + part[7]));
}

/// correlate: dot
/* Write scalar products of a vector with all pieces of a longer one. */
static void correlate(int64_t n, int64_t m, const double *x, const double *w,
                      double *restrict total)
{
    for (int64_t i = 0; i < n - m + 1; i++)
        total[i] = n < 2 * m ? dot(m, x + i, w) : 0.0;
    if (n < 2 * m)
        return;
    for (int64_t k = 0; k < m; k++)
        for (int64_t i = 0; i < n - m + 1; i++)
            total[i] += x[i + k] * w[k];
}

/// convolve
/* Write the convolution of two vectors. */
static int convolve(int64_t n, int64_t m, const double *x, const double *w,
                    double *restrict total)
{
    if (n == 0 || m == 0)
        return 2;
    for (int64_t i = 0; i < n + m - 1; i++)
        total[i] = 0;
    if (n < m) {
        const double *other = x;
        int64_t length = n;
        x = w, w = other;
        n = m, m = length;
    }
    for (int64_t k = 0; k < m; k++)
        for (int64_t i = 0; i < n; i++)
            total[i + k] += x[i] * w[k];
    return 0;
}

/// matrix_by_vector: dot
/* Write scalar products of four rows with a vector. */
static inline void four_dots(int64_t n, const double *A, const double *x, double *total)
{
    double part[4][8] = {{0}};
    int64_t k = 0;
    for (; k + 8 <= n; k += 8)
        for (int r = 0; r < 4; r++)
            for (int j = 0; j < 8; j++)
                part[r][j] += A[r * n + k + j] * x[k + j];
    for (int r = 0; r < 4; r++) {
        double sum = ((part[r][0] + part[r][4]) + (part[r][1] + part[r][5])) +
                     ((part[r][2] + part[r][6]) + (part[r][3] + part[r][7]));
        for (int64_t j = k; j < n; j++)
            sum += A[r * n + j] * x[j];
        total[r] = sum;
    }
}

/* Write A x or A' x, for a matrix A with m rows and n columns. */
static void matrix_by_vector(int64_t m, int64_t n, const double *A, const double *x,
                             int transposed, double *restrict total)
{
#ifdef USE_CBLAS
    if (m > 0 && n > 0) {
        cblas_dgemv(CblasRowMajor, transposed ? CblasTrans : CblasNoTrans, (int)m, (int)n, 1.0, A,
                    (int)n, x, 1, 0.0, total, 1);
        return;
    }
#endif
    if (!transposed) {
        int64_t i = 0;
        for (; i + 4 <= m; i += 4)
            four_dots(n, A + i * n, x, total + i);
        for (; i < m; i++)
            total[i] = dot(n, A + i * n, x);
        return;
    }
    for (int64_t j = 0; j < n; j++)
        total[j] = 0;
    for (int64_t i = 0; i < m; i += 4) {
        const double *a = A + i * n;
        if (i + 4 <= m)
            for (int64_t j = 0; j < n; j++)
                total[j] += (x[i] * a[j] + x[i + 1] * a[n + j]) +
                            (x[i + 2] * a[2 * n + j] + x[i + 3] * a[3 * n + j]);
        else
            for (int64_t r = i; r < m; r++, a += n)
                for (int64_t j = 0; j < n; j++)
                    total[j] += x[r] * a[j];
    }
}

/// add_product: memory smaller_integer
/* Blocks of which entries of B and C are kept in registers: as many as there are. */
#ifdef __GNUC__
typedef double Lanes __attribute__((vector_size(64), aligned(8), may_alias));
#define INLINE static inline __attribute__((always_inline))
#else
typedef double Lanes;
#define INLINE static inline
#endif
#ifdef __AVX512F__
enum { COLUMNS = 16 };
#else
enum { COLUMNS = 8 };
#endif
enum { LANE = sizeof(Lanes) / sizeof(double), LANES = COLUMNS / LANE };
enum { ROWS = 6, BLOCK_ROWS = 96, BLOCK_COLUMNS = 256, BLOCK_DEPTH = 256 };

/* Add the product of rows of some depth, with the given strides, and a packed panel of some lanes to
   a block of a matrix. */
INLINE void add_lanes(int lanes, int64_t rows, int64_t columns, int64_t depth, const double *a,
                      int64_t across, int64_t along, const double *b, double scale, double *C,
                      int64_t row_c, int64_t column_c)
{
    Lanes sums[ROWS][LANES];
    double c[ROWS][COLUMNS];
    const double *from[ROWS];
    for (int r = 0; r < ROWS; r++)
        from[r] = a + (r < rows ? r : rows - 1) * across;
    memset(sums, 0, sizeof sums);
    for (int64_t p = 0; p < depth; p++) {
        const Lanes *row = (const Lanes *)b + p * lanes;
        for (int r = 0; r < ROWS; r++)
            for (int j = 0; j < lanes; j++)
                sums[r][j] += from[r][p * along] * row[j];
    }
    if (rows == ROWS && columns == lanes * LANE && column_c == 1) {
        for (int r = 0; r < ROWS; r++)
            for (int j = 0; j < lanes; j++)
                ((Lanes *)(C + r * row_c))[j] += scale * sums[r][j];
        return;
    }
    memcpy(c, sums, sizeof c);
    for (int64_t r = 0; r < rows; r++)
        for (int64_t j = 0; j < columns; j++)
            C[r * row_c + j * column_c] += scale * c[r][j];
}

/* The same for as many lanes as columns need. */
static void add_panels(int64_t rows, int64_t columns, int64_t depth, const double *a,
                       int64_t across, int64_t along, const double *b, double scale, double *C,
                       int64_t row_c, int64_t column_c)
{
    if (columns > LANE)
        add_lanes(LANES, rows, columns, depth, a, across, along, b, scale, C, row_c, column_c);
    else
        add_lanes(1, rows, columns, depth, a, across, along, b, scale, C, row_c, column_c);
}

/* Pack panels of some width of a matrix with the given strides, filled up with zeros to a multiple
   of a number. */
INLINE void pack(int64_t count, int64_t depth, int64_t width, int64_t unit, const double *A,
                 int64_t across, int64_t along, double *panel)
{
    for (; count >= width; count -= width, A += width * across)
        for (int64_t p = 0; p < depth; p++, panel += width)
            if (across == 1)
                memcpy(panel, A + p * along, (size_t)width * sizeof(double));
            else
                for (int64_t r = 0; r < width; r++)
                    panel[r] = A[r * across + p * along];
    if (count > 0)
        for (int64_t p = 0, own = count > unit ? width : unit; p < depth; p++, panel += own)
            for (int64_t r = 0; r < own; r++)
                panel[r] = r < count ? A[r * across + p * along] : 0.0;
}

/* Add a multiple of A B to C, where A has m rows and B has n columns; of A and B the strides of
   rows and of columns are given, of C that of rows. Of a symmetric result only the upper half may
   be needed. */
static int add_product(Memory *memory, int64_t m, int64_t n, int64_t k, double scale,
                       const double *A, int64_t row_a, int64_t column_a, const double *B,
                       int64_t row_b, int64_t column_b, double *restrict C, int64_t row_c,
                       int only_upper)
{
    double *a, *b;
    int64_t most, column_c = 1;
    int is_packed;
#ifdef USE_CBLAS
    if (m > 0 && n > 0 && k > 0) {
        if (row_c < 0) {
            /* Rows in reverse order, with terms in reverse order. */
            A += (m - 1) * row_a + (k - 1) * column_a, B += (k - 1) * row_b, C += (m - 1) * row_c;
            row_a = -row_a, column_a = -column_a, row_b = -row_b, row_c = -row_c;
        }
        int is_turned_a = column_a != 1, is_turned_b = column_b != 1;
        int64_t step_a = is_turned_a ? column_a : row_a > k ? row_a : k;
        int64_t step_b = is_turned_b ? column_b : row_b > n ? row_b : n;
        cblas_dgemm(CblasRowMajor, is_turned_a ? CblasTrans : CblasNoTrans,
                    is_turned_b ? CblasTrans : CblasNoTrans, (int)m, (int)n, (int)k, scale, A,
                    (int)step_a, B, (int)step_b, 1.0, C, (int)row_c);
        return 0;
    }
#endif
    if (m < 3 || m * n * k < 1024) {
        for (int64_t i = 0; i < m; i++)
            for (int64_t p = 0; p < k; p++)
                for (int64_t j = only_upper ? i : 0; j < n; j++)
                    C[i * row_c + j] +=
                        scale * A[i * row_a + p * column_a] * B[p * row_b + j * column_b];
        return 0;
    }
    if (m < COLUMNS && 2 * m < n) {
        /* The transposed product: the smaller matrix is packed. */
        const double *other = A;
        int64_t turned[] = {m, row_a, column_a, row_c};
        A = B, B = other;
        m = n, n = turned[0];
        row_a = column_b, column_b = turned[1];
        column_a = row_b, row_b = turned[2];
        row_c = 1, column_c = turned[3];
    }
    is_packed = n > 8 * COLUMNS;
    most = smaller_integer(BLOCK_DEPTH, k);
    a = allocate(memory, smaller_integer(BLOCK_ROWS, m + ROWS) * most, sizeof(double));
    b = allocate(memory, smaller_integer(BLOCK_COLUMNS, n + COLUMNS) * most, sizeof(double));
    if (a == NULL || b == NULL)
        return 3;
    for (int64_t p = 0; p < k; p += BLOCK_DEPTH)
        for (int64_t j = 0; j < n; j += BLOCK_COLUMNS) {
            int64_t depth = smaller_integer(BLOCK_DEPTH, k - p);
            int64_t columns = smaller_integer(BLOCK_COLUMNS, n - j);
            pack(columns, depth, COLUMNS, LANE, B + p * row_b + j * column_b, column_b, row_b, b);
            for (int64_t i = 0; i < m && !(only_upper && i >= j + columns); i += BLOCK_ROWS) {
                int64_t rows = smaller_integer(BLOCK_ROWS, m - i);
                const double *first = A + i * row_a + p * column_a;
                if (is_packed)
                    pack(rows, depth, ROWS, ROWS, first, row_a, column_a, a);
                for (int64_t c = 0; c < columns; c += COLUMNS)
                    for (int64_t r = 0; r < rows; r += ROWS) {
                        if (only_upper && i + r >= j + c + COLUMNS)
                            break;
                        add_panels(smaller_integer(ROWS, rows - r),
                                   smaller_integer(COLUMNS, columns - c), depth,
                                   is_packed ? a + r * depth : first + r * row_a,
                                   is_packed ? 1 : row_a, is_packed ? ROWS : column_a,
                                   b + c * depth, scale,
                                   C + (i + r) * row_c + (j + c) * column_c, row_c, column_c);
                    }
            }
        }
    release(memory, memory->count - 2);
    return 0;
}

/// product: add_product fill
/* Write the product of two matrices, with m and n rows and columns and k terms; each may be given
   by its transpose. */
static int product(Memory *memory, int64_t m, int64_t n, int64_t k, const double *A, int left,
                   const double *B, int right, double *total)
{
    fill(total, m * n, 0.0);
    return add_product(memory, m, n, k, 1.0, A, left ? 1 : k, left ? m : 1, B, right ? 1 : n,
                       right ? k : 1, total, n, 0);
}

/// copy_upper: smaller_integer
/* Copy the upper half of a matrix to the lower one. */
static void copy_upper(int64_t n, double *X)
{
    for (int64_t top = 0; top < n; top += 16)
        for (int64_t left = 0; left <= top; left += 16)
            for (int64_t i = top; i < smaller_integer(top + 16, n); i++)
                for (int64_t j = left; j < smaller_integer(left + 16, i); j++)
                    X[i * n + j] = X[j * n + i];
}

/// gram: add_product fill copy_upper
/* Write A A' or A' A, of which one half is computed, for n rows and k terms. */
static int gram(Memory *memory, int64_t n, int64_t k, const double *A, int transposed,
                double *total)
{
    int64_t row = transposed ? 1 : k, along = transposed ? n : 1;
    int error;
    fill(total, n * n, 0.0);
    error = add_product(memory, n, n, k, 1.0, A, row, along, A, along, row, total, n, 1);
    copy_upper(n, total);
    return error;
}

/// matmul: product
/* Write the products of two stacks of matrices, of which one may be a single matrix. */
static int matmul(Memory *memory, int64_t count_a, int64_t count_b, int64_t m, int64_t n,
                  int64_t k, const double *A, const double *B, double *total)
{
    int error = 0;
    for (int64_t i = 0; i < (count_a == 1 ? count_b : count_a) && !error; i++)
        error = product(memory, m, n, k, A + i % count_a * m * k, 0, B + i % count_b * k * n, 0,
                        total + i * m * n);
    return error;
}

/// factors
/* Factors of a matrix: Cholesky's upper one, or those of LU with the rows that were exchanged. */
typedef struct {
    int64_t n;
    double *factor;
    int64_t *exchanged;
    int is_lu, is_singular, isnt_definite;
} Factors;

/// triangles: add_product
/* Solve a block of a triangular system for some lanes of columns: four rows at a time. */
enum { TRIANGLE = 48, WIDTH = 4 };
INLINE void solve_lanes(int lanes, int64_t n, const double *t, int64_t columns, double *B,
                        int64_t row_b)
{
    Lanes x[TRIANGLE][WIDTH], sums[4][WIDTH];
    for (int64_t i = 0; i < n; i++) {
        memset(x[i], 0, (size_t)lanes * sizeof(Lanes));
        memcpy(x[i], B + i * row_b, (size_t)columns * sizeof(double));
    }
    for (int64_t i = 0; i < n; i += 4) {
        for (int r = 0; r < 4; r++)
            for (int j = 0; j < lanes; j++)
                sums[r][j] = x[i + r < n ? i + r : i][j];
        for (int64_t k = 0; k < i; k++, t += 4)
            for (int r = 0; r < 4; r++)
                for (int j = 0; j < lanes; j++)
                    sums[r][j] -= t[r] * x[k][j];
        for (int k = 0; k < 4; k++, t += 4)
            for (int j = 0; j < lanes; j++) {
                sums[k][j] *= t[k];
                for (int r = k + 1; r < 4; r++)
                    sums[r][j] -= t[r] * sums[k][j];
            }
        for (int r = 0; r < 4 && i + r < n; r++)
            for (int j = 0; j < lanes; j++)
                x[i + r][j] = sums[r][j];
    }
    for (int64_t i = 0; i < n; i++)
        memcpy(B + i * row_b, x[i], (size_t)columns * sizeof(double));
}

/* Write inv(T) B over B, for a lower triangle of at most TRIANGLE rows and the given strides. */
static void solve_triangle(int64_t n, int64_t count, const double *T, int64_t row_t,
                           int64_t column_t, int unit, double *B, int64_t row_b)
{
    double packed[TRIANGLE * (TRIANGLE + 4) / 2], *t = packed;
    for (int64_t i = 0; i < n; i += 4)
        for (int64_t k = 0; k < i + 4; k++)
            for (int64_t r = i; r < i + 4; r++) {
                double entry = r < n && k <= r ? T[r * row_t + k * column_t] : 0.0;
                *t++ = k != r || r >= n ? entry : unit ? 1.0 : 1.0 / entry;
            }
    for (int64_t j = 0; j < count; j += WIDTH * LANE)
        if (count - j >= WIDTH * LANE)
            solve_lanes(WIDTH, n, packed, WIDTH * LANE, B + j, row_b);
        else if (count - j > LANE)
            solve_lanes(WIDTH, n, packed, count - j, B + j, row_b);
        else
            solve_lanes(1, n, packed, count - j, B + j, row_b);
}

/// cholesky: triangles
/* Write Cholesky's upper factor over the upper half of a matrix; 1 if it isn't definite. */
static int cholesky(Memory *memory, int64_t n, double *U)
{
    for (int64_t first = 0; first < n; first += TRIANGLE) {
        int64_t end = smaller_integer(first + TRIANGLE, n);
        double *own = U + first * n + end;
        int error;
        for (int64_t k = first; k < end; k++) {
            double *row = U + k * n, pivot = row[k];
            if (!(pivot > 0))
                return 1;
            for (int64_t j = k; j < end; j++)
                row[j] /= sqrt(pivot);
            for (int64_t i = k + 1; i < end; i++)
                for (int64_t j = i; j < end; j++)
                    U[i * n + j] -= row[i] * row[j];
        }
        if (end == n)
            break;
        solve_triangle(end - first, n - end, U + first * n + first, 1, n, 0, own, n);
        error = add_product(memory, n - end, n - end, end - first, -1.0, own, 1, n, own, n, 1,
                            U + end * n + end, n, 1);
        if (error)
            return error;
    }
    return 0;
}

/// factored: factors cholesky copy
/* Write the factors of LU over a matrix, and the exchanged rows; of a singular one 1. */
static int lu(Memory *memory, int64_t n, double *A, int64_t *exchanged)
{
    int is_singular = 0;
    for (int64_t first = 0; first < n; first += 32) {
        int64_t end = smaller_integer(first + 32, n);
        for (int64_t k = first; k < end; k++) {
            int64_t pivot = k;
            for (int64_t i = k + 1; i < n; i++)
                if (fabs(A[i * n + k]) > fabs(A[pivot * n + k]))
                    pivot = i;
            exchanged[k] = pivot;
            for (int64_t j = 0; j < n && pivot != k; j++) {
                double other = A[k * n + j];
                A[k * n + j] = A[pivot * n + j];
                A[pivot * n + j] = other;
            }
            if (A[k * n + k] == 0) {
                is_singular = 1;
                continue;
            }
            for (int64_t i = k + 1; i < n; i++) {
                double multiple = A[i * n + k] /= A[k * n + k];
                for (int64_t j = k + 1; j < end; j++)
                    A[i * n + j] -= multiple * A[k * n + j];
            }
        }
        if (end < n) {
            double *own = A + first * n + end;
            int error;
            solve_triangle(end - first, n - end, A + first * n + first, n, 1, 1, own, n);
            error = add_product(memory, n - end, n - end, end - first, -1.0, A + end * n + first,
                                n, 1, own, n, 1, A + end * n + end, n, 0);
            if (error)
                return error;
        }
    }
    return is_singular;
}

/* Factor a matrix that may be definite (1) or symmetric (2). */
static int factored(Memory *memory, int64_t n, const double *X, int definite, Factors *found)
{
    int failed;
    Factors own = {n, allocate(memory, n * n, sizeof(double)),
                   allocate(memory, n, sizeof(int64_t)), 0, 0, 0};
    if (own.factor == NULL || own.exchanged == NULL)
        return 3;
    copy(own.factor, X, n * n);
    if (definite) {
        failed = cholesky(memory, n, own.factor);
        if (failed != 1) {
            *found = own;
            return failed;
        }
        copy(own.factor, X, n * n);
    }
    failed = lu(memory, n, own.factor, own.exchanged);
    own.is_lu = 1;
    own.is_singular = failed == 1;
    own.isnt_definite = definite == 1;
    *found = own;
    return failed == 1 ? 0 : failed;
}

/// solved: factored
/* Write inv(T) B over B, for a triangle of a matrix with the given strides; B has some columns, or,
   if it is the identity, as many as they have nonzero entries. */
static int by_triangle(Memory *memory, int64_t n, int64_t count, const double *T, int64_t row,
                       int64_t column, int is_lower, int unit, int is_identity, double *B)
{
    int64_t step = count;
    if (!is_lower) {
        /* In reverse order, rows and columns make a lower triangle. */
        T += (n - 1) * (row + column);
        B += (n - 1) * step;
        row = -row, column = -column, step = -step;
    }
    for (int64_t first = 0; first < n; first += TRIANGLE) {
        int64_t end = smaller_integer(first + TRIANGLE, n), columns = is_identity ? end : count;
        double *own = B + first * step;
        int error;
        solve_triangle(end - first, columns, T + first * (row + column), row, column, unit, own,
                       step);
        error = add_product(memory, n - end, columns, end - first, -1.0,
                            T + end * row + first * column, row, column, own, step, 1,
                            B + end * step, step, 0);
        if (error)
            return error;
    }
    return 0;
}

/* Apply the row exchanges of LU to a matrix with some columns. */
static void exchange_rows(const Factors *given, int64_t count, double *X, int backwards)
{
    for (int64_t k = 0; k < given->n; k++) {
        int64_t i = backwards ? given->n - 1 - k : k, other = given->exchanged[i];
        for (int64_t j = 0; j < count && other != i; j++) {
            double entry = X[i * count + j];
            X[i * count + j] = X[other * count + j];
            X[other * count + j] = entry;
        }
    }
}

/* Write inv(X) B or inv(X') B, of a matrix X that is factored; 1 if it is singular. */
static int solved(Memory *memory, const Factors *given, int64_t count, const double *B,
                  int transposed, double *X)
{
    int64_t n = given->n;
    int is_lu = given->is_lu, error = 0;
    if (given->is_singular)
        return 1;
    copy(X, B, n * count);
    if (is_lu && !transposed)
        exchange_rows(given, count, X, 0);
    for (int step = 0; step < 2 && !error; step++) {
        int is_turned = is_lu ? transposed : step == 0;
        error = by_triangle(memory, n, count, given->factor, is_turned ? 1 : n, is_turned ? n : 1,
                            step == 0, is_lu && (step == 0) != transposed, 0, X);
    }
    if (is_lu && transposed)
        exchange_rows(given, count, X, 1);
    return error;
}

/// inverted: solved fill copy_upper
/* Write the inverse of a matrix that is factored; 1 if it is singular. */
static int inverted(Memory *memory, const Factors *given, double *X)
{
    int64_t n = given->n;
    const double *factor = given->factor;
    int is_lu = given->is_lu, error;
    double *lower = is_lu ? X : allocate(memory, n * n, sizeof(double));
    if (given->is_singular)
        return 1;
    if (lower == NULL)
        return 3;
    fill(lower, n * n, 0.0);
    for (int64_t i = 0; i < n; i++)
        lower[i * n + i] = 1;
    error = by_triangle(memory, n, n, factor, is_lu ? n : 1, is_lu ? 1 : n, 1, is_lu, 1, lower);
    if (error)
        return error;
    if (is_lu) {
        error = by_triangle(memory, n, n, factor, n, 1, 0, 0, 0, X);
        for (int64_t k = n - 1; k >= 0; k--)
            for (int64_t i = 0, other = given->exchanged[k]; i < n && other != k; i++) {
                double entry = X[i * n + k];
                X[i * n + k] = X[i * n + other];
                X[i * n + other] = entry;
            }
        return error;
    }
    fill(X, n * n, 0.0);
    for (int64_t i = 0; i < n && !error; i += BLOCK_ROWS) {
        int64_t end = smaller_integer(i + BLOCK_ROWS, n);
        const double *own = lower + i * n;
        error = add_product(memory, end, end, end - i, 1.0, own, 1, n, own, n, 1, X, n, 1);
    }
    copy_upper(n, X);
    return error;
}

/// trace_of_inverse: inverted
/* Write the trace of the inverse of a matrix that is factored; 1 if it is singular. */
static int trace_of_inverse(Memory *memory, const Factors *given, double *total)
{
    int64_t n = given->n;
    double *X = allocate(memory, n * n, sizeof(double));
    int error = X == NULL ? 3 : inverted(memory, given, X);
    *total = 0;
    for (int64_t i = 0; i < n && !error; i++)
        *total += X[i * n + i];
    return error;
}

/// determinant: factored
static double determinant(const Factors *given)
{
    double total = 1;
    for (int64_t i = 0; i < given->n; i++) {
        double entry = given->factor[i * given->n + i];
        total *= given->is_lu ? entry : entry * entry;
        if (given->is_lu && given->exchanged[i] != i)
            total = -total;
    }
    return total;
}

/// log_determinant: factored log_of
/* Write log |det X| of a matrix that is factored; 1 if it was said to be definite and isn't. */
static int log_determinant(const Factors *given, double *found)
{
    double total = 0;
    if (given->isnt_definite)
        return 1;
    for (int64_t i = 0; i < given->n; i++)
        total += log_of(fabs(given->factor[i * given->n + i]));
    *found = given->is_lu ? total : 2 * total;
    return 0;
}

/// signed_log_determinant: factored log_of
/* Write the sign of the determinant of a matrix that is factored, and log |det X|. */
static void signed_log_determinant(const Factors *given, double *found)
{
    double total = 0;
    found[0] = 1;
    for (int64_t i = 0; i < given->n; i++) {
        double entry = given->factor[i * given->n + i], size = fabs(entry);
        total += log_of(size);
        if (given->is_lu)
            found[0] *= size > 0 ? entry / size : entry;
        if (given->is_lu && given->exchanged[i] != i)
            found[0] = -found[0];
    }
    found[1] = given->is_lu ? total : 2 * total;
}

/// each_inv: inverted
/* Write the inverse of each matrix. */
static int each_inv(Memory *memory, int64_t count, int64_t n, const double *A, double *total)
{
    int error = 0;
    for (int64_t k = 0; k < count && n > 0 && !error; k++) {
        Factors own;
        int64_t kept = memory->count;
        error = factored(memory, n, A + k * n * n, 0, &own);
        if (!error)
            error = inverted(memory, &own, total + k * n * n);
        release(memory, kept);
    }
    return error;
}

/// each_solve: solved
/* Write inv(X) Y of each two matrices. */
static int each_solve(Memory *memory, int64_t count, int64_t n, int64_t columns, const double *A,
                      const double *B, double *total)
{
    int error = 0;
    for (int64_t k = 0; k < count && !error; k++) {
        Factors own;
        int64_t kept = memory->count;
        error = factored(memory, n, A + k * n * n, 0, &own);
        if (!error)
            error = solved(memory, &own, columns, B + k * n * columns, 0, total + k * n * columns);
        release(memory, kept);
    }
    return error;
}

/// each_det: determinant
/* Write the determinant of each matrix. */
static int each_det(Memory *memory, int64_t count, int64_t n, const double *A, double *total)
{
    int error = 0;
    for (int64_t k = 0; k < count && !error; k++) {
        Factors own;
        int64_t kept = memory->count;
        error = factored(memory, n, A + k * n * n, 0, &own);
        if (!error)
            total[k] = determinant(&own);
        release(memory, kept);
    }
    return error;
}

/// each_slogdet: signed_log_determinant
/* Write the sign of the determinant of each matrix, and log |det X|. */
static int each_slogdet(Memory *memory, int64_t count, int64_t n, const double *A, double *signs,
                        double *logs)
{
    int error = 0;
    for (int64_t k = 0; k < count && !error; k++) {
        Factors own;
        double found[2];
        int64_t kept = memory->count;
        error = factored(memory, n, A + k * n * n, 0, &own);
        if (!error) {
            signed_log_determinant(&own, found);
            signs[k] = found[0];
            logs[k] = found[1];
        }
        release(memory, kept);
    }
    return error;
}

/// each_cholesky: cholesky copy
/* Write the lower Cholesky factor of each matrix; 1 if one isn't definite. */
static int each_cholesky(Memory *memory, int64_t count, int64_t n, const double *A, double *total)
{
    int error = 0;
    copy(total, A, count * n * n);
    for (int64_t k = 0; k < count && !error; k++, total += n * n) {
        for (int64_t i = 0; i < n; i++)
            for (int64_t j = 0; j < i; j++)
                total[j * n + i] = total[i * n + j];
        error = cholesky(memory, n, total);
        for (int64_t i = 0; i < n; i++)
            for (int64_t j = 0; j < i; j++) {
                total[i * n + j] = total[j * n + i];
                total[j * n + i] = 0;
            }
    }
    return error;
}

/// each_power: inverted product copy
/* Write a power of each matrix. */
static int each_power(Memory *memory, int64_t count, int64_t n, const double *A, int64_t exponent,
                      double *total)
{
    double *base = allocate(memory, n * n, sizeof(double));
    double *next = allocate(memory, n * n, sizeof(double));
    int error = base == NULL || next == NULL ? 3 : 0;
    for (int64_t k = 0; k < count && !error; k++) {
        double *power = total + k * n * n;
        int64_t kept = memory->count, rest = exponent < 0 ? -exponent : exponent;
        fill(power, n * n, 0.0);
        for (int64_t i = 0; i < n; i++)
            power[i * n + i] = 1;
        copy(base, A + k * n * n, n * n);
        if (exponent < 0) {
            Factors own;
            error = factored(memory, n, A + k * n * n, 0, &own);
            if (!error)
                error = inverted(memory, &own, base);
        }
        for (; rest > 0 && !error; rest /= 2) {
            if (rest % 2) {
                error = product(memory, n, n, n, power, 0, base, 0, next);
                copy(power, next, n * n);
            }
            if (rest > 1 && !error) {
                error = product(memory, n, n, n, base, 0, base, 0, next);
                copy(base, next, n * n);
            }
        }
        release(memory, kept);
    }
    return error;
}

/// running_weights: exp_of log_of logaddexp
/* Write log(cumsum(exp(x))), exp(x - top) and cumsum(exp(x - top)) of rows, and whether none of the
   last two vanishes. */
static void running_weights(int64_t rows, int64_t n, const double *x, double *logs,
                            double *weights, double *total, int64_t *plain)
{
    int is_plain = 1;
    for (int64_t i = 0; i < rows * n; i += n) {
        double top = -INFINITY, sum = 0;
        for (int64_t j = i; j < i + n; j++)
            top = x[j] > top ? x[j] : top;
        for (int64_t j = i; j < i + n; j++)
            weights[j] = exp_of(x[j] - top);
        for (int64_t j = i; j < i + n; j++)
            total[j] = sum += weights[j];
        for (int64_t j = i; j < i + n; j++)
            logs[j] = log_of(total[j]) + top;
        is_plain = is_plain && weights[i] > 1e-260;
    }
    for (int64_t i = 0; i < rows * n && !is_plain; i++)
        logs[i] = i % n == 0 ? x[i] : logaddexp(logs[i - 1], x[i]);
    *plain = is_plain;
}

/// running_mean: exp_of
/* Write sums of c[i] exp(x[i] - y[j]) over i <= j, or of c[j] over j >= i, of rows x and y =
   log(cumsum(exp(x))), whose weights and their sums are given, and whether those vanish nowhere. */
static void running_mean(int64_t rows_x, int64_t rows_c, int64_t n, const double *x,
                         const double *y, const double *weights, const double *sums,
                         const int64_t *plain, const double *c, int backwards, double *total)
{
    int is_plain = *plain != 0;
    for (int64_t i = 0; i < (rows_x == 1 ? rows_c : rows_x); i++) {
        int64_t k = i % rows_x * n, l = i % rows_c * n;
        double running = 0;
        for (int64_t j = 0; j < n; j++) {
            int64_t here = backwards ? n - 1 - j : j, other = backwards ? here + 1 : here - 1;
            double last = j == 0 ? 0.0 : y[k + other];
            double finite = y[k + here] == -INFINITY ? 0.0 : y[k + here];
            if (is_plain && backwards) {
                running += c[l + here] / sums[k + here];
                total[i * n + here] = running * weights[k + here];
            } else if (is_plain) {
                running += c[l + here] * weights[k + here];
                total[i * n + here] = running / sums[k + here];
            } else if (backwards) {
                double ratio = exp_of(y[k + here] - (last == -INFINITY ? 0.0 : last));
                running = (j == 0 ? 0.0 : ratio * running) + c[l + here];
                total[i * n + here] = running * exp_of(x[k + here] - finite);
            } else {
                running = (j == 0 ? 0.0 : exp_of(last - finite) * running) +
                          exp_of(x[k + here] - finite) * c[l + here];
                total[i * n + here] = running;
            }
        }
    }
}

/// matrix_cofactors: memory copy fill
/* Write the derivative of det, at a singular matrix too: by complete pivoting, after which only the
   last pivot is small for rank n - 1, by which nothing is divided. */
static int matrix_cofactors(Memory *memory, int64_t n, const double *X, double *total)
{
    double *U = allocate(memory, n * n, sizeof(double));
    double *Y = allocate(memory, n * n, sizeof(double)), scale = 1;
    int64_t *rows = allocate(memory, n, sizeof(int64_t));
    int64_t *columns = allocate(memory, n, sizeof(int64_t)), last = n - 1;
    if (U == NULL || Y == NULL || rows == NULL || columns == NULL)
        return 3;
    copy(U, X, n * n);
    fill(Y, n * n, 0.0);
    for (int64_t i = 0; i < n; i++)
        rows[i] = columns[i] = i, Y[i * n + i] = 1;
    for (int64_t k = 0; k < last; k++) {
        int64_t row = k, column = k, place;
        for (int64_t i = k; i < n; i++)
            for (int64_t j = k; j < n; j++)
                if (fabs(U[i * n + j]) > fabs(U[row * n + column]))
                    row = i, column = j;
        for (int64_t j = 0; j < n && row != k; j++) {
            double entry = U[k * n + j];
            U[k * n + j] = U[row * n + j];
            U[row * n + j] = entry;
        }
        for (int64_t i = 0; i < n && column != k; i++) {
            double entry = U[i * n + k];
            U[i * n + k] = U[i * n + column];
            U[i * n + column] = entry;
        }
        place = rows[k], rows[k] = rows[row], rows[row] = place;
        place = columns[k], columns[k] = columns[column], columns[column] = place;
        scale *= (row != k) == (column != k) ? U[k * n + k] : -U[k * n + k];
        if (U[k * n + k] == 0) {
            fill(total, n * n, 0.0);
            return 0;
        }
        for (int64_t i = k + 1; i < n; i++) {
            double multiple = U[i * n + k] /= U[k * n + k];
            for (int64_t j = k + 1; j < n; j++)
                U[i * n + j] -= multiple * U[k * n + j];
        }
    }
    /* inv(L), then the adjugate of U times that. */
    for (int64_t i = 1; i < n; i++)
        for (int64_t k = 0; k < i; k++)
            for (int64_t j = 0; j <= k; j++)
                Y[i * n + j] -= U[i * n + k] * Y[k * n + j];
    for (int64_t i = last - 1; i >= 0; i--)
        for (int64_t j = 0; j < n; j++) {
            double rest = U[last * n + last] * Y[i * n + j] - U[i * n + last] * Y[last * n + j];
            for (int64_t k = i + 1; k < last; k++)
                rest -= U[i * n + k] * Y[k * n + j];
            Y[i * n + j] = rest / U[i * n + i];
        }
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < n; j++)
            total[rows[j] * n + columns[i]] = scale * Y[i * n + j];
    return 0;
}
