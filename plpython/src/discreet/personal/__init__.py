"""Personal budgets: each person whom a question selects pays from an epsilon of their own (policy 'personal').

After Ebadi, Sands and Schneider, "Differential Privacy: Now it's Getting Personal" (POPL 2015). A question of epsilon e
has noise for one row. Who has k rows in it, at most `max_rows` of which count in a group, pays k · e before it is
answered, and takes no part when that is more than what is left.

What a person loses is at most the own budget. Take two databases, with and without the rows of p, and the same
questions. What every other person pays and has left depends on their own rows and on the questions alone, so they take
part alike in both. A question in which p takes part, with k rows that count, has an answer that is e-private for one
row, hence k · e-private for p by group privacy, and p has paid that; one in which p takes no part has the same
distribution in both. By sequential composition, also of questions that depend on answers before, the loss of p is
at most what p has paid in all, which the ledger keeps below the budget.
"""
