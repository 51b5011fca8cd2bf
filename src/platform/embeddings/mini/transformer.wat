;; The arithmetic of a transformer encoder with heads of 32 numbers.
;; Source of transformer.wasm (`npm run kernel` makes it). transformer.ts has the order of the steps, and the addresses.
(module
  (memory (export "memory") 1)

  ;; e^x of four numbers, none above 0, to 4e-6: 2^n, which becomes an exponent, times a polynomial of the fraction.
  (func $exp (param $x v128) (result v128)
    (local $n v128) (local $f v128)
    (local.set $x
      (f32x4.mul
        (f32x4.max (local.get $x) (v128.const f32x4 -87 -87 -87 -87))
        (v128.const f32x4 1.44269504 1.44269504 1.44269504 1.44269504)))
    (local.set $n (f32x4.floor (local.get $x)))
    (local.set $f (f32x4.sub (local.get $x) (local.get $n)))
    (local.set $x (v128.const f32x4 0.000154035 0.000154035 0.000154035 0.000154035))
    (local.set $x (f32x4.add (f32x4.mul (local.get $x) (local.get $f)) (v128.const f32x4 0.00133335581 0.00133335581 0.00133335581 0.00133335581)))
    (local.set $x (f32x4.add (f32x4.mul (local.get $x) (local.get $f)) (v128.const f32x4 0.00961812911 0.00961812911 0.00961812911 0.00961812911)))
    (local.set $x (f32x4.add (f32x4.mul (local.get $x) (local.get $f)) (v128.const f32x4 0.0555041087 0.0555041087 0.0555041087 0.0555041087)))
    (local.set $x (f32x4.add (f32x4.mul (local.get $x) (local.get $f)) (v128.const f32x4 0.240226507 0.240226507 0.240226507 0.240226507)))
    (local.set $x (f32x4.add (f32x4.mul (local.get $x) (local.get $f)) (v128.const f32x4 0.693147181 0.693147181 0.693147181 0.693147181)))
    (local.set $x (f32x4.add (f32x4.mul (local.get $x) (local.get $f)) (v128.const f32x4 1 1 1 1)))
    (i32x4.add (local.get $x) (i32x4.shl (i32x4.trunc_sat_f32x4_s (local.get $n)) (i32.const 23))))

  (func $sum (param $x v128) (result f32)
    (f32.add
      (f32.add (f32x4.extract_lane 0 (local.get $x)) (f32x4.extract_lane 1 (local.get $x)))
      (f32.add (f32x4.extract_lane 2 (local.get $x)) (f32x4.extract_lane 3 (local.get $x)))))

  (func $sum_i32 (param $x v128) (result i32)
    (i32.add
      (i32.add (i32x4.extract_lane 0 (local.get $x)) (i32x4.extract_lane 1 (local.get $x)))
      (i32.add (i32x4.extract_lane 2 (local.get $x)) (i32x4.extract_lane 3 (local.get $x)))))

  ;; Writes each token's numbers as i16 of at most 8191 with one scale, and their sum, as f32: products of 1,536 of them
  ;; with int8 sum up to less than 2^31. Four tokens lie together: 8 numbers of the first, 8 of the second and so on.
  (func (export "quantise")
    (param $x i32) (param $tokens i32) (param $width i32) (param $out i32) (param $scales i32) (param $sums i32)
    (local $token i32) (local $at i32) (local $end i32) (local $to i32) (local $max v128) (local $sum v128)
    (local $scale f32) (local $inverse v128) (local $eight v128)
    (loop $each_token
      (local.set $end (i32.add (local.get $x) (i32.shl (local.get $width) (i32.const 2))))
      (local.set $at (local.get $x))
      (local.set $max (v128.const i32x4 0 0 0 0))
      (loop $each_4
        (local.set $max (f32x4.max (local.get $max) (f32x4.abs (v128.load (local.get $at)))))
        (local.set $at (i32.add (local.get $at) (i32.const 16)))
        (br_if $each_4 (i32.lt_u (local.get $at) (local.get $end))))
      (local.set $scale
        (f32.div
          (f32.max
            (f32.max (f32x4.extract_lane 0 (local.get $max)) (f32x4.extract_lane 1 (local.get $max)))
            (f32.max (f32x4.extract_lane 2 (local.get $max)) (f32x4.extract_lane 3 (local.get $max))))
          (f32.const 8191)))
      ;; All zeros: 0 times infinity is no number, which becomes 0.
      (local.set $inverse (f32x4.splat (f32.div (f32.const 1) (local.get $scale))))
      (local.set $sum (v128.const i32x4 0 0 0 0))
      (local.set $to
        (i32.add
          (local.get $out)
          (i32.add
            (i32.shl (i32.mul (i32.shr_u (local.get $token) (i32.const 2)) (local.get $width)) (i32.const 3))
            (i32.shl (i32.and (local.get $token) (i32.const 3)) (i32.const 4)))))
      (loop $each_8
        (local.set $eight
          (i16x8.narrow_i32x4_s
            (i32x4.trunc_sat_f32x4_s (f32x4.nearest (f32x4.mul (v128.load (local.get $x)) (local.get $inverse))))
            (i32x4.trunc_sat_f32x4_s (f32x4.nearest (f32x4.mul (v128.load offset=16 (local.get $x)) (local.get $inverse))))))
        (v128.store (local.get $to) (local.get $eight))
        (local.set $sum (i32x4.add (local.get $sum) (i32x4.extadd_pairwise_i16x8_s (local.get $eight))))
        (local.set $to (i32.add (local.get $to) (i32.const 64)))
        (local.set $x (i32.add (local.get $x) (i32.const 32)))
        (br_if $each_8 (i32.lt_u (local.get $x) (local.get $end))))
      (f32.store (local.get $scales) (local.get $scale))
      (f32.store (local.get $sums) (f32.convert_i32_s (call $sum_i32 (local.get $sum))))
      (local.set $scales (i32.add (local.get $scales) (i32.const 4)))
      (local.set $sums (i32.add (local.get $sums) (i32.const 4)))
      (local.set $token (i32.add (local.get $token) (i32.const 1)))
      (br_if $each_token (i32.lt_u (local.get $token) (local.get $tokens)))))

  ;; A number of a product: token scale * (scale * dot product + offset * sum of the token's numbers) + bias.
  (func $put
    (param $out i32) (param $dot v128) (param $token i32) (param $sums i32)
    (param $scale f32) (param $offset f32) (param $bias f32)
    (f32.store
      (local.get $out)
      (f32.add
        (f32.mul
          (f32.load (local.get $token))
          (f32.add
            (f32.mul (local.get $scale) (f32.convert_i32_s (call $sum_i32 (local.get $dot))))
            (f32.mul (local.get $offset) (f32.load (local.get $sums)))))
        (local.get $bias))))

  ;; Multiplies what `quantise` wrote with a matrix of int8 rows, whose weights are scale * int8 + offset. Computes two
  ;; rows for four tokens at a time: `rows` are even, and the memory for tokens ends at a multiple of four.
  (func (export "multiply")
    (param $x i32) (param $scales i32) (param $sums i32) (param $tokens i32) (param $width i32)
    (param $weights i32) (param $rows i32) (param $scale f32) (param $offset f32) (param $bias i32)
    (param $out i32)
    (local $row i32) (local $token i32) (local $at i32) (local $first i32) (local $second i32) (local $end i32)
    (local $to i32) (local $next i32) (local $token_scales i32) (local $token_sums i32)
    (local $bias_a f32) (local $bias_b f32)
    (local $a v128) (local $b v128) (local $y v128)
    (local $a0 v128) (local $a1 v128) (local $a2 v128) (local $a3 v128)
    (local $b0 v128) (local $b1 v128) (local $b2 v128) (local $b3 v128)
    (local.set $next (i32.shl (local.get $rows) (i32.const 2)))
    (loop $each_2_rows
      (local.set $bias_a (f32.load (local.get $bias)))
      (local.set $bias_b (f32.load offset=4 (local.get $bias)))
      (local.set $at (local.get $x))
      (local.set $to (local.get $out))
      (local.set $token_scales (local.get $scales))
      (local.set $token_sums (local.get $sums))
      (local.set $end (i32.add (local.get $weights) (local.get $width)))
      (local.set $token (i32.const 0))
      (loop $each_4_tokens
        (local.set $first (local.get $weights))
        (local.set $second (local.get $end))
        (local.set $a0 (v128.const i32x4 0 0 0 0))
        (local.set $a1 (v128.const i32x4 0 0 0 0))
        (local.set $a2 (v128.const i32x4 0 0 0 0))
        (local.set $a3 (v128.const i32x4 0 0 0 0))
        (local.set $b0 (v128.const i32x4 0 0 0 0))
        (local.set $b1 (v128.const i32x4 0 0 0 0))
        (local.set $b2 (v128.const i32x4 0 0 0 0))
        (local.set $b3 (v128.const i32x4 0 0 0 0))
        (loop $each_8
          (local.set $a (v128.load8x8_s (local.get $first)))
          (local.set $b (v128.load8x8_s (local.get $second)))
          (local.set $y (v128.load (local.get $at)))
          (local.set $a0 (i32x4.add (local.get $a0) (i32x4.dot_i16x8_s (local.get $a) (local.get $y))))
          (local.set $b0 (i32x4.add (local.get $b0) (i32x4.dot_i16x8_s (local.get $b) (local.get $y))))
          (local.set $y (v128.load offset=16 (local.get $at)))
          (local.set $a1 (i32x4.add (local.get $a1) (i32x4.dot_i16x8_s (local.get $a) (local.get $y))))
          (local.set $b1 (i32x4.add (local.get $b1) (i32x4.dot_i16x8_s (local.get $b) (local.get $y))))
          (local.set $y (v128.load offset=32 (local.get $at)))
          (local.set $a2 (i32x4.add (local.get $a2) (i32x4.dot_i16x8_s (local.get $a) (local.get $y))))
          (local.set $b2 (i32x4.add (local.get $b2) (i32x4.dot_i16x8_s (local.get $b) (local.get $y))))
          (local.set $y (v128.load offset=48 (local.get $at)))
          (local.set $a3 (i32x4.add (local.get $a3) (i32x4.dot_i16x8_s (local.get $a) (local.get $y))))
          (local.set $b3 (i32x4.add (local.get $b3) (i32x4.dot_i16x8_s (local.get $b) (local.get $y))))
          (local.set $at (i32.add (local.get $at) (i32.const 64)))
          (local.set $second (i32.add (local.get $second) (i32.const 8)))
          (local.set $first (i32.add (local.get $first) (i32.const 8)))
          (br_if $each_8 (i32.lt_u (local.get $first) (local.get $end))))
        (call $put (local.get $to) (local.get $a0) (local.get $token_scales) (local.get $token_sums) (local.get $scale) (local.get $offset) (local.get $bias_a))
        (call $put (i32.add (local.get $to) (i32.const 4)) (local.get $b0) (local.get $token_scales) (local.get $token_sums) (local.get $scale) (local.get $offset) (local.get $bias_b))
        (local.set $to (i32.add (local.get $to) (local.get $next)))
        (call $put (local.get $to) (local.get $a1) (i32.add (local.get $token_scales) (i32.const 4)) (i32.add (local.get $token_sums) (i32.const 4)) (local.get $scale) (local.get $offset) (local.get $bias_a))
        (call $put (i32.add (local.get $to) (i32.const 4)) (local.get $b1) (i32.add (local.get $token_scales) (i32.const 4)) (i32.add (local.get $token_sums) (i32.const 4)) (local.get $scale) (local.get $offset) (local.get $bias_b))
        (local.set $to (i32.add (local.get $to) (local.get $next)))
        (call $put (local.get $to) (local.get $a2) (i32.add (local.get $token_scales) (i32.const 8)) (i32.add (local.get $token_sums) (i32.const 8)) (local.get $scale) (local.get $offset) (local.get $bias_a))
        (call $put (i32.add (local.get $to) (i32.const 4)) (local.get $b2) (i32.add (local.get $token_scales) (i32.const 8)) (i32.add (local.get $token_sums) (i32.const 8)) (local.get $scale) (local.get $offset) (local.get $bias_b))
        (local.set $to (i32.add (local.get $to) (local.get $next)))
        (call $put (local.get $to) (local.get $a3) (i32.add (local.get $token_scales) (i32.const 12)) (i32.add (local.get $token_sums) (i32.const 12)) (local.get $scale) (local.get $offset) (local.get $bias_a))
        (call $put (i32.add (local.get $to) (i32.const 4)) (local.get $b3) (i32.add (local.get $token_scales) (i32.const 12)) (i32.add (local.get $token_sums) (i32.const 12)) (local.get $scale) (local.get $offset) (local.get $bias_b))
        (local.set $to (i32.add (local.get $to) (local.get $next)))
        (local.set $token_scales (i32.add (local.get $token_scales) (i32.const 16)))
        (local.set $token_sums (i32.add (local.get $token_sums) (i32.const 16)))
        (local.set $token (i32.add (local.get $token) (i32.const 4)))
        (br_if $each_4_tokens (i32.lt_u (local.get $token) (local.get $tokens))))
      (local.set $weights (i32.add (local.get $end) (local.get $width)))
      (local.set $bias (i32.add (local.get $bias) (i32.const 8)))
      (local.set $out (i32.add (local.get $out) (i32.const 8)))
      (local.set $row (i32.add (local.get $row) (i32.const 2)))
      (br_if $each_2_rows (i32.lt_u (local.get $row) (local.get $rows)))))

  ;; The attention of one head of 32 numbers: each token's mean of the values, by softmax(query · key / sqrt 32). Tokens
  ;; are `stride` bytes apart. `scores` has room for the tokens and three numbers more.
  (func (export "attend")
    (param $query i32) (param $keys i32) (param $values i32) (param $tokens i32) (param $stride i32)
    (param $scores i32) (param $out i32)
    (local $token i32) (local $at i32) (local $score i32) (local $end i32) (local $max f32) (local $sum v128)
    (local $four v128)
    (local $0 v128) (local $1 v128) (local $2 v128) (local $3 v128)
    (local $4 v128) (local $5 v128) (local $6 v128) (local $7 v128)
    (local.set $end (i32.add (local.get $scores) (i32.shl (local.get $tokens) (i32.const 2))))
    (loop $each_token
      (local.set $0 (v128.load (local.get $query)))
      (local.set $1 (v128.load offset=16 (local.get $query)))
      (local.set $2 (v128.load offset=32 (local.get $query)))
      (local.set $3 (v128.load offset=48 (local.get $query)))
      (local.set $4 (v128.load offset=64 (local.get $query)))
      (local.set $5 (v128.load offset=80 (local.get $query)))
      (local.set $6 (v128.load offset=96 (local.get $query)))
      (local.set $7 (v128.load offset=112 (local.get $query)))
      (local.set $max (f32.const -1e30))
      (local.set $score (local.get $scores))
      (local.set $at (local.get $keys))
      (loop $each_key
        (f32.store
          (local.get $score)
          (f32.mul
            (f32.const 0.17677669529663687)
            (call $sum
              (f32x4.add
                (f32x4.add
                  (f32x4.add
                    (f32x4.mul (local.get $0) (v128.load (local.get $at)))
                    (f32x4.mul (local.get $1) (v128.load offset=16 (local.get $at))))
                  (f32x4.add
                    (f32x4.mul (local.get $2) (v128.load offset=32 (local.get $at)))
                    (f32x4.mul (local.get $3) (v128.load offset=48 (local.get $at)))))
                (f32x4.add
                  (f32x4.add
                    (f32x4.mul (local.get $4) (v128.load offset=64 (local.get $at)))
                    (f32x4.mul (local.get $5) (v128.load offset=80 (local.get $at))))
                  (f32x4.add
                    (f32x4.mul (local.get $6) (v128.load offset=96 (local.get $at)))
                    (f32x4.mul (local.get $7) (v128.load offset=112 (local.get $at)))))))))
        (local.set $max (f32.max (local.get $max) (f32.load (local.get $score))))
        (local.set $at (i32.add (local.get $at) (local.get $stride)))
        (local.set $score (i32.add (local.get $score) (i32.const 4)))
        (br_if $each_key (i32.lt_u (local.get $score) (local.get $end))))
      ;; Up to three numbers more are computed: they become next to nothing.
      (v128.store (local.get $end) (v128.const f32x4 -1e30 -1e30 -1e30 -1e30))
      (local.set $sum (v128.const i32x4 0 0 0 0))
      (local.set $score (local.get $scores))
      (loop $each_4_scores
        (local.set $four (call $exp (f32x4.sub (v128.load (local.get $score)) (f32x4.splat (local.get $max)))))
        (v128.store (local.get $score) (local.get $four))
        (local.set $sum (f32x4.add (local.get $sum) (local.get $four)))
        (local.set $score (i32.add (local.get $score) (i32.const 16)))
        (br_if $each_4_scores (i32.lt_u (local.get $score) (local.get $end))))
      (local.set $0 (v128.const i32x4 0 0 0 0))
      (local.set $1 (local.get $0))
      (local.set $2 (local.get $0))
      (local.set $3 (local.get $0))
      (local.set $4 (local.get $0))
      (local.set $5 (local.get $0))
      (local.set $6 (local.get $0))
      (local.set $7 (local.get $0))
      (local.set $score (local.get $scores))
      (local.set $at (local.get $values))
      (loop $each_value
        (local.set $four (v128.load32_splat (local.get $score)))
        (local.set $0 (f32x4.add (local.get $0) (f32x4.mul (local.get $four) (v128.load (local.get $at)))))
        (local.set $1 (f32x4.add (local.get $1) (f32x4.mul (local.get $four) (v128.load offset=16 (local.get $at)))))
        (local.set $2 (f32x4.add (local.get $2) (f32x4.mul (local.get $four) (v128.load offset=32 (local.get $at)))))
        (local.set $3 (f32x4.add (local.get $3) (f32x4.mul (local.get $four) (v128.load offset=48 (local.get $at)))))
        (local.set $4 (f32x4.add (local.get $4) (f32x4.mul (local.get $four) (v128.load offset=64 (local.get $at)))))
        (local.set $5 (f32x4.add (local.get $5) (f32x4.mul (local.get $four) (v128.load offset=80 (local.get $at)))))
        (local.set $6 (f32x4.add (local.get $6) (f32x4.mul (local.get $four) (v128.load offset=96 (local.get $at)))))
        (local.set $7 (f32x4.add (local.get $7) (f32x4.mul (local.get $four) (v128.load offset=112 (local.get $at)))))
        (local.set $at (i32.add (local.get $at) (local.get $stride)))
        (local.set $score (i32.add (local.get $score) (i32.const 4)))
        (br_if $each_value (i32.lt_u (local.get $score) (local.get $end))))
      (local.set $four (f32x4.splat (f32.div (f32.const 1) (call $sum (local.get $sum)))))
      (v128.store (local.get $out) (f32x4.mul (local.get $0) (local.get $four)))
      (v128.store offset=16 (local.get $out) (f32x4.mul (local.get $1) (local.get $four)))
      (v128.store offset=32 (local.get $out) (f32x4.mul (local.get $2) (local.get $four)))
      (v128.store offset=48 (local.get $out) (f32x4.mul (local.get $3) (local.get $four)))
      (v128.store offset=64 (local.get $out) (f32x4.mul (local.get $4) (local.get $four)))
      (v128.store offset=80 (local.get $out) (f32x4.mul (local.get $5) (local.get $four)))
      (v128.store offset=96 (local.get $out) (f32x4.mul (local.get $6) (local.get $four)))
      (v128.store offset=112 (local.get $out) (f32x4.mul (local.get $7) (local.get $four)))
      (local.set $query (i32.add (local.get $query) (local.get $stride)))
      (local.set $out (i32.add (local.get $out) (local.get $stride)))
      (local.set $token (i32.add (local.get $token) (i32.const 1)))
      (br_if $each_token (i32.lt_u (local.get $token) (local.get $tokens)))))

  ;; GELU in place, from $x to $end: max(x, 0) - |x| / 2 * erfc(|x| / sqrt 2), with erfc of Abramowitz and Stegun, 7.1.26.
  (func (export "gelu") (param $x i32) (param $end i32)
    (local $four v128) (local $z v128) (local $t v128) (local $y v128)
    (loop $each_4
      (local.set $four (v128.load (local.get $x)))
      (local.set $z (f32x4.mul (f32x4.abs (local.get $four)) (v128.const f32x4 0.707106781 0.707106781 0.707106781 0.707106781)))
      (local.set $t
        (f32x4.div
          (v128.const f32x4 1 1 1 1)
          (f32x4.add
            (v128.const f32x4 1 1 1 1)
            (f32x4.mul (local.get $z) (v128.const f32x4 0.3275911 0.3275911 0.3275911 0.3275911)))))
      (local.set $y (v128.const f32x4 1.061405429 1.061405429 1.061405429 1.061405429))
      (local.set $y (f32x4.add (f32x4.mul (local.get $y) (local.get $t)) (v128.const f32x4 -1.453152027 -1.453152027 -1.453152027 -1.453152027)))
      (local.set $y (f32x4.add (f32x4.mul (local.get $y) (local.get $t)) (v128.const f32x4 1.421413741 1.421413741 1.421413741 1.421413741)))
      (local.set $y (f32x4.add (f32x4.mul (local.get $y) (local.get $t)) (v128.const f32x4 -0.284496736 -0.284496736 -0.284496736 -0.284496736)))
      (local.set $y (f32x4.add (f32x4.mul (local.get $y) (local.get $t)) (v128.const f32x4 0.254829592 0.254829592 0.254829592 0.254829592)))
      (local.set $y (f32x4.mul (local.get $y) (local.get $t)))
      (local.set $y (f32x4.mul (local.get $y) (call $exp (f32x4.neg (f32x4.mul (local.get $z) (local.get $z))))))
      (v128.store
        (local.get $x)
        (f32x4.sub
          (f32x4.max (local.get $four) (v128.const f32x4 0 0 0 0))
          (f32x4.mul (f32x4.mul (f32x4.abs (local.get $four)) (v128.const f32x4 0.5 0.5 0.5 0.5)) (local.get $y))))
      (local.set $x (i32.add (local.get $x) (i32.const 16)))
      (br_if $each_4 (i32.lt_u (local.get $x) (local.get $end))))))
