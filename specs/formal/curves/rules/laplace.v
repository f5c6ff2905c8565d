(* The rule laplace, whose theorems are these. In laplace_curve.v laplace_line, coordinates_curve. In laplace_rule.v laplace_rule. *)
From dpverify Require Export laplace_curve laplace_rule.
