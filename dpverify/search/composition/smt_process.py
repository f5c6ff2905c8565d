"""The process that runs z3: SMT-LIB on its standard input, rational values of the declared constants as JSON on its output.

It is started as a script and imports nothing of this package, so that killing it leaves nothing behind.
"""

import json
import resource
import sys

import z3


def main() -> None:
    """Write a model's values as {name: "n/d"}, of an irrational one a rational nearby; null where there is no model."""
    limit = int(sys.argv[1])
    resource.setrlimit(resource.RLIMIT_CPU, (limit, limit))
    z3.set_param("memory_max_size", 1000)  # megabytes
    solver = z3.Solver()
    solver.from_string(sys.stdin.read())
    values = None
    if solver.check() == z3.sat:
        model = solver.model()
        values = {}
        for declared in model.decls():
            if declared.arity():  # z3's own: what a quotient by zero is
                continue
            value = model[declared]
            if z3.is_algebraic_value(value):
                value = value.approx(30)
            values[declared.name()] = str(value.as_fraction()) if z3.is_rational_value(value) else str(value.as_long())
    json.dump(values, sys.stdout)


if __name__ == "__main__":
    main()
