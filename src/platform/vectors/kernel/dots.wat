;; Dot products of one int8 vector with many: the first pass of the vector search.
;; Source of dots.wasm (`npm run kernel` makes it, and the tests see that it is of this text).
(module
  (memory (export "memory") 1)

  ;; Writes the dot product of the query with each of `count` rows, as i32, from `out` on.
  ;; Rows are `stride` bytes apart, a multiple of 16 with zeros at the end; so is the query. Products of int8 to ±127
  ;; fit i16, their pairwise sums i32: up to 2^16 dimensions nothing overflows.
  (func (export "dots") (param $query i32) (param $rows i32) (param $count i32) (param $stride i32) (param $out i32)
    (local $end i32) (local $q i32) (local $row_end i32) (local $sum v128) (local $a v128) (local $b v128)
    (local.set $end (i32.add (local.get $out) (i32.shl (local.get $count) (i32.const 2))))
    (block $done
      (loop $each_row
        (br_if $done (i32.ge_u (local.get $out) (local.get $end)))
        (local.set $sum (v128.const i32x4 0 0 0 0))
        (local.set $q (local.get $query))
        (local.set $row_end (i32.add (local.get $rows) (local.get $stride)))
        (loop $each_16
          (local.set $a (v128.load (local.get $q)))
          (local.set $b (v128.load (local.get $rows)))
          (local.set $sum
            (i32x4.add
              (local.get $sum)
              (i32x4.add
                (i32x4.extadd_pairwise_i16x8_s (i16x8.extmul_low_i8x16_s (local.get $a) (local.get $b)))
                (i32x4.extadd_pairwise_i16x8_s (i16x8.extmul_high_i8x16_s (local.get $a) (local.get $b))))))
          (local.set $q (i32.add (local.get $q) (i32.const 16)))
          (local.set $rows (i32.add (local.get $rows) (i32.const 16)))
          (br_if $each_16 (i32.lt_u (local.get $rows) (local.get $row_end))))
        (i32.store
          (local.get $out)
          (i32.add
            (i32.add (i32x4.extract_lane 0 (local.get $sum)) (i32x4.extract_lane 1 (local.get $sum)))
            (i32.add (i32x4.extract_lane 2 (local.get $sum)) (i32x4.extract_lane 3 (local.get $sum)))))
        (local.set $out (i32.add (local.get $out) (i32.const 4)))
        (br $each_row)))))
