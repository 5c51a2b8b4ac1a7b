"""The owner of an index has code in it, which runs when somebody with the key analyses or reindexes the table."""

from __future__ import annotations

from tests.databases import MakeRole
from tests.sealed import SECRET, Shop, one

BAIT = """
    CREATE TABLE public.stolen (value text);
    CREATE TABLE public.bait (id int);
    INSERT INTO public.bait SELECT generate_series(1, 5);
    CREATE FUNCTION public.put(id int) RETURNS int VOLATILE LANGUAGE plpgsql AS $$ BEGIN
        INSERT INTO public.stolen SELECT c.ssn FROM shop.customer c WHERE c.id = $1; RETURN $1; END $$;
    CREATE FUNCTION public.steal(id int) RETURNS int IMMUTABLE LANGUAGE sql AS $$ SELECT public.put($1) $$;
    CREATE INDEX ON public.bait (public.steal(id));
"""


def test_it_reads_null(shop: Shop, make_role: MakeRole) -> None:
    mallory = make_role("mallory")
    admin = shop.database.connect()
    admin.execute(f"GRANT CREATE ON SCHEMA public TO {mallory}; GRANT SELECT ON shop.customer TO {mallory}")
    thief = shop.database.connect(mallory)
    thief.execute(BAIT)
    admin.execute("SELECT discreet.open_key('k', %s)", [SECRET])
    assert one(admin, "SELECT public.put(1)") == 1
    assert one(thief, "SELECT count(value) FROM public.stolen") == 1, "called by somebody with the key it reads values"
    for maintain in ("ANALYZE public.bait", "REINDEX TABLE public.bait", "VACUUM FULL public.bait"):
        admin.execute(maintain.encode())
    assert one(thief, "SELECT count(*) > 10, count(value) FROM public.stolen") == (True, 1)


def test_a_materialised_view_stores_no_value(shop: Shop) -> None:
    carol = shop.connect(shop.curator)
    carol.execute("CREATE MATERIALIZED VIEW shop.copy AS SELECT id, ssn, salary FROM shop.customer")
    carol.execute("REFRESH MATERIALIZED VIEW shop.copy")
    assert one(carol, "SELECT count(*), count(ssn), count(salary) FROM shop.copy") == (20, 0, 0)
