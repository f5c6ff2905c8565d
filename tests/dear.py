"""Parameters of tests that take more than a second, beside others of their test that would see the same fault: they are wide.

By the file and the test, the beginnings of the ids of such parameters.
"""

DEAR: dict[str, dict[str, tuple[str, ...]]] = {
    "accounting/test_accountant.py": {
        "test_bounds_meet_the_estimates_of_theirs_which_are_rounded_to_either_side": ("3",),
    },
    "audit/test_batches.py": {
        "test_independent_outputs_give_a_wealth_whose_mean_is_at_most_one": ("mixed",),
    },
    "audit/test_benchmarks.py": {
        "test_a_sampler_is_as_its_file_declares": ("svt6",),
    },
    "audit/test_bets.py": {
        "test_a_true_claim_is_refuted_at_any_look_with_at_most_the_stated_probability": ("the other direction-designed",),
        "test_noise_too_small_is_refuted_within_the_promised_multiple_of_the_information_limit": ("t with 5 degrees-0.9",),
    },
    "audit/test_conformance.py": {
        "test_false_alarms_with_optional_stopping_stay_within_alpha": ("l1",),
    },
    "audit/test_exact.py": {
        "test_half_the_noise_past_2_to_53_is_a_violation_and_all_of_it_is_none": ("nested",),
    },
    "audit/test_keys.py": {
        "test_of_the_pairs_one_is_of_new_keys_alone_and_one_of_keys_that_others_have": ("noise1-4-counts", "noise1-4-keys"),
    },
    "audit/test_learn.py": {
        "test_a_learned_event_comes_close_to_the_largest_loss": ("prefix_sums-2.0-0.75",),
    },
    "audit/test_ledger.py": {
        "test_money_of_the_start_is_what_was_brought_and_the_share_of_the_night": ("True",),
        "test_the_books_of_a_run_are_right": ("False-checkpoint",),
    },
    "audit/test_numbered.py": {
        "test_a_planted_fault_is_found": ("the lead with the wrong sign", "the gap with the wrong sign"),
    },
    "audit/test_observed.py": {
        "test_what_leaks_twice_the_budget_is_found_and_the_budget_itself_is_not": (
            "a data frame",
            "columns of a data frame",
            "the index of a series",
            "what is missing in a frame",
        ),
    },
    "audit/test_path.py": {
        "test_the_path_of_a_violation_ends_where_its_evidence_reaches_the_threshold": ("1-floats-float",),
    },
    "audit/test_power.py": {
        "test_bounds_exceed_the_true_epsilon_at_most_as_often_as_they_say": ("anytime bound: delta = 0.05",),
    },
    "audit/test_run.py": {
        "test_of_a_right_sampler_nothing_is_found_at_any_seed": ("laplace", "d = 3"),
        "test_a_planted_fault_is_a_violation_of_the_model": ("the same for a polytope",),
        "test_without_a_declaration_a_planted_fault_is_found_too": ("radius of Gamma(d) in the ball",),
    },
    "audit/test_selections.py": {
        "test_a_planted_fault_is_found": ("less noise",),
        "test_no_alarm_is_raised_for_a_sampler_as_declared": ("index-0",),
    },
    "curves/test_every_shift.py": {
        "test_a_cell_reaches_over_the_sums_on_a_grid_at_all_its_shifts": ("0-noise2-two_modes",),
    },
    "curves/test_fewer_places.py": {
        "test_what_the_search_chooses_agrees_with_one_spacing_and_is_close": ("rate2-sigma2-5001-1e-05", "rate3-sigma3-200-1e-40"),
    },
    "curves/test_gauge.py": {
        "test_for_a_polygon_the_worst_vertex_is_the_bound_and_is_met": ("norm1",),
    },
    "curves/test_kernel_pair.py": {
        "test_the_bins_of_one_kernel_show_all_that_two_inputs_lose": ("0",),
    },
    "curves/test_lattice.py": {
        "test_probabilities_of_integers_are_the_density_there_and_not_beside_them": (
            "1-(4 - abs(z))*(1 + max(0, floor(1 - abs(z - 2))))--3-3-weights6",
            "1-1 + 3*max(0, floor(1 - abs(z - 1)))--2-2-weights4",
        ),
    },
    "curves/test_optimal_keys.py": {
        "test_it_keeps_its_claim_and_none_of_its_probabilities_may_be_a_little_greater": ("1-1/100000",),
    },
    "curves/test_orientation.py": {
        "test_a_pure_claim_about_a_sample_is_refuted_below_the_order_that_occurs_and_never_above": ("columns2-1/10-losses2",),
        "test_a_sample_alone_is_as_private_as_the_worse_of_its_two_orders": ("1-columns2-leaning", "1-columns3-leaning"),
    },
    "curves/test_spherical_caps.py": {
        "test_multivariate_laplace_noise_by_shares_of_spheres": ("4-1-0.25810677291316325171-19",),
    },
    "designer/test_release.py": {
        "test_the_same_data_in_each_form_have_the_same_release": ("records",),
    },
    "designer/test_shapes.py": {
        "test_the_ends_hold_the_least_trace_of_a_covariance_above_all_differences": ("product-replace",),
    },
    "functions/test_reading.py": {
        "test_a_count_that_never_is_the_limit_does_not_end_the_run": ("positive",),
    },
    "functions/test_shelf.py": {
        "test_the_same_verdicts_and_bounds": (
            "stream_adaptive]",
            "stream_adaptive_same_noise_told",
            "stream_smart_sums",
            "stream_bad_smart_sums",
            "stream_min_max",
        ),
    },
    "laws/test_asked_in_two_ways.py": {
        "test_ways_to_write_how_far_neighbours_are_apart_have_one_answer": (
            "integers-mapped inside-renyi-2",
            "kernel-alone-renyi-2",
            "threshold-alone-epsilon-at",
            "discrete gaussian-repeated-epsilon-at",
            "spread laplace-beside-delta",
            "spread laplace-mapped inside-epsilon-at",
            "kernel-repeated-epsilon",
            "process-mapped inside-renyi-2",
        ),
    },
    "laws/test_every_field.py": {
        "test_how_often_how_far_and_how_likely_counts_in_every_rule_that_puts_parts_together": (
            "one-sided/spent",
            "gaussian-composition",
            "lattice",
            "finite-composition/group",
        ),
    },
    "laws/test_forgotten_fields.py": {
        "test_half_a_step_for_all_parts_in_parallel_moves_the_answers_of_each_half_as_far": ("loss-distribution",),
        "test_in_one_order_stated_noise_moves_the_way_that_is_worst": ("renyi-2",),
    },
    "laws/test_joint_neighbours.py": {
        "test_a_lower_bound_on_real_histograms_sees_that_several_kinds_of_records_change_at_once": ("rows0-l1",),
        "test_densities_that_are_not_even_are_moved_the_way_that_the_records_move_them": ("signs0",),
    },
    "laws/test_small_guards.py": {
        "test_a_density_is_read_as_pieces_side_by_side_with_a_cut_at_0": ("exp(-abs(z + 2) - abs(z - 1))",),
    },
    "laws/test_tables_sound.py": {
        "test_at_an_end_that_p_reaches_epsilon_is_infinite": ("domain0-PROVED-mechanism0", "domain0-PROVED-mechanism1"),
    },
    "laws/test_two_writings.py": {
        "test_two_writings_of_one_mechanism_have_one_answer": ("stacked_queries", "wrapped_queries", "norms"),
    },
    "mutants/test_additive.py": {
        "test_a_spoiled_claim_means_nothing_whatever_its_evidence": ("(1 + r**2)**4*exp(-r)",),
        "test_what_is_no_density_is_undecided_soon": (
            "Translation-exp(-floor((2**(-3/2))**z))",
            "<lambda>0-(logexprel(log(z**3)))**2",
            "<lambda>1-(logexprel(log(z**3)))**2",
        ),
    },
    "mutants/test_curves.py": {
        "test_forged_evidence_proves_nothing_that_is_false": ("two kinds", "a group of a sample"),
    },
    "mutants/test_other_types.py": {
        "test_what_is_of_another_type_is_refused_in_our_own_words": ("lines",),
    },
    "mutants/test_recorded.py": {
        "test_a_curve_that_is_read_elsewhere_says_what_is_recorded": ("delta_t_noise_d1000",),
    },
    "mutants/test_told.py": {
        "test_a_line_that_is_told_wrong_things_never_says_a_wrong_divergence": ("cusp-forged1]", "cusp-forged3", "cusp-forged6"),
    },
    "project/test_new.py": {
        "test_the_claim_of_a_new_file_is_proved_with_the_epsilon_of_theory": ("radial", "translation"),
    },
    "project/test_samplers.py": {
        "test_a_sampler_that_is_changed_for_the_worse_fails_its_audit": ("kernel-GRID = 2.0**-40-GRID = 2.0**-4",),
    },
    "report/test_compared.py": {
        "test_a_claim_that_is_told_otherwise_is_found_even_without_a_digest": ("the verdict",),
    },
    "rules/test_any_noise.py": {
        "test_other_noises_of_answers_that_move_together_are_not_followed_over_several_steps": ("noise7",),
    },
    "rules/test_best_of.py": {
        "test_the_delta_of_the_best_of_noisy_outputs_is_within_the_bound": ("poisson 10", "logarithmic 10"),
    },
    "rules/test_decidable_sums.py": {
        "test_stated_epsilons_and_deltas_add_up_exactly_and_for_all_parameters": (
            "kind = \"group\"\\nsize = 2\\npart = { kind = \"guarantee\", epsilon = \"e\", delta = \"d\" }-epsilon = \"2*e\"",
        ),
    },
    "rules/test_equal_answers.py": {
        "test_what_is_0_but_at_single_points_is_no_density": ("claim1",),
    },
    "rules/test_hulls_of_answers.py": {
        "test_votes_with_gaussian_noise_have_the_curve_of_one_answer_that_moves_by_the_root_of_two": ("4",),
        "test_the_least_of_all_shifts_is_the_greatest_of_all_weights": ("0", "1", "3", "4"),
        "test_what_has_a_name_is_a_hull_too": ("noise3-all-hull0", "noise3-monotone-hull1", "noise3-one-hull2"),
    },
    "rules/test_in_measures.py": {
        "test_chords_of_the_curve_enclose_what_sums_over_the_outputs_give": ("zcdp",),
    },
    "rules/test_kernel_box.py": {
        "test_tails_that_depend_on_the_output_are_bounded_far_out": ("(1 + theta)/(pi*((1 + theta)**2 + y**2))-inputs0-log(2)",),
    },
    "rules/test_modulus_parts.py": {
        "test_waves_are_refused_where_the_end_is_not_as_they_say": (
            "(1 + z - floor(z))/(1 + abs(z))-change0",
            "(1 + z - floor(z))/(1 + z**2)-change1",
        ),
        "test_a_density_that_is_0_but_at_single_points_is_no_law": ("floor(2*z) + floor(-2*z)",),
    },
    "rules/test_noisy_keys.py": {
        "test_bounds_hold_against_enumeration": (
            "discrete Laplace-5-2-1-1/2-keys",
            "discrete Laplace-4-1-1-1/4-keys",
            "discrete Laplace-6-1-2-1/2-keys",
            "discrete Laplace-1-1-1-1/4-keys",
            "lopsided-5-1-1-1/2-keys",
            "lopsided-5-1-2-1-keys",
            "geometric-3-2-1-2-counts",
            "geometric-3-2-1-2-keys",
        ),
        "test_keys_alone_are_enclosed_in_each_order": ("whole-one-sided",),
    },
    "rules/test_noisy_votes.py": {
        "test_divergences_and_losses_of_lists_add_up": ("-orders0-4", "reverse-orders1-4"),
        "test_one_list_is_its_worst_neighbour": (
            "-orders0-(40, 25, 25, 3, 0)",
            "one-sided-orders1-(40, 25, 25, 3, 0)",
            "reverse-orders2-(40, 25, 25, 3, 0)",
        ),
    },
    "rules/test_point_witness.py": {
        "test_noise_with_gaps_loses_without_bound_where_some_record_moves_the_answer_into_them": ("moves3-None",),
    },
    "rules/test_positivstellensatz.py": {
        "test_known_inequalities_have_an_identity_that_the_kernel_accepts": ("3*u**2*v**2-1 + u**4*v**2 + u**2*v**4-domains3",),
    },
    "rules/test_process_files.py": {
        "test_a_law_that_its_transform_shows_has_the_mean_of_gaussian_deltas": ("mgf = '(1 - 2*u)**(-5/2)'-gamma",),
    },
    "rules/test_processes_of_a_covariance.py": {
        "test_no_epsilon_holds_for_all_numbers_of_evaluations": ("1/k**2-1/k**2",),
    },
    "rules/test_refusals_curves.py": {
        "test_what_a_curve_is_not_about_is_refused": ("a tail before the last piece",),
    },
    "rules/test_selection_fresh.py": {
        "test_the_tight_epsilon_is_that_of_the_dearest_way_to_move": (
            "((4, '5/2'), ('1/2', '4/3'), ('1/2', 2), 2, 3, 'monotone')",
            "((3, 1), (4, 1), (2, 1), 2, 2, 'all')",
            "((1, 1), ('1/3', '1/3'), (5, 1), 6, 3, 'all')",
            "((1, 2), (2, 1), (1, 4), 3, 2, 'decreasing')",
            "((1, 2), (1, 1), ('3/4', '3/4'), 5, 3, 'increasing')",
        ),
    },
    "rules/test_shuffled_bits.py": {
        "test_tight_deltas_are_the_worst_of_all_that_others_may_have": ("rows1-260-1/5", "rows3-2000-1/8"),
    },
    "rules/test_shuffled_epsilon.py": {
        "test_other_measures_are_at_most_those_of_the_epsilon": ("zcdp-0.549306144334055",),
    },
    "rules/test_smooth_sensitivity.py": {
        "test_a_kernel_with_a_bound_of_its_scale_is_noise_of_the_difference": (
            "1/(1 + (theta - y)**4)",
            "(1 + abs(y - theta)/2)**(-3)-(1 + abs(z)/2)**(-3)",
        ),
        "test_any_density_with_tails_like_powers_is_enclosed": ("two modes", "fourth power"),
        "test_the_bound_by_slopes_holds_for_all_parameters": ("D + b/2-REFUTED",),
    },
    "rules/test_spaces.py": {
        "test_a_space_with_bounded_databases_is_compatible_exactly_where_its_completion_is_compact": (
            "product-{'parts': [{'kind': 'cantor', 'ratio': '1/4'}, {'kind': 'ellipsoid', 'axes': '1/k'}]}-True",
        ),
        "test_a_forged_parameter_is_refused_or_proves_no_more": ("net",),
    },
    "rules/test_streams.py": {
        "test_what_is_private_at_no_epsilon_is_refuted_at_every": ("one noise for both ends",),
    },
    "rules/test_sums.py": {
        "test_the_delta_of_a_sum_is_that_by_enumeration": (
            "plus5-less5-1-1/4",
            "plus0-less0-1-1",
            "plus2-less2-1-3/2",
            "plus3-less3-3-1",
            "plus6-less6-2-1/3",
        ),
        "test_renyi_divergences_are_those_by_enumeration": ("2-plus1-less1",),
    },
    "rules/test_what_is_told_from_below.py": {
        "test_a_pure_claim_clearly_below_the_truth_is_refuted_and_one_above_twice_it_is_not": ("mechanism6-5", "mechanism7-2"),
        "test_selections_of_answers_that_never_move_tell_nothing": ("above_threshold-gaussian",),
    },
    "samplers/test_processes.py": {
        "test_a_path_asked_for_bit_by_bit_is_one_path": ("matern-3/2",),
    },
    "test_bands.py": {
        "test_a_selection_in_one_order_of_the_data_has_a_delta_but_no_trade_off_and_no_composition": ("decreasing",),
        "test_the_trade_off_curve": ("claim0-<lambda>",),
    },
    "test_baseline.py": {
        "test_what_changed_is_new_again": ("another claim's expectation",),
    },
    "test_bench_selection.py": {
        "test_a_row_is_judged_as_expected_and_its_tight_epsilon_is_the_known_one": ("1-Range-Gauss",),
    },
    "test_cli_audit.py": {
        "test_a_right_sampler_passes_and_a_wrong_one_is_a_violation_of_the_model": ("sampled with delta", "sampled, sparse vectors"),
    },
    "test_compare.py": {
        "test_weak_inequalities_hold_for_all_parameters": ("max(x, y)-abs(x) + abs(y)", "x-max(x, y, e)", "abs(x + y)-abs(x) + abs(y)"),
    },
    "test_every_size.py": {
        "test_where_no_epsilon_holds_for_all_sizes_one_is_named_at_which_it_fails": ("noise1-1000*log(k + 1)-<lambda>",),
    },
    "test_formats.py": {
        "test_sarif_is_valid_by_the_published_schema": ("audit",),
        "test_the_counts_in_junit_are_those_of_its_cases": ("audit",),
        "test_junit_is_what_jenkins_reads": ("audit",),
    },
    "test_known_values.py": {
        "test_a_finite_value_is_enclosed_proved_above_and_refuted_below": (
            "normal inverse Gaussian",
            "half-unit stairs, half",
            "stairs on a slope",
        ),
        "test_where_no_epsilon_holds_every_epsilon_is_refuted": ("hyperbolic cosine", "builtin discrete_gaussian"),
    },
    "test_mechanisms.py": {
        "test_a_sampler_draws_from_the_declared_law": ("laplace_log_normal-0", "slash-1"),
    },
    "test_outside.py": {
        "test_a_name_that_a_terminal_has_no_letters_for_is_no_fault": ("dpverify.cli",),
    },
    "test_processes.py": {
        "test_a_hard_claim_is_answered_or_undecided_in_time_and_the_others_are_answered": (
            "a long product",
            "a large table",
            "a density with steps that nobody counts",
        ),
        "test_a_declaration_that_fails_takes_no_other_files_answer_away": ("while True: pass",),
        "test_no_process_outlives_a_run_however_that_is_ended": ("verb1-15", "verb1-1]"),
    },
    "test_proof.py": {
        "test_whatever_can_be_derived_of_tables_is_true": (
            "a sample and a group of tables",
            "a sample of what is run twice",
            "in parallel, one run twice",
            "two, one behind a map of the output",
            "a group of a sample",
        ),
        "test_no_line_has_a_premise_that_it_does_not_use": ("Compose3",),
    },
    "test_replays.py": {
        "test_a_right_release_raises_no_alarm": ("mean", "two stages", "sparse vector", "matrix"),
        "test_a_planted_bug_is_found_with_few_rows": (
            "order of a dictionary",
            "groups hidden by their true counts",
            "divided by the true count",
            "NaN passes the clip",
            "order by true counts",
            "less noise where it is small",
            "threshold compared before noise is added",
            "counter not reset",
            "scale from the data",
        ),
        "test_what_is_asked_wrongly_is_told": ("given9-binary float",),
    },
    "test_replays_told.py": {
        "test_what_differs_is_found": ("of_many_rows-parameters-31-more10", "of_a_hundred_rows-calls-100-more11"),
        "test_a_right_pipeline_raises_no_alarm": ("6", "7", "9", "11"),
    },
    "test_same_floats.py": {
        "test_the_event_that_is_found_does_not_hang_on_the_last_digits_of_libraries": ("mechanism0",),
    },
    "test_schemas.py": {
        "test_the_schema_and_the_reader_refuse_the_same_changes": ("program-11", "program, in a table-11", "use-11", "stream-11"),
        "test_a_certificate_with_a_key_too_many_or_too_few_is_neither_valid_nor_read": ("nested_pure.exact",),
    },
    "test_second_checker.py": {
        "test_a_rule_proves_the_value_of_its_theorem_or_nothing": ("convex-exponent-mechanism29-2-given29-6",),
    },
    "test_second_checker_curves.py": {
        "test_on_a_grid_two_runs_come_near_to_what_they_lose_from_both_sides": ("pair1",),
        "test_a_claim_that_is_changed_to_a_false_one_is_not_accepted": ("compose_subsampled_laplace.delta-above-11/10-path17",),
    },
    "test_stated_guarantees.py": {
        "test_every_claim_is_judged_as_expected": ("elliptical_process", "guarantee_sum"),
    },
    "test_trust.py": {
        "test_what_a_fresh_process_loads_to_check_a_certificate_is_what_its_verdict_rests_on": ("bounded_laplace.any-two-inputs-tight",),
    },
    "utility/test_losses_in_files.py": {
        "test_what_is_not_given_says_why": ("parameter",),
    },
    "utility/test_noise_error.py": {
        "test_errors_of_noise_in_a_norm_are_those_by_integrals_over_angles": ("l3/2",),
        "test_sums_for_one_number_are_off_by_as_much_as_the_factor_says_and_no_more": ("2",),
        "test_what_is_exceeded_rarely_is_the_root_of_another_formula": ("l3/2", "logistic"),
        "test_means_are_at_most_mean_squares_and_coordinates_at_most_the_whole": ("noise0",),
    },
    "utility/test_shape_lower_bound.py": {
        "test_with_a_delta_no_law_on_any_lattice_has_less_and_some_law_has_little_more": ("0.05-0.05",),
    },
}


def is_dear(nodeid: str) -> bool:
    """Whether the test of an id is one of those."""
    file, _, rest = nodeid.removeprefix("tests/").partition("::")
    test, _, parameters = rest.partition("[")
    return any(parameters.startswith(one) for one in DEAR.get(file, {}).get(test, ()))
