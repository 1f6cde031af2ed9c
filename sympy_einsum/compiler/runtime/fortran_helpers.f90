/// infinity
real(c_double), parameter :: infinity = transfer(9218868437227405312_c_int64_t, 0d0)

/// nan
real(c_double), parameter :: nan = transfer(9221120237041090560_c_int64_t, 0d0)

/// cbrt
interface
    pure real(c_double) function cbrt(x) bind(C)
        import c_double
        real(c_double), intent(in), value :: x
    end function
end interface

/// rint
interface
    pure real(c_double) function rint(x) bind(C)
        import c_double
        real(c_double), intent(in), value :: x
    end function
end interface

/// log2
interface
    pure real(c_double) function log2(x) bind(C)
        import c_double
        real(c_double), intent(in), value :: x
    end function
end interface

/// exp2
interface
    pure real(c_double) function exp2(x) bind(C)
        import c_double
        real(c_double), intent(in), value :: x
    end function
end interface

/// factors
! Factors of a matrix, whose entries stand here in column-major order: R of R' R, where R is Cholesky's
! factor, or L U of the transposed matrix with the rows that were exchanged.
type factors
    integer(c_int64_t) :: n
    real(c_double), allocatable :: factor(:, :)
    integer(c_int64_t), allocatable :: exchanged(:)
    logical :: is_lu, is_singular, isnt_definite
end type

/// contains
contains

/// is_nan: contains
elemental logical function is_nan(x)
    real(c_double), intent(in) :: x
    is_nan = x /= x
end function

/// is_infinite: contains
elemental logical function is_infinite(x)
    real(c_double), intent(in) :: x
    is_infinite = abs(x) > huge(x)
end function

/// is_finite: contains
elemental logical function is_finite(x)
    real(c_double), intent(in) :: x
    is_finite = abs(x) <= huge(x)
end function

/// fmax: contains
! Return the larger number; the other one if one is nan.
elemental real(c_double) function fmax(a, b)
    real(c_double), intent(in) :: a, b
    fmax = merge(a, b, a > b .or. b /= b)
end function

/// fmin: contains
! Return the smaller number; the other one if one is nan.
elemental real(c_double) function fmin(a, b)
    real(c_double), intent(in) :: a, b
    fmin = merge(a, b, a < b .or. b /= b)
end function

/// make_finite: contains is_finite
! Replace the entries that aren't finite by 0.
pure subroutine make_finite(x, count)
    integer(c_int64_t), intent(in) :: count
    real(c_double), intent(inout) :: x(count)
    where (.not. is_finite(x)) x = 0
end subroutine

/// floor_of: contains
elemental real(c_double) function floor_of(x)
    real(c_double), intent(in) :: x
    floor_of = aint(x)
    if (floor_of > x) floor_of = floor_of - 1
end function

/// ceiling_of: contains
elemental real(c_double) function ceiling_of(x)
    real(c_double), intent(in) :: x
    ceiling_of = aint(x)
    if (ceiling_of < x) ceiling_of = ceiling_of + 1
end function

/// floor_quotient: contains
! Return the largest integer that isn't above a / b.
elemental integer(c_int64_t) function floor_quotient(a, b)
    integer(c_int64_t), intent(in) :: a, b
    floor_quotient = (a - modulo(a, b)) / b
end function

/// exponent_parts: contains floor_of
! Of x = k log 2 + r: exp(r) - 1, and two factors of 2^k. Straight-line code, which loops are
! compiled to vectors of. W. J. Cody, W. Waite, "Software Manual for the Elementary Functions", 1980.
elemental subroutine exponent_parts(x, e, a, b)
    real(c_double), intent(in) :: x
    real(c_double), intent(out) :: e, a, b
    real(c_double), parameter :: shift = 6755399441055744d0 + 1023d0
    real(c_double) :: k, r, z, p, q, half
    k = floor_of(x * 1.4426950408889634d0 + 0.5d0)
    r = (x - k * 6.93145751953125d-1) - k * 1.42860682030941723212d-6
    z = r * r
    p = r * ((1.26177193074810590878d-4 * z + 3.02994407707441961300d-2) * z + 1)
    q = (3.00198505138664455042d-6 * z + 2.52448340349684104192d-3) * z
    half = floor_of(0.5d0 * k)
    q = (q + 2.27265548208155028766d-1) * z + 2
    a = transfer(shiftl(transfer(half + shift, 0_c_int64_t), 52), 0d0)
    b = transfer(shiftl(transfer(k - half + shift, 0_c_int64_t), 52), 0d0)
    e = 2 * (p / (q - p))
end subroutine

/// exp_of: exponent_parts
elemental real(c_double) function exp_of(x)
    real(c_double), intent(in) :: x
    real(c_double) :: y, e, a, b
    y = merge(710d0, x, x > 710)
    y = merge(-750d0, y, y < -750)
    call exponent_parts(y, e, a, b)
    exp_of = (1 + e) * a * b
end function

/// expm1_of: exponent_parts
elemental real(c_double) function expm1_of(x)
    real(c_double), intent(in) :: x
    real(c_double) :: y, z, e, a, b
    y = merge(710d0, x, x > 710)
    y = merge(-60d0, y, y < -60)
    call exponent_parts(y, e, a, b)
    z = merge(e * a * b + (a * b - 1), (1 + e) * a * b, y < 60)
    expm1_of = merge(z, x, abs(x) > 1d-20 .or. x /= x)
end function

/// tanh_of: expm1_of
elemental real(c_double) function tanh_of(x)
    real(c_double), intent(in) :: x
    real(c_double) :: t
    t = expm1_of(-2 * abs(x))
    tanh_of = merge(sign(t / (t + 2), x), x, abs(x) > 1d-20 .or. x /= x)
