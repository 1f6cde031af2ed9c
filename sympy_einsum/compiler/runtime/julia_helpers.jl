/// sqrt_of
# Functions are NaN outside of their domain.
sqrt_of(x) = x < 0 ? NaN : sqrt(x)

/// log_of
log_of(x) = x < 0 ? NaN : log(x)

/// log1p_of
log1p_of(x) = x < -1 ? NaN : log1p(x)

/// log2_of
log2_of(x) = x < 0 ? NaN : log2(x)

/// log10_of
log10_of(x) = x < 0 ? NaN : log10(x)

/// sin_of
sin_of(x) = isfinite(x) ? sin(x) : NaN

/// cos_of
cos_of(x) = isfinite(x) ? cos(x) : NaN

/// tan_of
tan_of(x) = isfinite(x) ? tan(x) : NaN

/// asin_of
asin_of(x) = abs(x) <= 1 ? asin(x) : NaN

/// acos_of
acos_of(x) = abs(x) <= 1 ? acos(x) : NaN

/// acosh_of
acosh_of(x) = x >= 1 ? acosh(x) : NaN

/// atanh_of
atanh_of(x) = abs(x) <= 1 ? atanh(x) : NaN

/// power_of
power_of(x, y) = x < 0 && isfinite(y) && !isinteger(y) ? NaN : x ^ y

/// fmax
# Return the larger number; the other one if one is NaN.
fmax(a, b) = isnan(a) ? b : isnan(b) ? a : max(a, b)

/// fmin
# Return the smaller number; the other one if one is NaN.
fmin(a, b) = isnan(a) ? b : isnan(b) ? a : min(a, b)

/// erf
using SpecialFunctions: erf

/// erfc
using SpecialFunctions: erfc

/// gamma
using SpecialFunctions: gamma

/// log_gamma
using SpecialFunctions: logabsgamma
log_gamma(x) = logabsgamma(x)[1]

/// finite_or_0
finite_or_0(x) = isfinite(x) ? x : 0.0

/// heaviside
heaviside(x, at_0) = x > 0 ? 1.0 : x < 0 ? 0.0 : x == 0 ? Float64(at_0) : NaN

/// logaddexp
# Return log(exp(a) + exp(b)) without overflow.
logaddexp(a, b) = a == b ? a + 0.6931471805599453 : max(a, b) + log1p(exp(-abs(a - b)))

/// nan_to_num
nan_to_num(x) = isnan(x) ? 0.0 : clamp(x, -floatmax(Float64), floatmax(Float64))

/// sigmoid
sigmoid(z) = 1 / (1 + exp(-z))

/// sigmoid_derivative
function sigmoid_derivative(z)
    t = exp(-abs(z))
    return t / ((1 + t) * (1 + t))
end

/// softplus
softplus(z) = max(z, 0.0) + log1p(exp(-abs(z)))

/// ndtr: erfc
ndtr(x) = 0.5 * erfc(-x * 0.7071067811865476)

/// xlogy: log_of
xlogy(x, y) = x == 0 && !isnan(y) ? 0.0 : x * log_of(y)

/// xlog1py: log1p_of
xlog1py(x, y) = x == 0 && !isnan(y) ? 0.0 : x * log1p_of(y)

/// entr: xlogy
entr(x) = x < 0 ? -Inf : -xlogy(x, x)

/// rel_entr
function rel_entr(x, y)
    x > 0 && y > 0 && return x * log(x / y)
    return x == 0 && y >= 0 ? 0.0 : isnan(x) || isnan(y) ? NaN : Inf
end

/// loggamma: log_gamma
loggamma(x) = x < 0 ? NaN : log_gamma(x)

/// betaln: log_gamma
betaln(x, y) = log_gamma(x) + log_gamma(y) - log_gamma(x + y)

/// exprel
exprel(x) = x == 0 ? 1.0 : expm1(x) / x

/// sinhc
sinhc(x) = x == 0 ? 1.0 : sinh(x) / x

