"""Parameters of tests that take more than a second, beside others of their test that would see the same fault: they are wide.

By the file and the test, the beginnings of the ids of such parameters.
"""

DEAR: dict[str, dict[str, tuple[str, ...]]] = {
    "accounting/test_accountant.py": {
        "test_bounds_meet_the_estimates_of_theirs_which_are_rounded_to_either_side": ("3",),
    },
    "curves/test_lattice.py": {
        "test_probabilities_of_integers_are_the_density_there_and_not_beside_them": (
            "1-(4 - abs(z))*(1 + max(0, floor(1 - abs(z - 2))))--3-3-weights6",
        ),
    },
    "designer/test_release.py": {
        "test_the_same_data_in_each_form_have_the_same_release": ("records",),
    },
    "laws/test_asked_in_two_ways.py": {
        "test_ways_to_write_how_far_neighbours_are_apart_have_one_answer": (
            "integers-mapped inside-renyi-2",
            "kernel-alone-renyi-2",
            "threshold-alone-epsilon-at",
        ),
    },
    "laws/test_every_field.py": {
        "test_how_often_how_far_and_how_likely_counts_in_every_rule_that_puts_parts_together": ("one-sided/spent",),
    },
    "laws/test_small_guards.py": {
        "test_a_density_is_read_as_pieces_side_by_side_with_a_cut_at_0": ("exp(-abs(z + 2) - abs(z - 1))",),
    },
    "laws/test_two_writings.py": {
        "test_two_writings_of_one_mechanism_have_one_answer": (
            "stacked_queries",
            "wrapped_queries",
        ),
    },
    "mutants/test_curves.py": {
        "test_forged_evidence_proves_nothing_that_is_false": ("two kinds",),
    },
    "mutants/test_recorded.py": {
        "test_a_curve_that_is_read_elsewhere_says_what_is_recorded": ("delta_t_noise_d1000",),
    },
    "project/test_new.py": {
        "test_the_claim_of_a_new_file_is_proved_with_the_epsilon_of_theory": ("radial",),
    },
    "rules/test_hulls_of_answers.py": {
        "test_votes_with_gaussian_noise_have_the_curve_of_one_answer_that_moves_by_the_root_of_two": ("4",),
    },
    "rules/test_modulus_parts.py": {
        "test_waves_are_refused_where_the_end_is_not_as_they_say": ("(1 + z - floor(z))/(1 + abs(z))-change0",),
    },
    "rules/test_noisy_keys.py": {
        "test_bounds_hold_against_enumeration": ("discrete Laplace-5-2-1-1/2-keys",),
    },
    "rules/test_noisy_votes.py": {
        "test_divergences_and_losses_of_lists_add_up": (
            "-orders0-4",
            "reverse-orders1-4",
        ),
        "test_one_list_is_its_worst_neighbour": ("-orders0-(40, 25, 25, 3, 0)",),
    },
    "rules/test_point_witness.py": {
        "test_noise_with_gaps_loses_without_bound_where_some_record_moves_the_answer_into_them": ("moves3-None",),
    },
    "rules/test_shuffled_bits.py": {
        "test_tight_deltas_are_the_worst_of_all_that_others_may_have": (
            "rows1-260-1/5",
            "rows3-2000-1/8",
        ),
    },
    "rules/test_smooth_sensitivity.py": {
        "test_a_kernel_with_a_bound_of_its_scale_is_noise_of_the_difference": ("1/(1 + (theta - y)**4)",),
        "test_any_density_with_tails_like_powers_is_enclosed": ("two modes",),
    },
    "rules/test_sums.py": {
        "test_the_delta_of_a_sum_is_that_by_enumeration": ("plus5-less5-1-1/4",),
    },
    "rules/test_what_is_told_from_below.py": {
        "test_a_pure_claim_clearly_below_the_truth_is_refuted_and_one_above_twice_it_is_not": (
            "mechanism6-5",
            "mechanism7-2",
        ),
    },
    "test_bands.py": {
        "test_a_selection_in_one_order_of_the_data_has_a_delta_but_no_trade_off_and_no_composition": ("decreasing",),
    },
    "test_compare.py": {
        "test_weak_inequalities_hold_for_all_parameters": (
            "max(x, y)-abs(x) + abs(y)",
            "x-max(x, y, e)",
        ),
    },
    "test_processes.py": {
        "test_a_hard_claim_is_answered_or_undecided_in_time_and_the_others_are_answered": ("a long product",),
    },
    "test_proof.py": {
        "test_whatever_can_be_derived_of_tables_is_true": (
            "a sample and a group of tables",
            "a sample of what is run twice",
            "in parallel, one run twice",
        ),
    },
    "test_stated_guarantees.py": {
        "test_every_claim_is_judged_as_expected": ("elliptical_process",),
    },
}


def is_dear(nodeid: str) -> bool:
    """Whether the test of an id is one of those."""
    file, _, rest = nodeid.removeprefix("tests/").partition("::")
    test, _, parameters = rest.partition("[")
    return any(parameters.startswith(one) for one in DEAR.get(file, {}).get(test, ()))