end function

/// log_of: contains infinity nan
! Return the natural logarithm; the coefficients are those of FDLIBM.
elemental real(c_double) function log_of(x)
    real(c_double), intent(in) :: x
    integer(c_int64_t), parameter :: middle = 4604544271217802189_c_int64_t
    integer(c_int64_t), parameter :: one_bits = 4607182418800017408_c_int64_t
    integer(c_int64_t), parameter :: exponent_bits = 4841369599423283200_c_int64_t
    integer(c_int64_t), parameter :: fraction = 4503599627370495_c_int64_t
    integer(c_int64_t) :: bits
    logical :: is_tiny
    real(c_double) :: k, f, s, z, w, half, one, other, rest
    is_tiny = x < 2.2250738585072014d-308
    bits = transfer(merge(x * 18014398509481984d0, x, is_tiny), 0_c_int64_t) + (one_bits - middle)
    k = transfer(ior(shiftr(bits, 52), exponent_bits), 0d0) - (4503599627370496d0 + 1023d0)
    f = transfer(iand(bits, fraction) + middle, 0d0) - 1
    s = f / (2 + f)
    z = s * s
    w = z * z
    half = 0.5d0 * f * f
    one = 2.222219843214978396d-01 + w * 1.531383769920937332d-01
    one = w * (3.999999999940941908d-01 + w * one)
    other = 1.818357216161805012d-01 + w * 1.479819860511658591d-01
    other = z * (6.666666666666735130d-01 + w * (2.857142874366239149d-01 + w * other))
    k = k - merge(54d0, 0d0, is_tiny)
    rest = half - (s * (half + one + other) + k * 1.90821492927058770002d-10)
    log_of = k * 6.93147180369123816490d-01 - (rest - f)
    log_of = merge(log_of, x, x < infinity)
    log_of = merge(log_of, merge(-infinity, nan, x == 0), x > 0)
end function

/// log1p_of: log_of
elemental real(c_double) function log1p_of(x)
    real(c_double), intent(in) :: x
    real(c_double) :: total, lost
    total = 1 + x
    lost = (x - (total - 1)) / total
    log1p_of = log_of(total) + merge(lost, 0d0, 0 < total .and. total < infinity)
    log1p_of = merge(log1p_of, x, total /= 1)
end function

/// maximum: contains
! Return the larger number; nan if either is.
elemental real(c_double) function maximum(a, b)
    real(c_double), intent(in) :: a, b
    maximum = merge(a, b, a > b .or. a /= a)
end function

/// minimum: contains
! Return the smaller number; nan if either is.
elemental real(c_double) function minimum(a, b)
    real(c_double), intent(in) :: a, b
    minimum = merge(a, b, a < b .or. a /= a)
end function

/// finite_or_0: is_finite
elemental real(c_double) function finite_or_0(x)
    real(c_double), intent(in) :: x
    finite_or_0 = merge(x, 0d0, is_finite(x))
end function

/// heaviside: contains
elemental real(c_double) function heaviside(x, at_0)
    real(c_double), intent(in) :: x, at_0
    heaviside = merge(1d0, merge(0d0, merge(at_0, x, x == 0), x < 0), x > 0)
end function

/// sign_of: contains
elemental real(c_double) function sign_of(x)
    real(c_double), intent(in) :: x
    sign_of = merge(1d0, merge(-1d0, merge(0d0, x, x == 0), x < 0), x > 0)
end function

/// logaddexp: exp_of log1p_of
! Return log(exp(a) + exp(b)) without overflow.
elemental real(c_double) function logaddexp(a, b)
    real(c_double), intent(in) :: a, b
    logaddexp = merge(a, b, a > b .or. a /= a) + log1p_of(exp_of(-abs(a - b)))
    if (a == b) logaddexp = a + 0.6931471805599453d0
end function

/// nan_to_num: contains
elemental real(c_double) function nan_to_num(x)
    real(c_double), intent(in) :: x
    nan_to_num = merge(0d0, max(-huge(x), min(huge(x), x)), x /= x)
end function

/// sinc: contains
elemental real(c_double) function sinc(x)
    real(c_double), intent(in) :: x
    sinc = 1
    if (x /= 0) sinc = sin(3.141592653589793d0 * x) / (3.141592653589793d0 * x)
end function

/// sigmoid: exp_of
elemental real(c_double) function sigmoid(z)
    real(c_double), intent(in) :: z
    sigmoid = 1 / (1 + exp_of(-z))
end function

/// sigmoid_derivative: exp_of
elemental real(c_double) function sigmoid_derivative(z)
    real(c_double), intent(in) :: z
    real(c_double) :: t
    t = exp_of(-abs(z))
    sigmoid_derivative = t / ((1 + t) * (1 + t))
end function

/// softplus: exp_of log1p_of
elemental real(c_double) function softplus(z)
    real(c_double), intent(in) :: z
    softplus = merge(z, 0d0, z > 0 .or. z /= z) + log1p_of(exp_of(-abs(z)))
end function

/// ndtr: contains
elemental real(c_double) function ndtr(x)
    real(c_double), intent(in) :: x
    ndtr = 0.5d0 * erfc(-x * 0.7071067811865476d0)
end function

/// xlogy: log_of
elemental real(c_double) function xlogy(x, y)
    real(c_double), intent(in) :: x, y
    xlogy = merge(0d0, x * log_of(y), x == 0 .and. y == y)
end function

/// xlog1py: log1p_of
elemental real(c_double) function xlog1py(x, y)
    real(c_double), intent(in) :: x, y
    xlog1py = merge(0d0, x * log1p_of(y), x == 0 .and. y == y)
end function

