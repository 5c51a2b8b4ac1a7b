"""What each group may call and read. A new function or relation needs a row here."""

from __future__ import annotations

import re

from tests.databases import Connection, MakeRole

GROUPS = ["PUBLIC", "analyst", "curator", "auditor", "trusted", "ledger"]

# U: use   X: call   r: read   a, w, d, D, x, t: write in some way   -: nothing
# A function stands for all its overloads, which must not differ.
EXPECTED = """
 PUBLIC  analyst curator auditor trusted ledger
 U       U       U       U       U       U       schema discreet
 -       -       -       -       -       -       language discreet_python

 what is protected, and who may ask
 -       -       X       -       -       -       create_dataset()
 -       -       X       -       -       -       protect()
 -       -       X       -       -       -       alter_protection()
 -       -       X       -       -       -       propose()
 -       -       X       -       -       -       adopt()
 -       -       X       -       -       -       suggest_rows()
 -       -       X       -       -       -       describe_column()
 -       -       X       -       -       -       unprotect()
 -       -       X       -       -       -       grant_budget()
 -       -       X       -       -       -       revoke_budget()
 -       -       X       -       -       -       reserve_budget()
 -       -       X       -       -       -       release_budget()
 -       -       X       -       -       -       exempt_view()
 -       -       X       -       -       -       set_personal_budget()
 -       -       X       -       -       -       personal_status()
 -       -       X       -       -       -       audit_known()
 -       -       X       -       -       -       audit_reset()
 -       -       X       X       -       -       audit_state()
 -       r       r       r       -       -       datasets
 -       r       r       r       -       -       protected_tables
 -       r       r       r       -       -       protected_columns
 -       r       r       r       -       -       catalog
 -       r       -       -       -       -       _information_tables
 -       r       -       -       -       -       _information_columns
 -       r       -       -       -       -       _listed_tables
 -       r       -       -       -       -       _listed_views
 -       r       r       r       -       -       exempt_views
 -       r       r       r       -       -       budget_status
 -       r       r       r       -       -       last_answer
 -       r       r       r       -       -       charges
 -       r       r       r       -       -       refusals
 -       r       r       r       -       -       accuracy
 -       -       X       -       -       -       report()

 asking
 -       X       X       -       -       -       query()
 -       X       X       -       -       -       query_json()
 -       X       X       -       -       -       explain()
 -       X       X       -       -       -       explain_text()
 -       X       X       -       -       -       ask()
 -       X       X       -       -       -       lint()
 -       X       X       -       -       -       create_view()
 -       X       X       -       -       -       _answer_columns()
 -       X       X       -       -       -       suggest_bounds()
 -       X       X       -       -       -       synthesize()
 -       X       X       -       -       -       synthesis_report()
 -       X       X       -       -       -       _parameter()
 -       X       X       -       -       -       _clock()
 -       X       X       -       -       -       _as_of()
 -       X       X       -       -       -       round_time()
 -       X       X       -       -       -       bucket()
 -       X       X       -       -       -       dp_count()
 -       X       X       -       -       -       dp_count_distinct()
 -       X       X       -       -       -       dp_sum()
 -       X       X       -       -       -       dp_avg()
 -       X       X       -       -       -       dp_variance()
 -       X       X       -       -       -       dp_stddev()
 -       X       X       -       -       -       dp_median()
 -       X       X       -       -       -       dp_quantile()

 integrity rules
 -       -       X       -       -       -       add_rule()
 -       -       X       -       -       -       add_limit()
 -       -       X       -       -       -       drop_rule()
 -       -       r       r       -       -       rules
 -       -       X       -       -       -       _refuse_row()
 -       -       X       -       -       -       _keep_limit()
 -       -       X       -       -       -       _keep_trigger()
 -       -       X       -       -       -       _forget_trigger()
 -       -       -       -       -       -       _require_own()
 -       -       -       -       -       -       _outside_update()
 -       -       -       -       -       -       _mls_rebuild()
 -       -       -       -       -       -       _limit_turn
 -       -       -       -       -       -       _take_turn()
 -       -       -       -       -       -       _has_turn()

 multilevel tables
 -       -       X       -       -       -       mls_define()
 -       -       X       -       -       -       mls_clear()
 -       -       X       -       -       -       mls_table()
 -       -       X       -       -       -       mls_rule()
 -       -       X       -       -       -       mls_reference()
 -       -       X       -       -       -       mls_keep_history()
 -       -       X       -       -       -       mls_drop()
 -       -       X       -       -       -       mls_plain()
 -       -       -       -       X       -       mls_declassify()
 -       -       -       -       X       -       mls_relabel()
 -       -       -       -       X       -       mls_purge()
 -       -       -       -       -       -       _is_needed()
 -       -       -       -       -       -       _delete_root()
 X       X       X       X       X       X       mls_uplevel()
 X       X       X       X       X       X       mls_report()
 X       X       X       X       X       X       mls_history()
 X       X       X       X       X       X       mls_import()
 X       X       X       X       X       X       mls_export()
 -       -       -       -       -       -       _history_note()
 -       -       -       -       -       -       _history_place()
 -       -       -       -       -       -       _history_hash()
 -       -       -       -       -       -       _history_link_hash()
 -       -       -       -       -       -       _verify_history()
 X       X       X       X       X       X       mls_upsert()
 X       X       X       X       X       X       _multilevel_description()
 -       -       r       r       -       -       clearances
 -       -       r       r       -       -       multilevel_tables
 -       -       -       -       -       -       _multilevel_trigger
 -       -       r       r       -       -       mls_log

 called by views and triggers of multilevel tables with the rights of who uses them
 X       X       X       X       X       X       _is_single()
 X       X       X       X       X       X       _is_trusted()
 X       X       X       X       X       X       _is_version()
 -       -       -       -       -       -       _may_write_at()
 X       X       X       X       X       X       _label()
 X       X       X       X       X       X       _label_bits()
 X       X       X       X       X       X       _random_id()
 X       X       X       X       X       X       _sees()
 X       X       X       X       X       X       _session_label()
 -       -       -       -       -       -       _shows_most()
 X       X       X       X       X       X       _visible()
 X       X       X       X       X       X       _written_label()

 arithmetic of privacy: no data, no budget
 -       X       X       X       -       -       compose_parallel()
 -       X       X       X       -       -       compose_sequential()
 -       X       X       X       -       -       gaussian_rho()
 -       X       X       X       -       -       group_epsilon()
 -       X       X       X       -       -       laplace_scale()
 -       X       X       X       -       -       sensitivity()
 -       X       X       X       -       -       zcdp_epsilon()

 microdata, and secrets under which it is changed
 X       X       X       X       X       X       top_code()
 X       X       X       X       X       X       bottom_code()
 X       X       X       X       X       X       mask()
 X       X       X       X       X       X       add_noise()
 X       X       X       X       X       X       pseudonym()
 X       X       X       X       X       X       record_key()
 X       X       X       X       X       X       cell_key()
 X       X       X       X       X       X       random_round()
 X       X       X       X       X       X       perturb()
 X       X       X       X       X       X       _low_bits()
 X       X       X       X       X       X       _not_a_base()
 -       -       X       -       -       -       ptable()
 -       -       X       -       -       -       controlled_round()
 -       -       X       -       -       -       suppress()
 -       -       X       -       -       -       audit_cells()
 -       -       X       -       -       -       microaggregate()
 -       -       X       -       -       -       swap()
 -       -       X       -       -       -       create_secret()
 -       -       X       -       -       -       rotate_secret()
 -       -       X       -       -       -       drop_secret()
 -       -       X       -       -       -       grant_secret()
 -       -       X       -       -       -       revoke_secret()
 -       -       r       r       -       -       secrets
 -       -       -       -       -       -       _secret
 -       -       -       -       -       -       _secret_key
 -       -       -       -       -       -       _secret_holder
 -       -       -       -       -       -       _new_key()
 -       -       -       -       -       -       _own_secret()
 sealed columns
 X       X       X       X       X       X       open_key()
 X       X       X       X       X       X       close_key()
 -       -       X       -       -       -       create_key()
 -       -       X       -       -       -       rotate_key()
 -       -       X       -       -       -       grant_key()
 -       -       X       -       -       -       revoke_key()
 -       -       X       -       -       -       seal_column()
 -       -       X       -       -       -       unseal_column()
 -       -       X       -       -       -       renew_column_key()
 -       -       X       -       -       -       reseal_column()
 -       -       r       r       -       -       keys
 -       -       r       r       -       -       sealed_columns
 X       X       X       X       X       X       _seal()
 X       X       X       X       X       X       _unseal()
 X       X       X       X       X       X       _seal_search()
 X       X       X       X       X       X       _seal_search_many()
 X       X       X       X       X       X       _is_unsealed()
 X       X       X       X       X       X       _closed_key()
 X       X       X       X       X       X       _ciphertext_of()
 -       -       -       -       -       -       _require_server_key()
 -       -       -       -       -       -       _is_sealed_table()
 X       X       X       X       X       X       _sealed_row()
 X       X       X       X       X       X       _sealed_version()
 X       X       X       X       X       X       _sealed_insert()
 -       -       -       -       -       -       _key
 -       -       -       -       -       -       _key_holder
 -       -       -       -       -       -       _data_key
 -       -       -       -       -       -       _sealed_column
 -       -       -       -       -       -       _new_data_key()
 -       -       -       -       -       -       _seals_type()
 -       -       -       -       -       -       _let_spill()
 -       -       -       -       -       -       _as_owner()

 randomised responses
 -       X       X       X       -       -       rr()
 -       X       X       X       -       -       rr_bits()
 -       X       X       X       -       -       cms_encode()
 -       X       X       X       -       -       rr_estimate()
 -       X       X       X       -       -       rr_stderr()
 -       X       X       X       -       -       rr_frequencies()
 -       X       X       X       -       -       rr_bits_frequencies()
 -       X       X       X       -       -       cms_estimate()
 -       X       X       X       -       -       rr_epsilon()
 -       X       X       X       -       -       mechanism_epsilon()
 -       -       X       -       -       -       rr_column()
 -       r       r       r       -       -       response_columns
 -       -       -       -       -       -       _response
 -       -       -       -       -       -       _response_column
 -       -       X       -       -       -       _respond()
 -       -       -       -       -       -       _rr_lies()
 -       -       -       -       -       -       _tally_bits()
 -       -       -       -       -       -       _tally_boolean()
 -       -       -       -       -       -       _tally_combine()
 -       -       -       -       -       -       _tally_error()
 -       -       -       -       -       -       _tally_frequencies()
 -       -       -       -       -       -       _tally_share()
 -       -       -       -       -       -       _tally_sketch()
 -       -       -       -       -       -       _tally_text()

 measuring, with the rights of who measures
 -       X       X       X       -       -       k_anonymity()
 -       X       X       X       -       -       l_diversity()
 -       X       X       X       -       -       t_closeness()
 -       X       X       X       -       -       measure()
 -       X       X       X       -       -       disclosure_risk()
 -       X       X       X       -       -       best_ranges()

 publishing, with the rights of who publishes
 -       -       X       -       -       -       anonymize()
 -       -       X       -       -       -       create_release_view()
 -       -       X       -       -       -       forget_release()
 -       -       X       X       -       -       release_report()
 -       -       r       r       -       -       releases
 -       -       X       -       -       -       _remember_release()
 -       -       -       -       -       -       _require_reader()
 -       -       X       -       -       -       _earlier_releases()
 -       -       -       -       -       -       _release
 -       -       -       -       -       -       _release_turn
 -       -       -       -       -       -       _release_class

 operations
 -       X       X       X       X       -       version()
 -       -       X       X       -       -       check_installation()
 -       -       X       X       -       -       selftest()
 -       -       X       X       -       -       verify_log()

 called by views with the rights of the reader
 -       X       X       X       -       -       _direct_readers()
 -       X       X       X       -       -       _unit_text()
 -       X       X       X       -       -       _relation_family()
 -       X       X       X       -       -       _sealed_twin()
 -       X       X       X       -       -       _sees_all()
 -       X       X       X       -       -       _zcdp_epsilon_spent()

 called on the ledger connection
 -       -       -       -       -       X       _ledger_ping()
 -       -       -       -       -       X       _ledger_describe()
 -       -       -       -       -       X       _ledger_recall()
 -       X       X       X       -       -       _last_answer()
 -       X       X       X       -       -       _catalog()
 -       X       X       X       -       -       _askable_tables()
 -       X       X       X       -       -       _askable_columns()
 -       X       X       X       -       -       _asks()
 -       -       -       -       -       X       _ledger_create_dataset()
 -       -       -       -       -       X       _ledger_opened()
 -       -       -       -       -       X       _ledger_charge_curation()
 -       -       -       -       -       X       _ledger_charge_question()
 -       -       -       -       -       X       _ledger_left()
 -       -       -       -       -       X       _ledger_shortage()
 -       -       -       -       -       X       _ledger_charge_aggregates()
 -       -       -       -       -       X       _ledger_charge_together()
 -       -       -       -       -       X       _ledger_price_aggregates()
 -       -       -       -       -       X       _ledger_store()
 -       -       -       -       -       -       _drop_answers()
 -       -       -       -       -       -       _run_as()
 -       -       -       -       -       -       _wait()
 -       -       -       -       -       X       _ledger_refused()
 -       -       -       -       -       X       _ledger_label_event()
 -       -       -       -       -       X       _ledger_charge_personal()
 -       -       -       -       -       X       _ledger_personal_people()
 -       -       -       -       -       X       _ledger_personal_add()
 -       -       -       -       -       X       _ledger_personal_pay()
 -       -       -       -       -       X       _ledger_audit_read()
 -       -       -       -       -       X       _ledger_audit_record()
 -       -       -       -       -       X       _ledger_audit_base()
 -       -       -       -       -       -       _run_audited()
 -       -       -       -       -       -       _written()

 internal
 -       -       -       -       -       -       _accuracy
 -       -       -       -       -       -       _answer
 -       -       -       -       -       -       _answer_epoch
 -       -       -       -       -       -       _audit
 -       -       -       -       -       -       _audit_base
 -       -       -       -       -       -       _audit_column
 -       -       -       -       -       -       _audit_event
 -       -       -       -       -       -       _audit_known
 -       -       -       -       -       -       _audit_name
 -       -       -       -       -       -       _keeps_versions()
 X       X       X       X       X       X       _person()
 X       X       X       X       X       X       _query_set()
 -       -       -       -       -       -       _query_set_combine()
 -       -       -       -       -       -       _query_set_deserialize()
 -       -       -       -       -       -       _query_set_final()
 -       -       -       -       -       -       _query_set_serialize()
 -       -       -       -       -       -       _query_set_transition()
 -       -       -       -       -       -       _budget
 -       -       -       -       -       -       _charge
 -       -       -       -       -       -       _clearance
 -       -       -       -       -       -       _dataset
 -       -       -       -       -       -       _exempt_view
 -       -       -       -       -       -       _history
 -       -       -       -       -       -       _history_link
 -       -       -       -       -       -       _label_event
 -       -       -       -       -       -       _label_group
 -       -       -       -       -       -       _label_part
 -       -       -       -       -       -       _label_spent
 -       -       -       -       -       -       _multilevel_reference
 -       -       -       -       -       -       _multilevel_rule
 -       -       -       -       -       -       _multilevel_table
 -       -       -       -       -       -       _past_protection
 -       -       -       -       -       -       _personal_budget
 -       -       -       -       -       -       _personal_ledger
 -       -       -       -       -       -       _personal_page
 -       -       -       -       -       -       _personal_people
 -       -       -       -       -       -       _period_spent
 -       -       -       -       -       -       _reserve
 -       -       -       -       -       -       _reserve_spent
 -       -       -       -       -       -       _protected_column
 -       -       -       -       -       -       _protected_part
 -       -       -       -       -       -       _protected_table
 -       -       -       -       -       -       _refusal
 -       -       -       -       -       -       _base_type()
 X       X       X       X       X       X       _bin()
 X       X       X       X       X       X       _period_begin()
 X       X       X       X       X       X       _refuse_other_period()
 -       X       X       X       -       -       _period_name()
 -       X       X       X       -       -       _periods_of()
 -       -       -       -       -       -       _call_handler()
 -       -       -       -       -       -       _caller()
 -       -       -       -       -       -       _charge()
 -       -       -       -       -       -       _charge_hash()
 -       -       -       -       -       -       _charge_together()
 -       -       -       -       -       -       _count_final()
 -       -       -       -       -       -       _count_transition()
 -       -       -       -       -       -       _distinct_combine()
 -       -       -       -       -       -       _distinct_deserialize()
 -       -       -       -       -       -       _distinct_final()
 -       -       -       -       -       -       _distinct_serialize()
 -       -       -       -       -       -       _distinct_transition()
 -       -       -       -       -       -       _deny()
 -       -       -       -       -       -       _answers_epoch()
 -       -       -       -       -       -       _sweep_answers()
 -       -       -       -       -       -       _find_columns()
 -       -       -       -       -       -       _find_parts()
 -       -       -       -       -       -       _follow()
 -       -       -       -       -       -       _follow_audits()
 -       -       -       -       -       -       _follow_parts()
 -       -       -       -       -       -       _forget()
 -       -       -       -       -       -       _declarations_changed()
 -       -       -       -       -       -       _known_tables_changed()
 -       -       -       -       -       -       _load_before_ddl()
 -       -       -       -       -       -       _holds_budget()
 -       -       -       -       -       -       _guards()
 -       -       -       -       -       -       _tells_person()
 -       -       -       -       -       -       _constants()
 -       -       -       -       -       -       _insert_root()
 -       -       -       -       -       -       _is_multilevel()
 -       -       -       -       -       -       _is_multilevel_table()
 -       -       -       -       -       -       _label_event_hash()
 -       -       -       -       -       -       _label_log()
 -       -       -       -       -       -       _ledger()
 -       -       -       -       -       -       _worker_step()
 -       -       -       -       -       -       _worker_call_handler()
 -       -       -       -       -       -       _levels_changed()
 X       X       X       X       X       X       _log_bin()
 -       -       -       -       -       -       _median_final()
 -       -       -       -       -       -       _median_transition()
 -       -       -       -       -       -       _moments_transition()
 X       X       X       X       X       X       _on_grid()
 X       X       X       X       X       X       _clamped()
 X       X       X       X       X       X       _text()
 X       X       X       X       X       X       _cut()
 -       -       -       -       -       -       _join()
 X       X       X       X       X       X       _joined()
 X       X       X       X       X       X       _padded()
 X       X       X       X       X       X       _floating()
 X       X       X       X       X       X       _seconds()
 X       X       X       X       X       X       _date()
 X       X       X       X       X       X       _double()
 X       X       X       X       X       X       _real()
 -       -       -       -       -       -       _named_relations()
 -       -       -       -       -       -       _relations_below()
 -       -       -       -       -       -       _named_types()
 -       -       -       -       -       -       _one_row_per_person()
 -       -       -       -       -       -       _single_columns()
 -       -       -       -       -       -       _files_of()
 -       -       -       -       -       -       _never_null()
 -       -       -       -       -       -       _start_as()
 -       -       -       -       -       -       _priced_aggregates()
 -       -       -       -       -       -       _shortage()
 -       -       -       -       -       -       _end_reserve()
 -       -       -       -       -       -       _keep_reserve()
 -       -       -       -       -       -       _kept_for_others()
 -       -       -       -       -       -       _log_act()
 -       -       -       -       -       -       _reserves_left()
 -       -       -       -       -       -       _spend_reserves()
 -       -       -       -       -       -       _charge_periods()
 -       -       -       -       -       -       _keep_periods()
 -       -       -       -       -       -       _keeps_periods()
 -       -       -       -       -       -       _left_in_periods()
 -       -       -       -       -       -       _period_dues()
 -       -       -       -       -       -       _period_lines()
 -       -       -       -       -       -       _period_shortage()
 -       -       -       -       -       -       _period_that_differs()
 -       -       -       -       -       -       _refuse_changed_period()
 -       -       -       -       -       -       _release_periods()
 -       -       -       -       -       -       _check_questions()
 -       -       -       -       -       -       _check_view()
 -       -       -       -       -       -       _error_types()
 -       -       -       -       -       -       _is_hidden()
 -       -       -       -       -       -       _askable()
 -       -       -       -       -       -       _bound_text()
 -       -       -       -       -       -       _adoptable()
 -       -       -       -       -       -       _adopt_declared()
 -       -       -       -       -       -       _delta_text()
 -       -       -       -       -       -       _columns_named()
 -       -       -       -       -       -       _unit_path()
 -       -       -       -       -       -       _margin()
 -       -       -       -       -       -       _margin_plus()
 -       -       -       -       -       -       _margin_minus()
 -       -       -       -       -       -       _margin_times()
 -       -       -       -       -       -       _margin_over()
 -       -       -       -       -       -       _margin_abs()
 -       -       -       -       -       -       _margin_sqrt()
 -       -       -       -       -       -       _margin_exp()
 -       -       -       -       -       -       _margin_ln()
 -       -       -       -       -       -       _margin_log()
 -       -       -       -       -       -       _margin_sign()
 -       -       -       -       -       -       _margin_mod()
 -       -       -       -       -       -       _margin_power()
 -       -       -       -       -       -       _margin_ntile()
 -       -       -       -       -       -       _margin_rounded()
 -       -       -       -       -       -       _margin_extreme()
 -       -       -       -       -       -       _margin_either()
 -       -       -       -       -       -       _margin_exact()
 -       -       -       -       -       -       _margin_sum()
 -       -       -       -       -       -       _margin_rank()
 -       -       -       -       -       -       _margin_part()
 -       -       -       -       -       -       _margin_error()
 -       -       -       -       -       -       _people_above()
 -       -       -       -       -       -       _people_named()
 -       -       -       -       -       -       _references_others()
 -       -       -       -       -       -       _wrong_unit()
 X       X       X       X       X       X       _people()
 X       X       X       X       X       X       _people_alone()
 X       X       X       X       X       X       _synthesis_code()
 X       X       X       X       X       X       _synthesis_count()
 -       -       -       -       -       -       _synthesis_combine()
 -       -       -       -       -       -       _synthesis_deserialize()
 -       -       -       -       -       -       _synthesis_final()
 -       -       -       -       -       -       _synthesis_serialize()
 -       -       -       -       -       -       _synthesis_transition()
 -       -       -       -       -       -       _synthesis_write()
 -       -       -       -       -       -       _people_combine()
 -       -       -       -       -       -       _people_deserialize()
 -       -       -       -       -       -       _people_final()
 -       -       -       -       -       -       _people_serialize()
 -       -       -       -       -       -       _people_transition()
 -       -       -       -       -       -       _personal_append()
 -       -       -       -       -       -       _personal_blank()
 -       -       -       -       -       -       _personal_count_combine()
 -       -       -       -       -       -       _personal_count_deserialize()
 -       -       -       -       -       -       _personal_count_final()
 -       -       -       -       -       -       _personal_count_serialize()
 -       -       -       -       -       -       _personal_count_transition()
 -       -       -       -       -       -       _personal_head()
 -       -       -       -       -       -       _personal_left()
 -       -       -       -       -       -       _personal_list()
 -       -       -       -       -       -       _personal_number()
 -       -       -       -       -       -       _personal_pay()
 -       -       -       -       -       -       _personal_run()
 -       -       -       -       -       -       _personal_spent()
 -       -       -       -       -       -       _personal_units()
 -       -       -       -       -       -       _set_personal_budget()
 X       X       X       X       X       X       _personal_count()
 X       X       X       X       X       X       _personal_paid()
 -       -       -       -       -       -       _protection_of()
 -       -       -       -       -       -       _quantile_combine()
 -       -       -       -       -       -       _quantile_deserialize()
 -       -       -       -       -       -       _quantile_final()
 -       -       -       -       -       -       _quantile_serialize()
 -       -       -       -       -       -       _quantile_transition()
 -       -       -       -       -       -       _refuse()
 -       -       -       -       -       -       _relations_of_view()
 -       -       -       -       -       -       _release()
 -       -       -       -       -       -       _roles_of()
 -       -       -       -       -       -       _sum_combine()
 -       -       -       -       -       -       _sum_deserialize()
 -       -       -       -       -       -       _sum_final()
 -       -       -       -       -       -       _sum_serialize()
 -       -       -       -       -       -       _sum_transition()
 -       -       -       -       -       -       _tree_calls()
 -       -       -       -       -       -       _tree_columns()
 -       -       -       -       -       -       _tree_conditions()
 -       -       -       -       -       -       _constrained_columns()
 -       -       -       -       -       -       _implied()
 -       -       -       -       -       -       _listed_by()
 -       -       -       -       -       -       _tree_is_union()
 -       -       -       -       -       -       _unique_combinations()
 -       -       -       -       -       -       _view_definition()
"""