/// tanhc
tanhc(x) = x == 0 ? 1.0 : tanh(x) / x

/// floor_divide
floor_divide(a, b) = floor(a / b)

/// remainder_of
# Return the remainder of a division, with the sign of the divisor.
function remainder_of(a, b)
    rest = rem(a, b)
    return rest == 0 ? copysign(0.0, b) : (rest < 0) != (b < 0) ? rest + b : rest
end

/// block
# Return the first entries of an array with other axes.
block(x, lengths...) = reshape(view(x, 1:prod(lengths)), lengths)

/// block_at
# Return a matrix of a stack.
block_at(x, k, p, q) = reshape(view(x, (k - 1) * p * q + 1:k * p * q), p, q)

/// make_finite
# Replace the entries that aren't finite by 0.
function make_finite(x, count)
    for k in 1:count
        x[k] = isfinite(x[k]) ? x[k] : 0.0
    end
end

/// running_sums: block
# Write running sums along the middle axis of three, or those from its end.
function running_sums(outer, count, inner, x, backwards, total)
    sums = block(total, inner, count, outer)
    sums .= block(x, inner, count, outer)
    for i in 1:outer, j in 2:count
        here, there = backwards ? (count - j + 1, count - j + 2) : (j, j - 1)
        for k in 1:inner
            sums[k, here, i] += sums[k, there, i]
        end
    end
end

/// lagged_cumsum: running_sums
# Write running sums of which entry j ends at j - lag; backwards, they begin at j + lag.
function lagged_cumsum(outer, length, inner, x, backwards, lag, count, total)
    sums = Array{Float64}(undef, inner, length, outer)
    running_sums(outer, length, inner, x, backwards, sums)
    found = block(total, inner, count, outer)
    for i in 1:outer, j in 1:count
        place = backwards ? max(j + lag, 1) : min(j - lag, length)
        for k in 1:inner
            found[k, j, i] = 1 <= place <= length ? sums[k, place, i] : 0.0
        end
    end
end

/// cummax: block
# Write the largest entries so far along the middle axis.
function cummax(outer, count, inner, x, total)
    best = block(total, inner, count, outer)
    best .= block(x, inner, count, outer)
    for i in 1:outer, j in 2:count, k in 1:inner
        best[k, j, i] = max(best[k, j - 1, i], best[k, j, i])
    end
end

/// cummin: block
# Write the smallest entries so far along the middle axis.
function cummin(outer, count, inner, x, total)
    best = block(total, inner, count, outer)
    best .= block(x, inner, count, outer)
    for i in 1:outer, j in 2:count, k in 1:inner
        best[k, j, i] = min(best[k, j - 1, i], best[k, j, i])
    end
end

/// argbest: block
# Write the positions of the largest entries along the middle axis, or of the smallest ones for the
# sign -1, or of the first that is no number; counted from 0.
function argbest(outer, count, inner, x, sign_of, total)
    count == 0 && throw(ArgumentError("there is no largest or smallest entry of none"))
    entries = block(x, inner, count, outer)
    found = block(total, inner, outer)
    for i in 1:outer, k in 1:inner
        place = 1
        for j in 2:count
            best = sign_of * entries[k, place, i]
            if !isnan(best) && !(sign_of * entries[k, j, i] <= best)
                place = j
            end
        end
        found[k, i] = place - 1
    end
end

/// last_equal: block
# Write the positions of the last entries so far that are equal to others; counted from 0.
function last_equal(outer, count, inner, x, best, total)
    entries, others = block(x, inner, count, outer), block(best, inner, count, outer)
    found = block(total, inner, count, outer)
    for i in 1:outer, j in 1:count, k in 1:inner
        is_equal = j > 1 && entries[k, j, i] == others[k, j, i]
        found[k, j, i] = j == 1 ? 0 : is_equal ? j - 1 : found[k, j - 1, i]
    end
end