/// entr: xlogy
elemental real(c_double) function entr(x)
    real(c_double), intent(in) :: x
    entr = merge(-infinity, -xlogy(x, x), x < 0)
end function

/// rel_entr: log_of
elemental real(c_double) function rel_entr(x, y)
    real(c_double), intent(in) :: x, y
    rel_entr = merge(nan, infinity, x /= x .or. y /= y)
    if (x == 0 .and. y >= 0) rel_entr = 0
    if (x > 0 .and. y > 0) rel_entr = x * log_of(x / y)
end function

/// loggamma: contains nan
elemental real(c_double) function loggamma(x)
    real(c_double), intent(in) :: x
    loggamma = merge(nan, log_gamma(x), x < 0)
end function

/// betaln: contains
elemental real(c_double) function betaln(x, y)
    real(c_double), intent(in) :: x, y
    betaln = log_gamma(x) + log_gamma(y) - log_gamma(x + y)
end function

/// exprel: expm1_of
elemental real(c_double) function exprel(x)
    real(c_double), intent(in) :: x
    exprel = 1
    if (x /= 0) exprel = expm1_of(x) / x
end function

/// sinhc: contains
elemental real(c_double) function sinhc(x)
    real(c_double), intent(in) :: x
    sinhc = 1
    if (x /= 0) sinhc = sinh(x) / x
end function

/// tanhc: contains
elemental real(c_double) function tanhc(x)
    real(c_double), intent(in) :: x
    tanhc = 1
    if (x /= 0) tanhc = tanh(x) / x
end function

/// floor_divide: floor_of
elemental real(c_double) function floor_divide(a, b)
    real(c_double), intent(in) :: a, b
    floor_divide = floor_of(a / b)
end function

/// remainder_of: contains
! Return the remainder of a division, with the sign of the divisor.
elemental real(c_double) function remainder_of(a, b)
    real(c_double), intent(in) :: a, b
    remainder_of = mod(a, b)
    if (remainder_of == 0) then
        remainder_of = sign(0d0, b)
    else if ((remainder_of < 0) .neqv. (b < 0)) then
        remainder_of = remainder_of + b
    end if
end function

/// cumsum: contains
! Write running sums along the middle axis of three, or those from its end.
pure subroutine cumsum(outer, count, inner, x, backwards, total)
    integer(c_int64_t), intent(in) :: outer, count, inner
    real(c_double), intent(in) :: x(inner, count, outer)
    logical, intent(in) :: backwards
    real(c_double), intent(out) :: total(inner, count, outer)
    integer(c_int64_t) :: i, j
    total = x
    do i = 1, outer
        if (backwards) then
            do j = count - 1, 1, -1
                total(:, j, i) = total(:, j, i) + total(:, j + 1, i)
            end do
        else
            do j = 2, count
                total(:, j, i) = total(:, j, i) + total(:, j - 1, i)
            end do
        end if
    end do
end subroutine

/// lagged_cumsum: cumsum
! Write running sums of which entry j ends at j - lag; backwards, they begin at j + lag.
pure subroutine lagged_cumsum(outer, length, inner, x, backwards, lag, count, total)
    integer(c_int64_t), intent(in) :: outer, length, inner, lag, count
    real(c_double), intent(in) :: x(inner, length, outer)
    logical, intent(in) :: backwards
    real(c_double), intent(out) :: total(inner, count, outer)
    real(c_double), allocatable :: sums(:, :, :)
    integer(c_int64_t) :: j, place
    allocate (sums(inner, length, outer))
    call cumsum(outer, length, inner, x, backwards, sums)
    do j = 1, count
        place = merge(max(j + lag, 1_c_int64_t), min(j - lag, length), backwards)
        if (1 <= place .and. place <= length) then
            total(:, j, :) = sums(:, place, :)
        else
            total(:, j, :) = 0
        end if
    end do
end subroutine

/// cummax: maximum
! Write the largest entries so far along the middle axis.
pure subroutine cummax(outer, count, inner, x, total)
    integer(c_int64_t), intent(in) :: outer, count, inner
    real(c_double), intent(in) :: x(inner, count, outer)
    real(c_double), intent(out) :: total(inner, count, outer)
    integer(c_int64_t) :: j
    total = x
    do j = 2, count
        total(:, j, :) = maximum(total(:, j - 1, :), x(:, j, :))
    end do
end subroutine

/// cummin: minimum
! Write the smallest entries so far along the middle axis.
pure subroutine cummin(outer, count, inner, x, total)
    integer(c_int64_t), intent(in) :: outer, count, inner
    real(c_double), intent(in) :: x(inner, count, outer)
    real(c_double), intent(out) :: total(inner, count, outer)
    integer(c_int64_t) :: j
    total = x
    do j = 2, count
        total(:, j, :) = minimum(total(:, j - 1, :), x(:, j, :))
    end do
end subroutine

/// argbest: contains
! Write the positions of the largest entries along the middle axis, or of the smallest ones for the
! sign -1, or of the first that is no number; counted from 0.
integer(c_int) function argbest(outer, count, inner, x, sign_of, total)
    integer(c_int64_t), intent(in) :: outer, count, inner, sign_of
    real(c_double), intent(in) :: x(inner, count, outer)
    integer(c_int64_t), intent(out) :: total(inner, outer)
    integer(c_int64_t) :: i, j, k, place
    real(c_double) :: best
    argbest = merge(2, 0, count == 0)
    if (argbest /= 0) return
    do i = 1, outer
        do k = 1, inner
            place = 1
            do j = 2, count
                best = sign_of * x(k, place, i)
                if (best == best .and. .not. sign_of * x(k, j, i) <= best) place = j
            end do
            total(k, i) = place - 1
        end do
    end do