ROW = re.compile("^" + " +([-UCXrawdDxt]+)" * len(GROUPS) + " +(.+)$", re.MULTILINE)
ACTUAL = """
    SELECT 'schema ' || nspname, CASE WHEN has_schema_privilege(%(role)s, oid, 'USAGE') THEN 'U' ELSE '' END
        || CASE WHEN has_schema_privilege(%(role)s, oid, 'CREATE') THEN 'C' ELSE '' END
    FROM pg_namespace WHERE nspname = 'discreet'
    UNION
    SELECT 'language ' || lanname, CASE WHEN has_language_privilege(%(role)s, oid, 'USAGE') AND lanpltrusted
        THEN 'U' ELSE '' END
    FROM pg_language WHERE lanname = 'discreet_python'
    UNION
    SELECT proname || '()', CASE WHEN has_function_privilege(%(role)s, oid, 'EXECUTE') THEN 'X' ELSE '' END
    FROM pg_proc WHERE pronamespace = 'discreet'::regnamespace
    UNION
    SELECT relname, (
        SELECT coalesce(string_agg(letter, ''), '')
        FROM (VALUES ('SELECT', 'r'), ('INSERT', 'a'), ('UPDATE', 'w'), ('DELETE', 'd'), ('TRUNCATE', 'D'),
                     ('REFERENCES', 'x'), ('TRIGGER', 't')) privilege(name, letter)
        WHERE has_table_privilege(%(role)s, oid, name)
           OR (letter IN ('r', 'a', 'w', 'x') AND has_any_column_privilege(%(role)s, oid, name)))
    FROM pg_class WHERE relnamespace = 'discreet'::regnamespace AND relkind NOT IN ('i', 'I', 'c', 't')
"""


