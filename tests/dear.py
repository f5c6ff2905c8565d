"""Parameters of tests that take more than a second, beside others of their test that would see the same fault: they are wide.

By the file and the test, the beginnings of the ids of such parameters.
"""

DEAR: dict[str, dict[str, tuple[str, ...]]] = {
    "mutants/test_recorded.py": {
        "test_a_curve_that_is_read_elsewhere_says_what_is_recorded": ("delta_t_noise_d1000",),
    },
    "rules/test_hulls_of_answers.py": {
        "test_votes_with_gaussian_noise_have_the_curve_of_one_answer_that_moves_by_the_root_of_two": ("4",),
    },
    "rules/test_smooth_sensitivity.py": {
        "test_a_kernel_with_a_bound_of_its_scale_is_noise_of_the_difference": ("1/(1 + (theta - y)**4)",),
        "test_any_density_with_tails_like_powers_is_enclosed": ("two modes",),
    },
    "rules/test_what_is_told_from_below.py": {
        "test_a_pure_claim_clearly_below_the_truth_is_refuted_and_one_above_twice_it_is_not": ("mechanism6-5", "mechanism7-2"),
    },
    "test_bands.py": {
        "test_a_selection_in_one_order_of_the_data_has_a_delta_but_no_trade_off_and_no_composition": ("decreasing",),
    },
    "test_compare.py": {
        "test_weak_inequalities_hold_for_all_parameters": ("x-max(x, y, e)",),
    },
    "test_proof.py": {
        "test_whatever_can_be_derived_of_tables_is_true": ("a sample of what is run twice", "a sample and a group of tables"),
    },
}


def is_dear(nodeid: str) -> bool:
    """Whether the test of an id is one of those."""
    file, _, rest = nodeid.removeprefix("tests/").partition("::")
    test, _, parameters = rest.partition("[")
    return any(parameters.startswith(one) for one in DEAR.get(file, {}).get(test, ()))
