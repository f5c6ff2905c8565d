"""Parameters of tests that take more than a second, beside others of their test that would see the same fault: they are wide.

By the file and the test, the beginnings of the ids of such parameters.
"""

DEAR: dict[str, dict[str, tuple[str, ...]]] = {
    "accounting/test_accountant.py": {
        "test_bounds_meet_the_estimates_of_theirs_which_are_rounded_to_either_side": ("3",),
    },
    "accounting/test_both_ends.py": {
        "test_closed_forms_are_enclosed_narrowly": ("discrete Gaussian-1e-5]",),
    },
    "audit/test_batches.py": {
        "test_independent_outputs_give_a_wealth_whose_mean_is_at_most_one": ("mixed",),
    },
    "audit/test_benchmarks.py": {
        "test_a_sampler_is_as_its_file_declares": ("svt6", "svt4"),
    },
    "audit/test_bets.py": {
        "test_a_true_claim_is_refuted_at_any_look_with_at_most_the_stated_probability": ("the other direction-designed",),
        "test_noise_too_small_is_refuted_within_the_promised_multiple_of_the_information_limit": (
            "t with 5 degrees-0.9", "Gaussian by its curve-0.9",
        ),
    },
    "audit/test_bounds.py": {
        "test_the_distance_to_the_claim_is_the_least_over_all_that_it_allows": ("0.5-0.1-point0",),
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
            "a data frame", "columns of a data frame", "the index of a series", "what is missing in a frame", "a bit of a hexadecimal",
            "the length of a random text", "CSV", "a list of some length",
        ),
    },
    "audit/test_path.py": {
        "test_the_path_of_a_violation_ends_where_its_evidence_reaches_the_threshold": ("1-floats-float",),
    },
    "audit/test_power.py": {
        "test_bounds_exceed_the_true_epsilon_at_most_as_often_as_they_say": ("anytime bound: delta = 0.05",),
    },
    "audit/test_run.py": {
        "test_of_a_right_sampler_nothing_is_found_at_any_seed": ("laplace", "d = 3", "gauss at a point"),
        "test_a_planted_fault_is_a_violation_of_the_model": ("the same for a polytope", "radius of Gamma(d) in the ball"),
        "test_without_a_declaration_a_planted_fault_is_found_too": ("radius of Gamma(d) in the ball",),
    },
    "audit/test_selections.py": {
        "test_a_planted_fault_is_found": ("less noise",),
        "test_no_alarm_is_raised_for_a_sampler_as_declared": ("index-0",),
    },
    "curves/test_every_shift.py": {
        "test_a_cell_reaches_over_the_sums_on_a_grid_at_all_its_shifts": ("0-noise2-two_modes",),
        "test_ends_that_are_longer_than_the_precision_leave_nothing_out": ("2**200/3",),
    },
    "curves/test_fewer_places.py": {
        "test_what_the_search_chooses_agrees_with_one_spacing_and_is_close": ("rate2-sigma2-5001-1e-05", "rate3-sigma3-200-1e-40"),
    },
    "curves/test_gauge.py": {
        "test_for_a_polygon_the_worst_vertex_is_the_bound_and_is_met": ("norm1",),
        "test_an_exponent_without_a_bounded_slope_is_undecided": ("exp(-r)/r",),
    },
    "curves/test_kernel_pair.py": {
        "test_the_bins_of_one_kernel_show_all_that_two_inputs_lose": ("0",),
    },
    "curves/test_lattice.py": {
        "test_probabilities_of_integers_are_the_density_there_and_not_beside_them": (
            "1-(4 - abs(z))*(1 + max(0, floor(1 - abs(z - 2))))--3-3-weights6", "1-1 + 3*max(0, floor(1 - abs(z - 1)))--2-2-weights4",
            "2-1 + max(0, floor(1 - abs(z - 1)))--1-3-weights3", "1-1 + max(0, floor(1 - abs(z - 1)))--1-3-weights3",
            "2-1 + 3*max(0, floor(1 - abs(z - 1)))--2-2-weights4",
        ),
    },
    "curves/test_optimal_keys.py": {
        "test_it_keeps_its_claim_and_none_of_its_probabilities_may_be_a_little_greater": ("1-1/100000",),
    },
    "curves/test_orientation.py": {
        "test_a_pure_claim_about_a_sample_is_refuted_below_the_order_that_occurs_and_never_above": ("columns2-1/10-losses2",),
        "test_a_sample_alone_is_as_private_as_the_worse_of_its_two_orders": (
            "1-columns2-leaning", "1-columns3-leaning", "1-columns4-leaning",
        ),
    },
    "curves/test_scale_mixture.py": {
        "test_the_profile_is_as_sharp_as_the_precision": ("100-epsilon3",),
        "test_the_mean_of_gaussian_profiles_is_below_theorem_5_at_its_own_scale": ("1/1000000-1/10",),
    },
    "curves/test_spherical_caps.py": {
        "test_multivariate_laplace_noise_by_shares_of_spheres": ("4-1-0.25810677291316325171-19",),
    },
    "curves/test_streams.py": {
        "test_the_squares_of_what_is_hidden_add_up": ("mechanism6-3.5",),
    },
    "curves/test_told_sums.py": {
        "test_the_curve_is_that_of_the_greatest_move": ("mechanism4-square4",),
        "test_other_measures_are_those_of_the_pair": ("zcdp-0.25",),
    },
    "designer/test_design.py": {
        "test_where_noise_on_the_integers_is_left_out_the_design_says_why": ("rows",),
    },
    "designer/test_release.py": {
        "test_the_same_data_in_each_form_have_the_same_release": ("records",),
    },
    "designer/test_shapes.py": {
        "test_the_ends_hold_the_least_trace_of_a_covariance_above_all_differences": ("product-replace",),
        "test_the_greatest_variance_is_that_of_the_worst_weights_of_the_queries": ("product",),
        "test_noise_of_the_best_shape_is_as_near_to_every_mechanism_for_every_workload": (
            "greatest-{'epsilon': 1, 'delta': '1e-6'}-3.1136", "greatest-{'renyi': {'order': '5", "greatest-{'renyi': {'order': '3",
            "greatest-{'zcdp': '1/10'}-1.000200060020007", "greatest-{'gdp': '1/2'}-1.0003126465607106", "greatest-{'renyi': {'order': 2",
        ),
    },
    "functions/test_agree.py": {
        "test_told_is_the_same": ("two_flags", "svt7", "nested_choice", "minmax", "svt2"),
    },
    "functions/test_agreements.py": {
        "test_a_program_tells_what_its_declaration_tells": ("svt1]", "adaptive", "clipped"),
        "test_another_function_tells_something_else": ("counts-clipped_less", "svt1-strictly", "counts-older"),
    },
    "functions/test_enumerated.py": {
        "test_no_bound_is_below_what_outputs_show": ("two_counts",),
    },
    "functions/test_neighbours_sampled.py": {
        "test_right_programs_agree_with_what_is_read": ("ended",),
    },
    "functions/test_reading.py": {
        "test_a_count_that_never_is_the_limit_does_not_end_the_run": ("positive",),
    },
    "functions/test_shelf.py": {
        "test_the_same_verdicts_and_bounds": (
            "stream_adaptive]", "stream_adaptive_same_noise_told", "stream_smart_sums", "stream_bad_smart_sums", "stream_min_max",
        ),
    },
    "laws/test_accounting.py": {
        "test_upper_bounds_are_above_lower_ones": ("a sample and parallel parts-epsilon0",),
    },
    "laws/test_asked_in_two_ways.py": {
        "test_ways_to_write_how_far_neighbours_are_apart_have_one_answer": (
            "integers-mapped inside-renyi-2", "kernel-alone-renyi-2", "threshold-alone-epsilon-at",
            "discrete gaussian-repeated-epsilon-at", "spread laplace-beside-delta", "spread laplace-mapped inside-epsilon-at",
            "kernel-repeated-epsilon", "process-mapped inside-renyi-2", "points-sample-renyi-2", "process-beside-epsilon-at",
            "translation-sample-renyi-2", "discrete gaussian-sample-epsilon-at", "laplace-beside-epsilon-at", "kernel-sample-epsilon",
        ),
    },
    "laws/test_every_field.py": {
        "test_how_often_how_far_and_how_likely_counts_in_every_rule_that_puts_parts_together": (
            "one-sided/spent", "gaussian-composition", "lattice", "finite-composition/group", "joint-neighbours/map", "combination]",
            "renyi-composition", "parallel-composition",
        ),
    },
    "laws/test_forgotten_fields.py": {
        "test_half_a_step_for_all_parts_in_parallel_moves_the_answers_of_each_half_as_far": ("loss-distribution",),
        "test_in_one_order_stated_noise_moves_the_way_that_is_worst": ("renyi-2",),
    },
    "laws/test_joint_neighbours.py": {
        "test_a_lower_bound_on_real_histograms_sees_that_several_kinds_of_records_change_at_once": ("rows0-l1", "rows0-l2"),
        "test_densities_that_are_not_even_are_moved_the_way_that_the_records_move_them": ("signs0",),
        "test_a_sample_takes_what_is_behind_a_map_or_some_steps_away_in_its_worse_order": ("None-1-False-1",),
    },
    "laws/test_small_guards.py": {
        "test_a_density_is_read_as_pieces_side_by_side_with_a_cut_at_0": ("exp(-abs(z + 2) - abs(z - 1))",),
    },
    "laws/test_tables_sound.py": {
        "test_at_an_end_that_p_reaches_epsilon_is_infinite": (
            "domain0-PROVED-mechanism0", "domain0-PROVED-mechanism1", "domain0-PROVED-mechanism2",
        ),
    },
    "laws/test_truths_by_hand.py": {
        "test_integers_behind_maps_move_in_proportion_to_the_distance_of_inputs": ("zcdp-parallel",),
    },
    "laws/test_two_writings.py": {
        "test_two_writings_of_one_mechanism_have_one_answer": (
            "stacked_queries", "wrapped_queries", "norms", "thresholds", "selections", "one_combinator",
        ),
    },
    "mutants/test_additive.py": {
        "test_a_spoiled_claim_means_nothing_whatever_its_evidence": ("(1 + r**2)**4*exp(-r)",),
        "test_what_is_no_density_is_undecided_soon": (
            "Translation-exp(-floor((2**(-3/2))**z))", "<lambda>0-(logexprel(log(z**3)))**2", "<lambda>1-(logexprel(log(z**3)))**2",
            "<lambda>0-exp(-abs(z))*max(bes", "<lambda>1-exp(-floor((2**(-3/2))**z))", "Translation-(logexprel(log(z**3)))**2",
            "Translation-exp(-abs(z))*max(b",
        ),
    },
    "mutants/test_curves.py": {
        "test_forged_evidence_proves_nothing_that_is_false": ("two kinds", "a group of a sample"),
    },
    "mutants/test_noise_errors.py": {
        "test_spoiled_numbers_prove_nothing_that_is_false": ("Cauchy",),
    },
    "mutants/test_other_types.py": {
        "test_what_is_of_another_type_is_refused_in_our_own_words": ("lines",),
    },
    "mutants/test_recorded.py": {
        "test_a_curve_that_is_read_elsewhere_says_what_is_recorded": ("delta_t_noise_d1000",),
    },
    "mutants/test_told.py": {
        "test_a_line_that_is_told_wrong_things_never_says_a_wrong_divergence": (
            "cusp-forged1]", "cusp-forged3", "cusp-forged6", "cauchy-forged5",
        ),
        "test_a_slope_that_is_not_shown_is_refused": ("forged0",),
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
    "report/test_proof.py": {
        "test_the_tree_holds_every_rule_of_the_certificate_as_often_as_it_is_used": (
            "pipeline.epsilon-above", "nested_sampling.delta-above",
        ),
        "test_every_rule_shows_what_it_checks_once_and_every_assumption_is_there": (
            "pipeline.epsilon-above", "nested_sampling.delta-above",
        ),
    },
    "rules/test_any_noise.py": {
        "test_other_noises_of_answers_that_move_together_are_not_followed_over_several_steps": ("noise7",),
    },
    "rules/test_best_of.py": {
        "test_the_delta_of_the_best_of_noisy_outputs_is_within_the_bound": ("poisson 10", "logarithmic 10"),
        "test_the_best_output_of_a_table_loses_as_much_as_in_the_worst_order": (
            "geometric 1-four", "geometric 5/2-four", "negative_binomial -1/2 1/10-four",
        ),
        "test_from_below_a_part_of_which_more_is_known_says_nothing": ("two rows",),
    },
    "rules/test_decidable_sums.py": {
        "test_stated_epsilons_and_deltas_add_up_exactly_and_for_all_parameters": (
            "kind = \"group\"\\nsize = 2\\npart = { kind = \"guarantee\", epsilon = \"e\", delta = \"d\" }-epsilon = \"2*e\"",
        ),
    },
    "rules/test_equal_answers.py": {
        "test_what_is_0_but_at_single_points_is_no_density": ("claim1",),
        "test_answers_that_may_differ_are_not_equal": ("noise4-1e-9",),
    },
    "rules/test_every_word.py": {
        "test_above_threshold_of_any_finite_law": ("16",),
    },
    "rules/test_functions_of_other_kernels.py": {
        "test_what_is_outside_the_space_of_rbf_is_shown_to_be": ("(t - 1/2)*abs(t - 1/2)",),
        "test_a_covariance_of_the_earlier_point_times_the_later_is_brownian_motion_at_another_time": ("exp(-s - t)*(1 + min(s, t))-ex",),
    },
    "rules/test_held_noise.py": {
        "test_what_an_alignment_of_several_modes_may_not_say": ("others0-worth|follows|no mode goes along",),
    },
    "rules/test_hulls_of_answers.py": {
        "test_votes_with_gaussian_noise_have_the_curve_of_one_answer_that_moves_by_the_root_of_two": ("4",),
        "test_the_least_of_all_shifts_is_the_greatest_of_all_weights": ("0", "1", "3", "4"),
        "test_what_has_a_name_is_a_hull_too": ("noise3-all-hull0", "noise3-monotone-hull1", "noise3-one-hull2"),
        "test_integers_between_bounds_are_enumerated": ("two humps-random", "two humps-]"),
    },
    "rules/test_in_measures.py": {
        "test_chords_of_the_curve_enclose_what_sums_over_the_outputs_give": ("zcdp",),
    },
    "rules/test_kernel_box.py": {
        "test_tails_that_depend_on_the_output_are_bounded_far_out": ("(1 + theta)/(pi*((1 + theta)**2 + y**2))-inputs0-log(2)",),
    },
    "rules/test_modulus_parts.py": {
        "test_waves_are_refused_where_the_end_is_not_as_they_say": (
            "(1 + z - floor(z))/(1 + abs(z))-change0", "(1 + z - floor(z))/(1 + z**2)-change1", "(1 + z - floor(z))/(1 + z**2)-change2",
        ),
        "test_a_density_that_is_0_but_at_single_points_is_no_law": ("floor(2*z) + floor(-2*z)",),
    },
    "rules/test_noisy_keys.py": {
        "test_bounds_hold_against_enumeration": (
            "discrete Laplace-5-2-1-1/2-keys", "discrete Laplace-4-1-1-1/4-keys", "discrete Laplace-6-1-2-1/2-keys",
            "discrete Laplace-1-1-1-1/4-keys", "lopsided-5-1-1-1/2-keys", "lopsided-5-1-2-1-keys", "geometric-3-2-1-2-counts",
            "geometric-3-2-1-2-keys", "discrete Laplace-5-2-1-1/2-counts", "discrete Laplace-4-1-1-1/2-keys",
        ),
        "test_keys_alone_are_enclosed_in_each_order": ("whole-one-sided", "whole-reverse"),
        "test_gaussian_keys_lose_most_at_the_worst_number_of_new_ones": ("8-100-3",),
    },
    "rules/test_noisy_votes.py": {
        "test_divergences_and_losses_of_lists_add_up": ("-orders0-4", "reverse-orders1-4"),
        "test_one_list_is_its_worst_neighbour": (
            "-orders0-(40, 25, 25, 3, 0)", "one-sided-orders1-(40, 25, 25, 3, 0)", "reverse-orders2-(40, 25, 25, 3, 0)",
            "-orders0-(5, 5, 5)", "-orders0-(9, 4, 1)",
        ),
    },
    "rules/test_point_witness.py": {
        "test_noise_with_gaps_loses_without_bound_where_some_record_moves_the_answer_into_them": ("moves3-None",),
    },
    "rules/test_positivstellensatz.py": {
        "test_known_inequalities_have_an_identity_that_the_kernel_accepts": ("3*u**2*v**2-1 + u**4*v**2 + u**2*v**4-domains3",),
        "test_false_inequalities_have_none": ("3*u**2*v**2-99999/100000 + u**",),
    },
    "rules/test_privacy_blanket.py": {
        "test_responses_of_many_people_have_the_sum_over_two_binomials": ("1000-10-0.25-0.1",),
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
    "rules/test_selection.py": {
        "test_no_pair_between_bounds_loses_more": ("1.0-0.5-2-2-monotone", "2.0-4.0-3-2-increasing"),
    },
    "rules/test_selection_fresh.py": {
        "test_the_tight_epsilon_is_that_of_the_dearest_way_to_move": (
            "((4, '5/2'), ('1/2', '4/3'), ('1/2', 2), 2, 3, 'monotone')", "((3, 1), (4, 1), (2, 1), 2, 2, 'all')",
            "((1, 1), ('1/3', '1/3'), (5, 1), 6, 3, 'all')", "((1, 2), (2, 1), (1, 4), 3, 2, 'decreasing')",
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
            "1/(1 + (theta - y)**4)", "(1 + abs(y - theta)/2)**(-3)-(1 + abs(z)/2)**(-3)",
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
        "test_what_is_private_at_no_epsilon_is_refuted_at_every": ("one noise for both ends", "the exact answer told"),
    },
    "rules/test_sums.py": {
        "test_the_delta_of_a_sum_is_that_by_enumeration": (
            "plus5-less5-1-1/4", "plus0-less0-1-1", "plus2-less2-1-3/2", "plus3-less3-3-1", "plus6-less6-2-1/3",
        ),
        "test_renyi_divergences_are_those_by_enumeration": ("2-plus1-less1", "2-plus2-less2", "7/2-plus1-less1"),
    },
    "rules/test_what_is_told_from_below.py": {
        "test_a_pure_claim_clearly_below_the_truth_is_refuted_and_one_above_twice_it_is_not": ("mechanism6-5", "mechanism7-2"),
        "test_selections_of_answers_that_never_move_tell_nothing": ("above_threshold-gaussian",),
    },
    "samplers/test_processes.py": {
        "test_a_path_asked_for_bit_by_bit_is_one_path": ("matern-3/2",),
    },
    "test_action.py": {
        "test_an_input_is_a_value_and_never_a_command": ("install", "profile"),
        "test_a_wrong_input_is_an_error_with_the_way_out": ("fail-no",),
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
        "test_a_right_sampler_passes_and_a_wrong_one_is_a_violation_of_the_model": (
            "sampled with delta", "sampled, sparse vectors", "radial, polytope",
        ),
        "test_what_cannot_be_audited_is_an_error_with_a_reason_and_never_a_pass": ("module",),
    },
    "test_compare.py": {
        "test_weak_inequalities_hold_for_all_parameters": ("max(x, y)-abs(x) + abs(y)", "x-max(x, y, e)", "abs(x + y)-abs(x) + abs(y)"),
        "test_identities_hold_for_all_parameters": ("left2-(nu + d)*asinh(Delta/(2*sqrt(nu)))",),
    },
    "test_docs.py": {
        "test_what_a_page_shows_is_what_happens": (
            "tutorial", "docs/how-to/answer-in-a-metric-space.md", "docs/how-to/calibrate.md", "README.md",
            "docs/how-to/design-a-mechanism.md", "docs/how-to/sample-a-mechanism.md",
        ),
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
            "normal inverse Gaussian", "half-unit stairs, half", "stairs on a slope", "linear tilt, close inputs",
        ),
        "test_where_no_epsilon_holds_every_epsilon_is_refuted": ("hyperbolic cosine", "builtin discrete_gaussian", "pole inside"),
    },
    "test_mechanisms.py": {
        "test_a_sampler_draws_from_the_declared_law": ("laplace_log_normal-0", "slash-1"),
    },
    "test_outside.py": {
        "test_a_name_that_a_terminal_has_no_letters_for_is_no_fault": ("dpverify.cli",),
    },
    "test_processes.py": {
        "test_a_hard_claim_is_answered_or_undecided_in_time_and_the_others_are_answered": (
            "a long product", "a large table", "a density with steps that nobody counts", "exponentials in exponentials",
        ),
        "test_a_declaration_that_fails_takes_no_other_files_answer_away": ("while True: pass",),
        "test_no_process_outlives_a_run_however_that_is_ended": ("verb1-15", "verb1-1]"),
    },
    "test_proof.py": {
        "test_whatever_can_be_derived_of_tables_is_true": (
            "a sample and a group of tables", "a sample of what is run twice", "in parallel, one run twice",
            "two, one behind a map of the output", "a group of a sample",
        ),
        "test_no_line_has_a_premise_that_it_does_not_use": ("Compose3",),
    },
    "test_replays.py": {
        "test_a_right_release_raises_no_alarm": ("mean", "two stages", "sparse vector", "matrix", "top", "histogram"),
        "test_a_planted_bug_is_found_with_few_rows": (
            "order of a dictionary", "groups hidden by their true counts", "divided by the true count", "NaN passes the clip",
            "order by true counts", "less noise where it is small", "threshold compared before noise is added", "counter not reset",
            "scale from the data", "sensitivity of the wrong norm", "candidates from the data", "sensitivity of one side",
            "rounded by the true size", "clipped before a square", "seed from the data", "selected without noise", "sums asked as counts",
            "clipped after noise",
        ),
        "test_what_is_asked_wrongly_is_told": ("given9-binary float",),
    },
    "test_replays_told.py": {
        "test_what_differs_is_found": (
            "of_many_rows-parameters-31-more10", "of_a_hundred_rows-calls-100-more11", "of_nan-value-1-more13",
            "of_a_rare_value-distance-1-more9",
        ),
        "test_a_right_pipeline_raises_no_alarm": ("6", "7", "9", "11"),
    },
    "test_same_floats.py": {
        "test_the_event_that_is_found_does_not_hang_on_the_last_digits_of_libraries": ("mechanism0",),
    },
    "test_schemas.py": {
        "test_the_schema_and_the_reader_refuse_the_same_changes": (
            "program-11", "program, in a table-11", "use-11", "stream-11", "best_of, a negative binomial number of runs-11",
            "correlated_noise, on samples-11", "sum, of several, and less others-11", "smooth_sensitivity-11",
        ),
        "test_a_certificate_with_a_key_too_many_or_too_few_is_neither_valid_nor_read": ("nested_pure.exact",),
    },
    "test_second_checker.py": {
        "test_a_rule_proves_the_value_of_its_theorem_or_nothing": ("convex-exponent-mechanism29-2-given29-6",),
    },
    "test_second_checker_curves.py": {
        "test_on_a_grid_two_runs_come_near_to_what_they_lose_from_both_sides": ("pair1",),
        "test_a_claim_that_is_changed_to_a_false_one_is_not_accepted": ("compose_subsampled_laplace.delta-above-11/10-path17",),
    },
    "test_second_checker_more.py": {
        "test_a_bound_below_the_greatest_rise_is_never_shown_and_one_above_is": ("r - 4*log(r**2 + 1)-<lambda>",),
    },
    "test_sql.py": {
        "test_a_join_moves_by_what_its_bound_allows": (
            "replace-2-1-JOIN", "replace-2-2-LEFT JOIN", "replace-2-2-JOIN", "replace-2-1-LEFT JOIN",
        ),
        "test_what_is_no_sum_is_refused": ("sql56-too long|nested too deeply",),
    },
    "test_stated_guarantees.py": {
        "test_every_claim_is_judged_as_expected": ("elliptical_process", "guarantee_sum"),
    },
    "test_trust.py": {
        "test_what_a_fresh_process_loads_to_check_a_certificate_is_what_its_verdict_rests_on": ("bounded_laplace.any-two-inputs-tight",),
    },
    "utility/test_bodies.py": {
        "test_the_second_moment_of_an_lp_ball_is_the_integral_over_its_slices": ("1",),
    },
    "utility/test_linear_program.py": {
        "test_for_any_metric_the_bound_is_the_optimum_of_the_linear_program": ("plane",),
    },
    "utility/test_losses_in_files.py": {
        "test_what_is_not_given_says_why": ("parameter",),
    },
    "utility/test_never_null.py": {
        "test_no_error_is_ever_null": ("noise of no epsilon-with beta",),
    },
    "utility/test_noise_error.py": {
        "test_errors_of_noise_in_a_norm_are_those_by_integrals_over_angles": ("l3/2",),
        "test_sums_for_one_number_are_off_by_as_much_as_the_factor_says_and_no_more": ("2",),
        "test_what_is_exceeded_rarely_is_the_root_of_another_formula": ("l3/2", "logistic"),
        "test_means_are_at_most_mean_squares_and_coordinates_at_most_the_whole": ("noise0",),
        "test_errors_on_the_integers_are_sums": ("exp(-abs(z))*(1 + z**2)", "1/(1 + z**2)**3"),
        "test_heavy_noise_has_infinite_errors_by_its_density": ("on the integers",),
    },
    "utility/test_shape_lower_bound.py": {
        "test_with_a_delta_no_law_on_any_lattice_has_less_and_some_law_has_little_more": ("0.05-0.05",),
        "test_a_law_and_its_copy_moved_by_1_have_the_mean_square_that_both_orders_say": ("1]",),
    },
}  # fmt: skip


def is_dear(nodeid: str) -> bool:
    """Whether the test of an id is one of those."""
    file, _, rest = nodeid.removeprefix("tests/").partition("::")
    test, _, parameters = rest.partition("[")
    return any(parameters.startswith(one) for one in DEAR.get(file, {}).get(test, ()))