def test_each_group_may_do_what_the_table_says(admin: Connection, make_role: MakeRole) -> None:
    actual: dict[str, list[str]] = {}
    for group in GROUPS:
        role = make_role("anybody") if group == "PUBLIC" else f"discreet_{group}"
        for name, privileges in admin.execute(ACTUAL, {"role": role}).fetchall():
            actual.setdefault(str(name), []).append(str(privileges) or "-")
    rows = ROW.findall(EXPECTED)
    expected = {row[-1]: list(row[:-1]) for row in rows}
    assert len(expected) == len(rows), "a row is there twice"
    assert actual == expected


def test_a_group_is_a_member_of_no_other_group(admin: Connection) -> None:
    # otherwise the columns of the table above would say less than they seem to
    members = admin.execute(
        "SELECT member::regrole::text, roleid::regrole::text FROM pg_auth_members"
        " WHERE member::regrole::text LIKE 'discreet\\_%' ORDER BY 1"
    )
    assert members.fetchall() == []


def test_what_the_extension_adds_is_in_its_schema_only(admin: Connection) -> None:
    outside = admin.execute(
        """
        SELECT pg_describe_object(classid, objid, objsubid) FROM pg_depend d
        JOIN pg_extension e ON e.oid = d.refobjid AND d.refclassid = 'pg_extension'::regclass
        WHERE d.deptype = 'e' AND e.extname = 'discreet'
          AND (pg_identify_object(classid, objid, objsubid)).schema IS DISTINCT FROM 'discreet'
        ORDER BY 1
        """
    )
    assert [name for (name,) in outside.fetchall()] == [
        "event trigger discreet_load_before_ddl",
        "language discreet_python",
        "language discreet_worker",
        "schema discreet",
    ]