end function

/// last_equal: contains
! Write the positions of the last entries so far that are equal to others; counted from 0.
pure subroutine last_equal(outer, count, inner, x, best, total)
    integer(c_int64_t), intent(in) :: outer, count, inner
    real(c_double), intent(in) :: x(inner, count, outer), best(inner, count, outer)
    integer(c_int64_t), intent(out) :: total(inner, count, outer)
    integer(c_int64_t) :: j
    do j = 1, count
        if (j == 1) then
            total(:, j, :) = 0
        else
            total(:, j, :) = merge(j - 1, total(:, j - 1, :), x(:, j, :) == best(:, j, :))
        end if
    end do
end subroutine

/// cumprod: contains
! Write the running products of rows.
pure subroutine cumprod(rows, n, x, total)
    integer(c_int64_t), intent(in) :: rows, n
    real(c_double), intent(in) :: x(n, rows)
    real(c_double), intent(out) :: total(n, rows)
    integer(c_int64_t) :: i, j
    total = x
    do i = 1, rows
        do j = 2, n
            total(j, i) = total(j - 1, i) * x(j, i)
        end do
    end do
end subroutine

/// running_products: contains
! Write 1 and the running products of rows, or those from their ends and 1.
pure subroutine running_products(rows, n, x, backwards, total)
    integer(c_int64_t), intent(in) :: rows, n
    real(c_double), intent(in) :: x(n, rows)
    logical, intent(in) :: backwards
    real(c_double), intent(out) :: total(n + 1, rows)
    integer(c_int64_t) :: i, j
    do i = 1, rows
        if (backwards) then
            total(n + 1, i) = 1
            do j = n, 1, -1
                total(j, i) = total(j + 1, i) * x(j, i)
            end do
        else
            total(1, i) = 1
            do j = 1, n
                total(j + 1, i) = total(j, i) * x(j, i)
            end do
        end if
    end do
end subroutine

/// recurrence: contains
! Solve y(j) = x(j - 1) y(j - 1) + b(j) of rows; backwards y(j) = x(j) y(j + 1) + b(j).
pure subroutine recurrence(rows_x, rows_b, n, x, b, backwards, total)
    integer(c_int64_t), intent(in) :: rows_x, rows_b, n
    real(c_double), intent(in) :: x(n - 1, rows_x), b(n, rows_b)
    logical, intent(in) :: backwards
    real(c_double), intent(out) :: total(n, merge(rows_b, rows_x, rows_x == 1))
    integer(c_int64_t) :: i, j, own, given
    do i = 1, size(total, 2, c_int64_t)
        own = min(i, rows_x)
        given = min(i, rows_b)
        total(:, i) = b(:, given)
        if (backwards) then
            do j = n - 1, 1, -1
                total(j, i) = x(j, own) * total(j + 1, i) + b(j, given)
            end do
        else
            do j = 2, n
                total(j, i) = x(j - 1, own) * total(j - 1, i) + b(j, given)
            end do
        end if
    end do
end subroutine

/// correlate: contains
! Write scalar products of a vector with all pieces of a longer one.
pure subroutine correlate(n, m, x, w, total)
    integer(c_int64_t), intent(in) :: n, m
    real(c_double), intent(in) :: x(n), w(m)
    real(c_double), intent(out) :: total(n - m + 1)
    integer(c_int64_t) :: k
    total = 0
    do k = 1, m
        total = total + x(k:k + n - m) * w(k)
    end do
end subroutine

/// convolve: contains
! Write the convolution of two vectors.
integer(c_int) function convolve(n, m, x, w, total)
    integer(c_int64_t), intent(in) :: n, m
    real(c_double), intent(in) :: x(n), w(m)
    real(c_double), intent(out) :: total(n + m - 1)
    integer(c_int64_t) :: k
    convolve = merge(2, 0, n == 0 .or. m == 0)
    if (convolve /= 0) return
    total = 0
    if (n < m) then
        do k = 1, n
            total(k:k + m - 1) = total(k:k + m - 1) + w * x(k)
        end do
    else
        do k = 1, m
            total(k:k + n - 1) = total(k:k + n - 1) + x * w(k)
        end do
    end if
end function

/// dot: contains
! Return a scalar product, added up in several parts.
pure real(c_double) function dot(n, x, y)
    integer(c_int64_t), intent(in) :: n
    real(c_double), intent(in) :: x(n), y(n)
    integer(c_int64_t) :: k
    dot = 0
    !$omp simd reduction(+ : dot)
    do k = 1, n
        dot = dot + x(k) * y(k)
    end do
end function

/// matrix_by_vector: dot
! Write A x or A' x, for a matrix with m rows and n columns.
pure subroutine matrix_by_vector(m, n, A, x, transposed, total)
    integer(c_int64_t), intent(in) :: m, n
    logical, intent(in) :: transposed
    real(c_double), intent(in) :: A(n, m), x(merge(m, n, transposed))
    real(c_double), intent(out) :: total(merge(n, m, transposed))
    integer(c_int64_t) :: i
    if (transposed) then
        total = 0
        do i = 1, m - 3, 4
            total = total + (A(:, i) * x(i) + A(:, i + 1) * x(i + 1)) &
                + (A(:, i + 2) * x(i + 2) + A(:, i + 3) * x(i + 3))
        end do
        do i = m - modulo(m, 4_c_int64_t) + 1, m
            total = total + A(:, i) * x(i)
        end do
    else
        do i = 1, m
            total(i) = dot(n, A(:, i), x)
        end do
    end if
end subroutine