/// running_product: block
# Write the running products of rows.
function running_product(rows, n, x, total)
    found = block(total, n, rows)
    found .= block(x, n, rows)
    for i in 1:rows, j in 2:n
        found[j, i] *= found[j - 1, i]
    end
end

/// running_products: block
# Write 1 and the running products of rows, or those from their ends and 1.
function running_products(rows, n, x, backwards, total)
    factors, found = block(x, n, rows), block(total, n + 1, rows)
    for i in 1:rows
        found[backwards ? n + 1 : 1, i] = 1.0
        for j in 1:n
            here = backwards ? n + 1 - j : j
            there = backwards ? here + 1 : here
            found[backwards ? here : here + 1, i] = found[there, i] * factors[here, i]
        end
    end
end

/// recurrence: block
# Solve y[j] = x[j - 1] y[j - 1] + b[j] of rows; backwards y[j] = x[j] y[j + 1] + b[j].
function recurrence(rows_x, rows_b, n, x, b, backwards, total)
    rows = rows_x == 1 ? rows_b : rows_x
    factors, given = block(x, max(n - 1, 0), rows_x), block(b, n, rows_b)
    found = block(total, n, rows)
    for i in 1:rows, j in 1:n
        here = backwards ? n + 1 - j : j
        found[here, i] = given[here, min(i, rows_b)]
        if j > 1 && backwards
            found[here, i] += factors[here, min(i, rows_x)] * found[here + 1, i]
        elseif j > 1
            found[here, i] += factors[here - 1, min(i, rows_x)] * found[here - 1, i]
        end
    end
end

/// correlate
# Write scalar products of a vector with all pieces of a longer one.
function correlate(n, m, x, w, total)
    for i in 1:n - m + 1
        total[i] = 0.0
        for k in 1:m
            total[i] += x[i + k - 1] * w[k]
        end
    end
end

/// convolve
# Write the convolution of two vectors.
function convolve(n, m, x, w, total)
    (n == 0 || m == 0) && throw(ArgumentError("a convolution of vectors without entries"))
    for i in 1:n + m - 1
        total[i] = 0.0
    end
    for k in 1:m, i in 1:n
        total[i + k - 1] += x[i] * w[k]
    end
end

/// linear_algebra
using LinearAlgebra