def test_everything_has_a_comment(admin: Connection) -> None:
    silent = admin.execute(
        """
        SELECT oid::regprocedure::text FROM pg_proc
        WHERE pronamespace = 'discreet'::regnamespace AND obj_description(oid, 'pg_proc') IS NULL
        UNION ALL
        SELECT oid::regclass::text FROM pg_class
        WHERE relnamespace = 'discreet'::regnamespace AND relkind IN ('r', 'v', 'm', 'p', 'S')
          AND obj_description(oid, 'pg_class') IS NULL
        """
    )
    assert silent.fetchall() == []


def test_the_body_of_every_python_function_compiles(admin: Connection) -> None:
    # CREATE EXTENSION does not check them
    checked = admin.execute(
        """
        SELECT proname, plpython3_validator(p.oid) FROM pg_proc p JOIN pg_language l ON l.oid = p.prolang
        WHERE pronamespace = 'discreet'::regnamespace AND lanname IN ('discreet_python', 'plpython3u')
        """
    ).fetchall()
    assert len(checked) >= 10


def test_the_body_of_every_other_function_is_valid(admin: Connection) -> None:
    checked = admin.execute(
        """
        SELECT proname, CASE lanname WHEN 'sql' THEN fmgr_sql_validator(p.oid)
                                     WHEN 'c' THEN fmgr_c_validator(p.oid) ELSE plpgsql_validator(p.oid) END
        FROM pg_proc p JOIN pg_language l ON l.oid = p.prolang
        WHERE pronamespace = 'discreet'::regnamespace AND lanname IN ('sql', 'c', 'plpgsql')
        """
    ).fetchall()
    assert len(checked) >= 10