/// product_of: contains
! Add four rows of coefficients times columns to four columns, by four at once.
pure subroutine add_four(n, k, B, lead, A, c1, c2, c3, c4)
    integer(c_int64_t), intent(in) :: n, k, lead
    real(c_double), intent(in) :: B(lead, k), A(k, 4)
    real(c_double), intent(inout) :: c1(n), c2(n), c3(n), c4(n)
    integer(c_int64_t) :: j, p
    do p = 1, k, 4
        !$omp simd
        do j = 1, n
            c1(j) = c1(j) + (B(j, p) * A(p, 1) + B(j, p + 1) * A(p + 1, 1)) &
                + (B(j, p + 2) * A(p + 2, 1) + B(j, p + 3) * A(p + 3, 1))
            c2(j) = c2(j) + (B(j, p) * A(p, 2) + B(j, p + 1) * A(p + 1, 2)) &
                + (B(j, p + 2) * A(p + 2, 2) + B(j, p + 3) * A(p + 3, 2))
            c3(j) = c3(j) + (B(j, p) * A(p, 3) + B(j, p + 1) * A(p + 1, 3)) &
                + (B(j, p + 2) * A(p + 2, 3) + B(j, p + 3) * A(p + 3, 3))
            c4(j) = c4(j) + (B(j, p) * A(p, 4) + B(j, p + 1) * A(p + 1, 4)) &
                + (B(j, p + 2) * A(p + 2, 4) + B(j, p + 3) * A(p + 3, 4))
        end do
    end do
end subroutine

! Write the product of two matrices, with m and n rows and columns and k terms; each may be given by
! its transpose. In column-major order all are transposed. Blocks are copied, filled up with zeros.
subroutine product_of(m, n, k, A, left, B, right, total)
    integer(c_int64_t), intent(in) :: m, n, k
    logical, intent(in) :: left, right
    real(c_double), intent(in) :: A(merge(m, k, left), merge(k, m, left))
    real(c_double), intent(in) :: B(merge(k, n, right), merge(n, k, right))
    real(c_double), intent(out) :: total(n, m)
    integer(c_int64_t), parameter :: depth = 128, width = 256
    real(c_double), allocatable :: columns(:, :), rows(:, :)
    real(c_double) :: unused(width, 3)
    integer(c_int64_t) :: i, j, p, count, most, last
    total = 0
    unused = 0
    most = min(depth, k + modulo(-k, 4_c_int64_t))
    allocate (columns(most, m + modulo(-m, 4_c_int64_t)), rows(min(width, n), most))
    do p = 1, k, depth
        last = min(p + depth - 1, k)
        columns = 0
        if (left) then
            columns(:last - p + 1, :m) = transpose(A(:, p:last))
        else
            columns(:last - p + 1, :m) = A(p:last, :)
        end if
        do j = 1, n, width
            count = min(width, n - j + 1)
            rows(:, last - p + 2:) = 0
            if (right) then
                rows(:count, :last - p + 1) = transpose(B(p:last, j:j + count - 1))
            else
                rows(:count, :last - p + 1) = B(j:j + count - 1, p:last)
            end if
            do i = 1, m - 3, 4
                call add_four(count, most, rows, min(width, n), columns(1, i), total(j, i), &
                    total(j, i + 1), total(j, i + 2), total(j, i + 3))
            end do
            select case (m - i + 1)
            case (3)
                call add_four(count, most, rows, min(width, n), columns(1, i), total(j, i), &
                    total(j, i + 1), total(j, i + 2), unused(:, 1))
            case (2)
                call add_four(count, most, rows, min(width, n), columns(1, i), total(j, i), &
                    total(j, i + 1), unused(:, 1), unused(:, 2))
            case (1)
                call add_four(count, most, rows, min(width, n), columns(1, i), total(j, i), &
                    unused(:, 1), unused(:, 2), unused(:, 3))
            end select
        end do
    end do
end subroutine

/// gram: product_of
! Write A A' or A' A, for n rows and k terms.
subroutine gram(n, k, A, transposed, total)
    integer(c_int64_t), intent(in) :: n, k
    real(c_double), intent(in) :: A(n * k)
    logical, intent(in) :: transposed
    real(c_double), intent(out) :: total(n, n)
    call product_of(n, n, k, A, transposed, A, .not. transposed, total)
end subroutine

/// matmul_of: product_of
! Write the products of two stacks of matrices, of which one may be a single matrix.
subroutine matmul_of(count_a, count_b, m, n, k, A, B, total)
    integer(c_int64_t), intent(in) :: count_a, count_b, m, n, k
    real(c_double), intent(in) :: A(k, m, count_a), B(n, k, count_b)
    real(c_double), intent(out) :: total(n, m, merge(count_b, count_a, count_a == 1))
    integer(c_int64_t) :: i
    do i = 1, size(total, 3, c_int64_t)
        call product_of(m, n, k, A(:, :, min(i, count_a)), .false., B(:, :, min(i, count_b)), .false., &
            total(:, :, i))
    end do
end subroutine

/// cholesky: dot
! Write R of R' R over the upper triangle of a matrix; return whether it is definite.
logical function cholesky(n, R)
    integer(c_int64_t), intent(in) :: n
    real(c_double), intent(inout) :: R(n, n)
    integer(c_int64_t) :: i, j
    real(c_double) :: rest
    cholesky = .false.
    do i = 1, n
        do j = 1, i - 1
            R(j, i) = (R(j, i) - dot(j - 1, R(:, j), R(:, i))) / R(j, j)
        end do
        rest = R(i, i) - dot(i - 1, R(:, i), R(:, i))
        if (.not. rest > 0) return
        R(i, i) = sqrt(rest)
    end do
    cholesky = .true.
end function

