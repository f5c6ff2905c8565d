"""The slopes of functions that no powers, exponentials and logarithms make: erfc, log K_v, and the slope L of that."""

import bessel
from forms import ONE, Fraction, add, atom, mul, scale, sub
from terms import sure

BESSEL = {"log_bessel": bessel.log_bessel, "slope_bessel": bessel.log_slope}


def slope(field, a):
    """The derivative of a function after its last argument: L' = 1 + v**2/x**2 - L/x - L**2."""
    sure(a[1] == "erfc" or a[1] in BESSEL, "a function whose slope is not known")
    x = dict(a[2][-1])
    if a[1] == "erfc":
        return mul(scale(field.exp(scale(mul(x, x), -1)), -2), atom(("pi",), Fraction(-1, 2)))
    if a[1] == "log_bessel":
        return atom(("f", "slope_bessel", a[2]))
    order, here, under = dict(a[2][0]), atom(a), field.power(x, Fraction(-1))
    square = mul(mul(order, order), mul(under, under))
    return sub(add(ONE, square), add(mul(here, under), mul(here, here)))