/// matrix_by_vector: linear_algebra block
# Write A x or A' x, for a matrix with m rows and n columns. Matrices are transposed here.
function matrix_by_vector(m, n, A, x, transposed, total)
    rows = block(A, n, m)
    if transposed
        mul!(block(total, n), rows, block(x, m))
    else
        mul!(block(total, m), rows', block(x, n))
    end
end

/// matrix_product: linear_algebra block
# Write the product of two matrices, with m and n rows and columns and k terms; each may be given by
# its transpose. Matrices are transposed here.
function matrix_product(m, n, k, A, left, B, right, total)
    a = left ? block(A, m, k)' : block(A, k, m)
    b = right ? block(B, k, n)' : block(B, n, k)
    mul!(block(total, n, m), b, a)
end

/// gram: matrix_product
# Write A A' or A' A, for n rows and k terms.
gram(n, k, A, transposed, total) = matrix_product(n, n, k, A, transposed, A, !transposed, total)

/// matmul: linear_algebra block_at
# Write the products of two stacks of matrices, of which one may be a single matrix.
function matmul(count_a, count_b, m, n, k, A, B, total)
    for i in 1:(count_a == 1 ? count_b : count_a)
        b, a = block_at(B, min(i, count_b), n, k), block_at(A, min(i, count_a), k, m)
        mul!(block_at(total, i, n, m), b, a)
    end
end

/// factored: linear_algebra block
# Factors of a matrix: Cholesky's or those of LU.
struct Factors{F}
    factors::F
    is_lu::Bool
    isnt_definite::Bool
end

# Factor a matrix that may be definite (1) or symmetric (2).
function factored(n, X, definite)
    if definite != 0
        found = cholesky(Symmetric(Matrix(block(X, n, n)), :U); check = false)
        issuccess(found) && return Factors(found, false, false)
    end
    return Factors(lu(permutedims(block(X, n, n)); check = false), true, definite == 1)
end

/// solved: factored
# Write inv(X) B or inv(X') B, of a matrix X that is factored.
function solved(given, count, B, transposed, X)
    issuccess(given.factors) || throw(SingularException(0))
    n = size(given.factors, 1)
    b = permutedims(block(B, count, n))
    found = transposed && given.is_lu ? given.factors' \ b : given.factors \ b
    block(X, count, n) .= transpose(found)
end

/// inverted: factored
# Write the inverse of a matrix that is factored.
function inverted(given, X)
    issuccess(given.factors) || throw(SingularException(0))
    n = size(given.factors, 1)
    block(X, n, n) .= transpose(inv(given.factors))
end

/// trace_of_inverse: factored
# Return the trace of the inverse of a matrix that is factored.
function trace_of_inverse(given)
    issuccess(given.factors) || throw(SingularException(0))
    return tr(inv(given.factors))
end

/// determinant: factored
determinant(given) = det(given.factors)

/// log_determinant: factored
# Return log |det X| of a matrix that is factored; it may have been said to be definite.
function log_determinant(given)
    given.isnt_definite && throw(PosDefException(1))
    return given.is_lu ? logabsdet(given.factors)[1] : logdet(given.factors)
end

/// signed_log_determinant: factored
# Write the sign of the determinant of a matrix that is factored, and log |det X|.
function signed_log_determinant(given, found)
    found[2], found[1] = given.is_lu ? logabsdet(given.factors) : (logdet(given.factors), 1.0)
end

/// each_inv: linear_algebra block_at
# Write the inverse of each matrix.
function each_inv(count, n, A, total)
    for k in 1:count
        block_at(total, k, n, n) .= inv(block_at(A, k, n, n))
    end
end

/// each_solve: linear_algebra block_at
# Write inv(X) Y of each two matrices.
function each_solve(count, n, columns, A, B, total)
    for k in 1:count
        found = lu(permutedims(block_at(A, k, n, n))) \ permutedims(block_at(B, k, columns, n))
        block_at(total, k, columns, n) .= transpose(found)
    end
end

/// each_det: linear_algebra block_at
# Write the determinant of each matrix.
function each_det(count, n, A, total)
    for k in 1:count
        total[k] = det(block_at(A, k, n, n))
    end
end

/// each_slogdet: linear_algebra block_at
# Write the sign of the determinant of each matrix, and log |det X|.
function each_slogdet(count, n, A, signs, logs)
    for k in 1:count
        logs[k], signs[k] = logabsdet(block_at(A, k, n, n))
    end
end

/// each_cholesky: linear_algebra block_at
# Write the lower Cholesky factor of each matrix, which is the upper one of the transposed ones here.
function each_cholesky(count, n, A, total)
    for k in 1:count
        block_at(total, k, n, n) .= cholesky(Symmetric(Matrix(block_at(A, k, n, n)), :U)).U
    end
end

/// each_power: linear_algebra block_at
# Write a power of each matrix.
function each_power(count, n, A, exponent, total)
    for k in 1:count
        block_at(total, k, n, n) .= Matrix(block_at(A, k, n, n)) ^ exponent
    end
end

/// running_weights: logaddexp block
# Write log(cumsum(exp(x))), exp(x - top) and cumsum(exp(x - top)) of rows, and whether none of the
# last two vanishes.
function running_weights(rows, n, x, logs, weights, total, plain)
    entries, found = block(x, n, rows), block(logs, n, rows)
    factors, sums = block(weights, n, rows), block(total, n, rows)
    plain[1] = 1
    n == 0 && return
    for i in 1:rows
        top = -Inf
        for j in 1:n
            top = entries[j, i] > top ? entries[j, i] : top
        end
        sum = 0.0
        for j in 1:n
            factors[j, i] = exp(entries[j, i] - top)
            sum += factors[j, i]
            sums[j, i] = sum
            found[j, i] = log(sum) + top
        end
        if !(factors[1, i] > 1e-260)
            plain[1] = 0
        end
    end
    plain[1] == 1 && return
    for i in 1:rows
        found[1, i] = entries[1, i]
        for j in 2:n
            found[j, i] = logaddexp(found[j - 1, i], entries[j, i])
        end
    end
end

/// running_mean: block
# Write sums of c[i] exp(x[i] - y[j]) over i <= j, or of c[j] over j >= i, of rows x and
# y = log(cumsum(exp(x))), whose weights and their sums are given, and whether those vanish nowhere.
function running_mean(rows_x, rows_c, n, x, y, weights, sums, plain, c, backwards, total)
    rows = rows_x == 1 ? rows_c : rows_x
    X, Y, W, S = [block(own, n, rows_x) for own in (x, y, weights, sums)]
    C, found = block(c, n, rows_c), block(total, n, rows)
    above(value) = value == -Inf ? 0.0 : value
    for i in 1:rows
        k, l, running, last = min(i, rows_x), min(i, rows_c), 0.0, 0.0
        for j in 1:n
            here = backwards ? n + 1 - j : j
            if plain[1] != 0 && backwards
                running += C[here, l] / S[here, k]
                found[here, i] = running * W[here, k]
            elseif plain[1] != 0
                running += C[here, l] * W[here, k]
                found[here, i] = running / S[here, k]
            elseif backwards
                ratio = j > 1 ? exp(Y[here, k] - above(last)) : 0.0
                running = (j > 1 ? ratio * running : 0.0) + C[here, l]
                found[here, i] = running * exp(X[here, k] - above(Y[here, k]))
            else
                ratio = j > 1 ? exp(last - above(Y[here, k])) : 0.0
                running = (j > 1 ? ratio * running : 0.0) + exp(X[here, k] - above(Y[here, k])) * C[here, l]
                found[here, i] = running
            end
            last = Y[here, k]
        end
    end
end

/// matrix_cofactors: linear_algebra block
# Write the derivative of det, at a singular matrix too: by complete pivoting, after which only the
# last pivot is small for rank n - 1, by which nothing is divided.
function matrix_cofactors(n, X, total)
    U, Y, scale = Matrix(block(X, n, n)), Matrix{Float64}(I, n, n), 1.0
    rows, columns, found = collect(1:n), collect(1:n), block(total, n, n)
    for k in 1:n - 1
        row, column = k, k
        for i in k:n, j in k:n
            if abs(U[i, j]) > abs(U[row, column])
                row, column = i, j
            end
        end
        for j in 1:n
            U[k, j], U[row, j] = U[row, j], U[k, j]
        end
        for i in 1:n
            U[i, k], U[i, column] = U[i, column], U[i, k]
        end
        rows[k], rows[row] = rows[row], rows[k]
        columns[k], columns[column] = columns[column], columns[k]
        scale *= (row != k) == (column != k) ? U[k, k] : -U[k, k]
        if U[k, k] == 0
            found .= 0.0
            return
        end
        for i in k + 1:n
            U[i, k] /= U[k, k]
            for j in k + 1:n
                U[i, j] -= U[i, k] * U[k, j]
            end
        end
    end
    # inv(L), then the adjugate of U times that.
    for i in 2:n, k in 1:i - 1, j in 1:k
        Y[i, j] -= U[i, k] * Y[k, j]
    end
    for i in n - 1:-1:1, j in 1:n
        rest = U[n, n] * Y[i, j] - U[i, n] * Y[n, j]
        for k in i + 1:n - 1
            rest -= U[i, k] * Y[k, j]
        end
        Y[i, j] = rest / U[i, i]
    end
    for i in 1:n, j in 1:n
        found[rows[j], columns[i]] = scale * Y[i, j]
    end
end