/// factored: factors cholesky
! Write the factors of L U over a matrix, and the exchanged rows; tell whether it is singular.
subroutine lu(n, A, exchanged, is_singular)
    integer(c_int64_t), intent(in) :: n
    real(c_double), intent(inout) :: A(n, n)
    integer(c_int64_t), intent(out) :: exchanged(n)
    logical, intent(out) :: is_singular
    integer(c_int64_t) :: j, k, pivot
    real(c_double) :: row(n)
    is_singular = .false.
    do k = 1, n
        pivot = k - 1 + maxloc(abs(A(k:n, k)), 1, kind=c_int64_t)
        exchanged(k) = pivot
        if (pivot /= k) then
            row = A(k, :)
            A(k, :) = A(pivot, :)
            A(pivot, :) = row
        end if
        if (A(k, k) == 0) then
            is_singular = .true.
            cycle
        end if
        A(k + 1:n, k) = A(k + 1:n, k) / A(k, k)
        do j = k + 1, n
            A(k + 1:n, j) = A(k + 1:n, j) - A(k + 1:n, k) * A(k, j)
        end do
    end do
end subroutine

! Factor a matrix that may be definite (1) or symmetric (2).
subroutine factored(n, X, definite, found)
    integer(c_int64_t), intent(in) :: n, definite
    real(c_double), intent(in) :: X(n, n)
    type(factors), intent(out) :: found
    found%n = n
    found%is_lu = .false.
    found%is_singular = .false.
    found%isnt_definite = .false.
    allocate (found%factor(n, n), found%exchanged(n))
    found%factor = X
    if (definite /= 0) then
        if (cholesky(n, found%factor)) return
        found%factor = X
    end if
    call lu(n, found%factor, found%exchanged, found%is_singular)
    found%is_lu = .true.
    found%isnt_definite = definite == 1
end subroutine

/// solved: factored
! Write inv(T) B over B, for a triangle of a matrix or its transpose; B has some right-hand sides.
subroutine by_triangle(n, count, T, is_forward, transposed, unit, B)
    integer(c_int64_t), intent(in) :: n, count
    real(c_double), intent(in) :: T(n, n)
    logical, intent(in) :: is_forward, transposed, unit
    real(c_double), intent(inout) :: B(count, n)
    integer(c_int64_t) :: i, k, r
    do k = 1, n
        i = merge(k, n + 1 - k, is_forward)
        if (.not. unit) B(:, i) = B(:, i) / T(i, i)
        do r = merge(i + 1, 1_c_int64_t, is_forward), merge(n, i - 1, is_forward)
            B(:, r) = B(:, r) - B(:, i) * merge(T(i, r), T(r, i), transposed)
        end do
    end do
end subroutine

! Apply the row exchanges of L U.
subroutine exchange_rows(given, count, X, backwards)
    type(factors), intent(in) :: given
    integer(c_int64_t), intent(in) :: count
    real(c_double), intent(inout) :: X(count, given%n)
    logical, intent(in) :: backwards
    real(c_double) :: row(count)
    integer(c_int64_t) :: i, k, other
    do k = 1, given%n
        i = merge(given%n + 1 - k, k, backwards)
        other = given%exchanged(i)
        row = X(:, i)
        X(:, i) = X(:, other)
        X(:, other) = row
    end do
end subroutine

