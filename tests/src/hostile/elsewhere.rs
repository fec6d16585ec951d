//! Kinds that have no row: which test holds them, or why they cannot apply.

/// The kinds: A process lifetime, B streams and JSON, C limits, D sandbox, H concurrency.
pub const KINDS: &[&str] = &[
    "A01", "A02", "A03", "A04", "A05", "A06", "A08", "A09", "A10", "A11", "A13", "A15", "A17", "A19", "A21", "A22",
    "B01", "B02", "B03", "B04", "B05", "B06", "B07", "B09", "B10", "B11", "B12", "B13", "B14", "B15", "B17", "B18",
    "B19", "B21", "B22", "B24", "C01", "C02", "C04", "C05", "C07", "C08", "C10", "C12", "C13", "C14", "D01", "D02",
    "D03", "D05", "D06", "D07", "D08", "D10", "D11", "D12", "D14", "D16", "D17", "D18", "D19", "D21", "D22", "D23",
    "D25", "D26", "D28", "D30", "D32", "H02", "H03", "H04", "H06",
];

/// A kind, the file below `tests/tests/`, and the test in it.
pub const HELD: &[(&str, &str, &str)] = &[
    ("A06", "death.rs", "a_runner_that_is_killed_at_any_moment_leaves_nothing_to_run"),
    ("A08", "death.rs", "a_runner_that_is_killed_at_any_moment_leaves_nothing_to_run"),
    ("A13", "death.rs", "a_tool_that_cannot_be_killed_is_waited_for_no_longer_than_is_said"),
    ("A17", "io_ends.rs", "the_callers_signal_state_is_not_the_tools"),
    ("B03", "io_streams.rs", "much_on_stderr_blocks_nothing_and_keeps_both_ends"),
    ("B06", "limits_floods.rs", "floods_on_stdout_and_stderr_end_at_their_limits_and_cost_the_runner_little"),
    ("B18", "io_streams.rs", "the_exit_code_decides_where_it_and_the_body_disagree"),
    ("B21", "io_secrets.rs", "odd_values_arrive_as_they_are"),
    ("B24", "io_streams.rs", "programs_that_cannot_be_executed_say_why"),
    ("C04", "limits_memory.rs", "files_in_tmp_are_charged_and_swap_is_none"),
    ("C05", "limits_memory.rs", "a_layer_that_has_to_be_whole_and_is_not_stops_the_call_with_the_way_out"),
    ("C12", "limits_memory.rs", "without_a_control_group_limits_by_process_stand_in_and_that_is_said"),
    ("C13", "limits_memory.rs", "forks_are_limited_without_a_control_group_too"),
    ("C14", "hostile_many.rs", "a_thousand_calls_in_a_row_leave_nothing_and_no_descriptor_more"),
    ("D01", "sandbox/host.rs", "a_level_that_is_not_to_be_had_is_refused_before_anything_runs"),
    ("D02", "sandbox/network.rs", "loopback_and_socket_pairs_work_inside"),
    ("D03", "sandbox/processes.rs", "only_the_processes_of_the_call_are_seen"),
    ("D05", "sandbox/files.rs", "only_the_scratch_folders_can_be_written"),
    ("D06", "sandbox/files.rs", "a_fifo_and_a_missing_path_in_a_profile_do_not_stop_the_other_rules"),
    ("D07", "sandbox/files.rs", "the_expected_devices_work_and_no_other_is_there"),
    ("D08", "sandbox/files.rs", "files_and_folders_move_across_the_folders_of_one_tree"),
    ("D10", "hostile_places.rs", "names_and_certificates_are_to_be_had_where_the_network_is"),
    ("D11", "hostile_places.rs", "names_and_certificates_are_to_be_had_where_the_network_is"),
    ("D12", "sandbox/host.rs", "python_makes_processes_that_share_memory"),
    ("D14", "sandbox/exec.rs", "a_set_uid_program_gives_no_other_id"),
    ("D16", "sandbox/syscalls.rs", "newer_calls_look_absent"),
    ("D17", "sandbox/syscalls.rs", "the_numbers_of_another_abi_end_the_tool"),
    ("D18", "sandbox/network.rs", "an_abstract_socket_of_the_host_is_out_of_reach"),
    ("D21", "sandbox/inherited.rs", "no_process_inside_holds_the_callers_variables"),
    ("D22", "sandbox/inherited.rs", "no_variable_of_the_callers_reaches_the_tool"),
    ("D23", "trace_env.rs", "a_preload_for_the_runner_does_not_reach_the_tool"),
    ("D25", "sandbox/inherited.rs", "no_open_file_of_the_callers_reaches_the_tool"),
    ("D26", "files_work.rs", "no_ghost_files_appear_in_the_callers_folders"),
    ("D32", "hostile_places.rs", "inside_another_sandbox_the_answer_is_quick_and_honest"),
    ("H02", "hostile_places.rs", "a_tool_that_was_installed_a_moment_ago_starts_whatever_else_is_started"),
    ("H04", "death.rs", "what_killed_runners_leave_goes_with_the_next_start_and_nothing_of_a_live_one_does"),
    ("H06", "hostile_places.rs", "runners_that_have_the_same_process_id_do_not_meet"),
];

/// A kind and the reason why it cannot apply.
pub const CANNOT: &[(&str, &str)] = &[];
