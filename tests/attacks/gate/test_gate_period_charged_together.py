"""One month asked about by many sessions at once, and along with another that cannot pay."""

from concurrent.futures import ThreadPoolExecutor

import psycopg
import pytest
from tests.attacks.gate.periods import JANUARY, Shop


def test_no_month_pays_more_than_it_has(shop: Shop) -> None:
    codes = set[str | None]()

    def one(_: int) -> int:
        connection, answered = shop.connect(), 0
        for _ in range(3):
            try:
                shop.ask(f"SELECT count(*) FROM shop.visit WHERE {JANUARY}", 3, connection)
                answered += 1
            except psycopg.Error as error:
                codes.add(error.sqlstate)
        return answered

    with ThreadPoolExecutor(6) as threads:
        assert sum(threads.map(one, range(6))) == 6
    assert codes == {"DP003"}
    assert shop.spent() == {"2026-01-01": 18}


def test_all_months_of_a_question_pay_or_none(shop: Shop) -> None:
    shop.run_dry()
    with pytest.raises(psycopg.Error, match="exhausted in 2026-01-01"):
        shop.ask("SELECT count(*) FROM shop.visit WHERE at >= '2026-01-05' AND at < '2026-03-05'", 1)
    assert shop.spent() == {"2026-01-01": 20}