! Write inv(X) B or inv(X') B, of a matrix X that is factored; 1 if it is singular.
integer(c_int) function solved(given, count, B, transposed, X)
    type(factors), intent(in) :: given
    integer(c_int64_t), intent(in) :: count
    real(c_double), intent(in) :: B(count, given%n)
    logical, intent(in) :: transposed
    real(c_double), intent(out) :: X(count, given%n)
    integer(c_int64_t) :: n
    n = given%n
    solved = merge(1, 0, given%is_singular)
    if (given%is_singular) return
    X = B
    if (.not. given%is_lu) then
        call by_triangle(n, count, given%factor, .true., .true., .false., X)
        call by_triangle(n, count, given%factor, .false., .false., .false., X)
    else if (transposed) then
        call exchange_rows(given, count, X, .false.)
        call by_triangle(n, count, given%factor, .true., .false., .true., X)
        call by_triangle(n, count, given%factor, .false., .false., .false., X)
    else
        call by_triangle(n, count, given%factor, .true., .true., .false., X)
        call by_triangle(n, count, given%factor, .false., .true., .true., X)
        call exchange_rows(given, count, X, .true.)
    end if
end function

/// inverted: solved
! Write the inverse of a matrix that is factored; 1 if it is singular.
integer(c_int) function inverted(given, X)
    type(factors), intent(in) :: given
    real(c_double), intent(out) :: X(given%n, given%n)
    real(c_double), allocatable :: ones(:, :)
    integer(c_int64_t) :: i
    allocate (ones(given%n, given%n))
    ones = 0
    do i = 1, given%n
        ones(i, i) = 1
    end do
    inverted = solved(given, given%n, ones, .false., X)
end function

/// trace_of_inverse: inverted
! Write the trace of the inverse of a matrix that is factored; 1 if it is singular.
integer(c_int) function trace_of_inverse(given, total)
    type(factors), intent(in) :: given
    real(c_double), intent(out) :: total
    real(c_double), allocatable :: X(:, :)
    integer(c_int64_t) :: i
    allocate (X(given%n, given%n))
    trace_of_inverse = inverted(given, X)
    total = 0
    if (trace_of_inverse /= 0) return
    do i = 1, given%n
        total = total + X(i, i)
    end do
end function

/// determinant: factored
real(c_double) function determinant(given)
    type(factors), intent(in) :: given
    integer(c_int64_t) :: i
    determinant = 1
    do i = 1, given%n
        determinant = determinant * given%factor(i, i)
        if (.not. given%is_lu) then
            determinant = determinant * given%factor(i, i)
        else if (given%exchanged(i) /= i) then
            determinant = -determinant
        end if
    end do
end function

/// log_determinant: factored log_of
! Write log |det X| of a matrix that is factored; 1 if it was said to be definite and isn't.
integer(c_int) function log_determinant(given, found)
    type(factors), intent(in) :: given
    real(c_double), intent(out) :: found
    integer(c_int64_t) :: i
    log_determinant = merge(1, 0, given%isnt_definite)
    found = 0
    do i = 1, given%n
        found = found + log_of(abs(given%factor(i, i)))
    end do
    if (.not. given%is_lu) found = 2 * found
end function

/// signed_log_determinant: factored log_of
! Write the sign of the determinant of a matrix that is factored, and log |det X|.
subroutine signed_log_determinant(given, found)
    type(factors), intent(in) :: given
    real(c_double), intent(out) :: found(2)
    real(c_double) :: entry
    integer(c_int64_t) :: i
    found(1) = 1
    found(2) = 0
    do i = 1, given%n
        entry = given%factor(i, i)
        found(2) = found(2) + log_of(abs(entry))
        if (.not. given%is_lu) cycle
        found(1) = found(1) * merge(sign(1d0, entry), entry, abs(entry) > 0)
        if (given%exchanged(i) /= i) found(1) = -found(1)
    end do
    if (.not. given%is_lu) found(2) = 2 * found(2)
end subroutine

/// each_inv: inverted
! Write the inverse of each matrix.
integer(c_int) function each_inv(count, n, A, total)
    integer(c_int64_t), intent(in) :: count, n
    real(c_double), intent(in) :: A(n, n, count)
    real(c_double), intent(out) :: total(n, n, count)
    type(factors) :: own
    integer(c_int64_t) :: k
    each_inv = 0
    do k = 1, count
        call factored(n, A(:, :, k), 0_c_int64_t, own)
        each_inv = inverted(own, total(:, :, k))
        if (each_inv /= 0) return
    end do
end function

/// each_solve: solved
! Write inv(X) Y of each two matrices.
integer(c_int) function each_solve(count, n, columns, A, B, total)
    integer(c_int64_t), intent(in) :: count, n, columns
    real(c_double), intent(in) :: A(n, n, count), B(columns, n, count)
    real(c_double), intent(out) :: total(columns, n, count)
    type(factors) :: own
    integer(c_int64_t) :: k
    each_solve = 0
    do k = 1, count
        call factored(n, A(:, :, k), 0_c_int64_t, own)
        each_solve = solved(own, columns, B(:, :, k), .false., total(:, :, k))
        if (each_solve /= 0) return
    end do
end function

/// each_det: determinant
! Write the determinant of each matrix.
subroutine each_det(count, n, A, total)
    integer(c_int64_t), intent(in) :: count, n
    real(c_double), intent(in) :: A(n, n, count)
    real(c_double), intent(out) :: total(count)
    type(factors) :: own
    integer(c_int64_t) :: k
    do k = 1, count
        call factored(n, A(:, :, k), 0_c_int64_t, own)
        total(k) = determinant(own)
    end do
end subroutine

/// each_slogdet: signed_log_determinant
! Write the sign of the determinant of each matrix, and log |det X|.
subroutine each_slogdet(count, n, A, signs, logs)
    integer(c_int64_t), intent(in) :: count, n
    real(c_double), intent(in) :: A(n, n, count)
    real(c_double), intent(out) :: signs(count), logs(count)
    type(factors) :: own
    real(c_double) :: found(2)
    integer(c_int64_t) :: k
    do k = 1, count
        call factored(n, A(:, :, k), 0_c_int64_t, own)
        call signed_log_determinant(own, found)
        signs(k) = found(1)
        logs(k) = found(2)
    end do
end subroutine

/// each_cholesky: cholesky
! Write the lower Cholesky factor of each matrix; 1 if one isn't definite.
integer(c_int) function each_cholesky(count, n, A, total)
    integer(c_int64_t), intent(in) :: count, n
    real(c_double), intent(in) :: A(n, n, count)
    real(c_double), intent(out) :: total(n, n, count)
    integer(c_int64_t) :: i, k
    each_cholesky = 0
    total = A
    do k = 1, count
        if (.not. cholesky(n, total(:, :, k))) each_cholesky = 1
        do i = 1, n
            total(i + 1:n, i, k) = 0
        end do
    end do
end function

/// each_power: inverted product_of
! Write a power of each matrix.
integer(c_int) function each_power(count, n, A, exponent, total)
    integer(c_int64_t), intent(in) :: count, n, exponent
    real(c_double), intent(in) :: A(n, n, count)
    real(c_double), intent(out) :: total(n, n, count)
    type(factors) :: own
    real(c_double), allocatable :: base(:, :), next(:, :)
    integer(c_int64_t) :: i, k, rest
    allocate (base(n, n), next(n, n))
    each_power = 0
    do k = 1, count
        total(:, :, k) = 0
        do i = 1, n
            total(i, i, k) = 1
        end do
        base = A(:, :, k)
        if (exponent < 0) then
            call factored(n, A(:, :, k), 0_c_int64_t, own)
            each_power = inverted(own, base)
            if (each_power /= 0) return
        end if
        rest = abs(exponent)
        do while (rest > 0)
            if (modulo(rest, 2_c_int64_t) == 1) then
                call product_of(n, n, n, total(:, :, k), .false., base, .false., next)
                total(:, :, k) = next
            end if
            rest = rest / 2
            if (rest > 0) then
                call product_of(n, n, n, base, .false., base, .false., next)
                base = next
            end if
        end do
    end do
end function

/// running_weights: exp_of log_of logaddexp
! Write log(cumsum(exp(x))), exp(x - top) and cumsum(exp(x - top)) of rows, and whether none of the
! last two vanishes.
subroutine running_weights(rows, n, x, logs, weights, total, plain)
    integer(c_int64_t), intent(in) :: rows, n
    real(c_double), intent(in) :: x(n, rows)
    real(c_double), intent(out) :: logs(n, rows), weights(n, rows), total(n, rows)
    integer(c_int64_t), intent(out) :: plain(1)
    real(c_double) :: top
    integer(c_int64_t) :: i, j
    plain(1) = 1
    if (n == 0) return
    do i = 1, rows
        top = -infinity
        do j = 1, n
            if (x(j, i) > top) top = x(j, i)
        end do
        weights(:, i) = exp_of(x(:, i) - top)
        total(1, i) = weights(1, i)
        do j = 2, n
            total(j, i) = total(j - 1, i) + weights(j, i)
        end do
        logs(:, i) = log_of(total(:, i)) + top
        if (.not. weights(1, i) > 1d-260) plain(1) = 0
    end do
    if (plain(1) == 1) return
    do i = 1, rows
        logs(1, i) = x(1, i)
        do j = 2, n
            logs(j, i) = logaddexp(logs(j - 1, i), x(j, i))
        end do
    end do
end subroutine

/// running_mean: exp_of infinity
! Write sums of c(i) exp(x(i) - y(j)) over i <= j, or of c(j) over j >= i, of rows x and
! y = log(cumsum(exp(x))), whose weights and their sums are given, and whether those vanish nowhere.
subroutine running_mean(rows_x, rows_c, n, x, y, weights, sums, plain, c, backwards, total)
    integer(c_int64_t), intent(in) :: rows_x, rows_c, n, plain(1)
    real(c_double), intent(in), dimension(n, rows_x) :: x, y, weights, sums
    real(c_double), intent(in) :: c(n, rows_c)
    logical, intent(in) :: backwards
    real(c_double), intent(out) :: total(n, merge(rows_c, rows_x, rows_x == 1))
    real(c_double) :: running, last, finite
    integer(c_int64_t) :: i, j, k, l, here
    do i = 1, size(total, 2, c_int64_t)
        k = min(i, rows_x)
        l = min(i, rows_c)
        running = 0
        last = 0
        do j = 1, n
            here = merge(n + 1 - j, j, backwards)
            finite = merge(0d0, y(here, k), y(here, k) == -infinity)
            if (plain(1) /= 0 .and. backwards) then
                running = running + c(here, l) / sums(here, k)
                total(here, i) = running * weights(here, k)
            else if (plain(1) /= 0) then
                running = running + c(here, l) * weights(here, k)
                total(here, i) = running / sums(here, k)
            else if (backwards) then
                if (j > 1) running = running * exp_of(y(here, k) - merge(0d0, last, last == -infinity))
                running = running + c(here, l)
                total(here, i) = running * exp_of(x(here, k) - finite)
            else
                if (j > 1) running = running * exp_of(last - finite)
                running = running + exp_of(x(here, k) - finite) * c(here, l)
                total(here, i) = running
            end if
            last = y(here, k)
        end do
    end do
end subroutine

/// matrix_cofactors: contains
! Write the derivative of det, at a singular matrix too: by complete pivoting, after which only the
! last pivot is small for rank n - 1, by which nothing is divided.
subroutine matrix_cofactors(n, X, total)
    integer(c_int64_t), intent(in) :: n
    real(c_double), intent(in) :: X(n, n)
    real(c_double), intent(out) :: total(n, n)
    real(c_double), allocatable :: U(:, :), Y(:, :), line(:)
    integer(c_int64_t), allocatable :: rows(:), columns(:)
    integer(c_int64_t) :: i, j, k, row, column, place, best(2)
    real(c_double) :: scale
    allocate (U(n, n), Y(n, n), line(n), rows(n), columns(n))
    U = X
    Y = 0
    scale = 1
    do i = 1, n
        rows(i) = i
        columns(i) = i
        Y(i, i) = 1
    end do
    do k = 1, n - 1
        best = maxloc(abs(U(k:n, k:n)), kind=c_int64_t) + k - 1
        row = max(best(1), k)
        column = max(best(2), k)
        line = U(k, :)
        U(k, :) = U(row, :)
        U(row, :) = line
        line = U(:, k)
        U(:, k) = U(:, column)
        U(:, column) = line
        place = rows(k)
        rows(k) = rows(row)
        rows(row) = place
        place = columns(k)
        columns(k) = columns(column)
        columns(column) = place
        scale = scale * merge(U(k, k), -U(k, k), (row /= k) .eqv. (column /= k))
        if (U(k, k) == 0) then
            total = 0
            return
        end if
        U(k + 1:n, k) = U(k + 1:n, k) / U(k, k)
        do j = k + 1, n
            U(k + 1:n, j) = U(k + 1:n, j) - U(k + 1:n, k) * U(k, j)
        end do
    end do
    ! inv(L), then the adjugate of U times that.
    do i = 2, n
        do k = 1, i - 1
            Y(i, 1:k) = Y(i, 1:k) - U(i, k) * Y(k, 1:k)
        end do
    end do
    do i = n - 1, 1, -1
        line = U(n, n) * Y(i, :) - U(i, n) * Y(n, :)
        do k = i + 1, n - 1
            line = line - U(i, k) * Y(k, :)
        end do
        Y(i, :) = line / U(i, i)
    end do
    do i = 1, n
        do j = 1, n
            total(rows(j), columns(i)) = scale * Y(i, j)
        end do
    end do
end subroutine
