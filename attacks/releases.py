"""Releases: what is given away is attacked without the database, by public knowledge.

Settings: the rows as they are but for names; what one would do first; and what discreet's functions write.
"""

from __future__ import annotations

from collections.abc import Callable
from secrets import randbelow

from attacks.attack import Attack, Count, Ending, Family, Outcome
from attacks.census import LEAVES, blocks, empty_cells, known_from
from attacks.office import Office

SETTINGS = ("as it is", "naive", "discreet")
ONE = "there is one release"

BUILD = """
    CREATE SCHEMA releases; SET search_path = releases, public;
    CREATE TABLE patient AS
    SELECT n AS id, 'person ' || n AS name, date '1940-01-01' + n * 97 % 14000 AS born,
           (ARRAY['m', 'f'])[1 + n % 2] AS sex, '021' || 30 + n * 31 % 13 AS zip, 'd' || n % 5 AS disease
    FROM generate_series(1, 500) n;
    CREATE TABLE case_ AS
    SELECT 20 + n % 40 AS age,
           CASE WHEN n % 40 / 10 = 1 THEN 'cancer' WHEN n % 40 / 10 = 2 THEN (ARRAY['heart', 'virus'])[1 + n / 40 % 2]
                ELSE 'd' || n / 40 % 4 END AS disease
    FROM generate_series(0, 399) n;
    CREATE TABLE test AS
    SELECT 20 + n % 20 AS age, CASE WHEN n % 20 = 10 AND n / 20 % 2 = 0 OR n < 20 THEN 'pos' ELSE 'neg' END AS disease
    FROM generate_series(0, 1999) n;
    CREATE TABLE asked AS SELECT n AS id FROM generate_series(1, 40) n;
    CREATE TABLE alone AS
    SELECT CASE WHEN n = 0 THEN 40 WHEN n <= 20 THEN 25 ELSE 55 END AS age,
           CASE WHEN n = 0 THEN 'rare' ELSE 'd' || n % 3 END AS disease
    FROM generate_series(0, 40) n;
    SELECT discreet.create_secret('people'), discreet.create_secret('rounding');
"""
# a row may be that of a person who is known by birthday, sex and zip code
FITS = """
    (r.born IN (v.born::text, '*', to_char(v.born, 'YYYY-MM'), to_char(v.born, 'YYYY'))
     OR r.born = to_char(v.born, 'YYYY')::int / 10 || '0s')
    AND r.sex IN (v.sex, '*') AND v.zip LIKE rtrim(r.zip, '*') || '%'
"""
LINKED = {
    "as it is": "SELECT born::text, sex, zip FROM patient",
    "naive": "SELECT to_char(born, 'YYYY-MM') AS born, sex, left(zip, 4) || '*' AS zip FROM patient",
    "discreet": "SELECT born, sex, zip FROM linked",
}
ANONYMIZED = """
    SELECT discreet.anonymize('{table}', '{release}', '{columns}', {k}{more}, sensitive => 'disease')
"""
BORN = '{"born": {"truncate": ["month", "year", "decade"]}, "sex": "suppress", "zip": {"digits": 5}}'
AGES = '{"age": {"intervals": [5, 10, 20]}}'
NAMED = {
    "as it is": "name",
    "naive": "md5(name)",
    "discreet": "discreet.pseudonym(name, 'people')",
}
ROUNDED = {
    "as it is": "count(*)",
    "naive": "10 * floor(count(*) / 10.0 + random())",
    "discreet": "discreet.random_round(count(*), 10, discreet.cell_key(discreet.record_key(id, 'rounding')))",
}
# a row may be that of a person of this age
AGE = """
    CASE WHEN r.age LIKE '%-%' THEN v.age BETWEEN split_part(r.age, '-', 1)::int AND split_part(r.age, '-', 2)::int
         ELSE r.age IN (v.age::text, '*') END
"""
CROSSED = """
    SELECT coalesce(sex, 'Total'), coalesce(age, 'Total'), coalesce(origin, 'Total'), {}
    FROM block GROUP BY GROUPING SETS ((sex, age), (sex, origin), (age, origin))
"""


class Publisher:
    """Publishes, and looks at it as an attacker would."""

    def __init__(self, office: Office) -> None:
        self.admin = office.admin
        self.number = 0
        self.admin.execute(f"SET client_min_messages = warning; {BUILD}".encode())

    def value(self, query: str) -> int:
        row = self.admin.execute(query.encode()).fetchone()
        assert row is not None
        return int(row[0])

    def publish(self, table: str, release: str, columns: str, k: int, more: str = "") -> None:
        call = ANONYMIZED.replace("{columns}", columns).replace("{table}", f"releases.{table}")
        call = call.replace("{release}", f"releases.{release}").replace("{k}", str(k)).replace("{more}", more)
        self.admin.execute(call.encode())

    def linkage(self, setting: str) -> Outcome:
        if setting == "discreet":
            self.publish("patient", "linked", BORN, 5)
        found = self.value(
            f"SELECT count(*) FROM patient v WHERE (SELECT count(*) FROM ({LINKED[setting]}) r WHERE {FITS}) = 1"
        )
        return Outcome(self.value("SELECT count(*) FROM patient"), found)

    def dictionary(self, setting: str) -> Outcome:
        """A list of all names is put through every hash that the attacker can compute."""
        published = f"SELECT {NAMED[setting]} AS person FROM patient"
        guesses = "SELECT name AS guess FROM patient UNION ALL SELECT md5(name) FROM patient"
        found = self.value(f"SELECT count(*) FROM ({published}) r JOIN ({guesses}) v ON r.person = v.guess")
        return Outcome(self.value("SELECT count(*) FROM patient"), found)

    def certain(self, left: int, protections: str) -> Callable[[str], Outcome]:
        """Those whose class has no more diseases than an attacker needs not rule out."""

        def count(setting: str) -> Outcome:
            released = "SELECT age::text, disease FROM case_"
            if setting != "as it is":
                self.number += 1
                more = protections if setting == "discreet" else ""
                self.admin.execute(f"CREATE TABLE case_{self.number} AS TABLE case_")
                self.publish(f"case_{self.number}", f"sick_{self.number}", AGES, 10, more)
                released = f"SELECT age::text, disease FROM sick_{self.number}"
            found = self.value(
                "SELECT count(*) FROM case_ v WHERE"
                f" (SELECT count(DISTINCT disease) FROM ({released}) r WHERE {AGE}) BETWEEN 1 AND {left}"
            )
            return Outcome(self.value("SELECT count(*) FROM case_"), found)

        return count

    def likelier(self, setting: str) -> Outcome:
        """Those who are in a class in which the share of positives is more than 0.05 above that of the table."""
        released = "SELECT age::text, disease FROM test"
        if setting != "as it is":
            self.admin.execute(f"CREATE TABLE test_{setting} AS TABLE test")
            self.publish(
                f"test_{setting}", f"tested_{setting}", AGES, 20, ", l => 2" + (", t => 0.05" * (setting == "discreet"))
            )
            released = f"SELECT age::text, disease FROM tested_{setting}"
        positive = "avg((disease = 'pos')::int)"
        found = self.value(
            f"SELECT count(*) FROM test v WHERE (SELECT {positive} FROM ({released}) r WHERE {AGE})"
            f" > (SELECT {positive} + 0.05 FROM test)"
        )
        return Outcome(self.value("SELECT count(*) FROM test"), found)

    def differencing(self, setting: str) -> Ending:
        """Two releases of the same people, each with classes of 20."""
        self.number += 1
        one, two, table = f"one_{self.number}", f"two_{self.number}", f"alone_{self.number}"
        self.admin.execute(f"CREATE TABLE {table} AS TABLE alone")
        for name, cut in ((one, 45), (two, 35)):
            if setting == "discreet":
                self.publish(table, name, f'{{"age": {{"ranges": [[{cut}]]}}}}', 10, ", max_suppression => 0")
            else:
                age = f"CASE WHEN age < {cut} THEN '<{cut}' ELSE '>={cut}' END AS age"
                self.admin.execute(f"CREATE TABLE {name} AS SELECT {age}, disease FROM {table}".encode())
        difference = (
            f"SELECT disease FROM {one} WHERE age = '<45' EXCEPT ALL SELECT disease FROM {two} WHERE age = '<35'"
        )
        learned = self.admin.execute(difference.encode()).fetchall()
        return Ending.LEARNED if learned == [("rare",)] else Ending.WRONG

    def rounding(self, setting: str) -> Ending:
        """A count, from the mean of 400 answers to the same question in other words."""
        people = 1 + 10 * randbelow(4) + randbelow(9)
        query = f"SELECT {ROUNDED[setting]} FROM asked WHERE id + 0 * %s <= {people}"
        answers = [float(self.admin.execute(query.encode(), [n]).fetchall()[0][0]) for n in range(400)]
        return Ending.LEARNED if round(sum(answers) / len(answers)) == people else Ending.WRONG

    def census(self, setting: str) -> Ending:
        """All inhabitants of a block of some thirty people, one or two of whom are alone in their cell."""
        block = (1 + randbelow(2), *(randbelow(2) * (1 + randbelow(8)) for _ in LEAVES[1:]))
        self.number += 1
        self.admin.execute(
            "DROP TABLE IF EXISTS block; CREATE TABLE block (id serial, sex text, age text, origin text)"
        )
        for leaf, people in zip(LEAVES, block, strict=True):
            self.admin.execute(
                f"INSERT INTO block (sex, age, origin) SELECT %s, %s, %s FROM generate_series(1, {people})".encode(),
                leaf,
            )
        if setting == "discreet":
            table = f"cells_{self.number}"
            self.admin.execute(
                f"SELECT discreet.suppress('releases.block', '{{sex,age,origin}}', NULL, 3, 'releases.{table}')"
            )
            query, slack = f"SELECT sex, age, origin, count FROM {table} WHERE count IS NOT NULL", 0
        elif setting == "naive":
            query, slack = CROSSED.replace("{}", "3 * floor(count(*) / 3.0 + random())"), 2
        else:
            query, slack = CROSSED.replace("{}", "count(*)"), 0
        rows = [(str(a), str(b), str(c), int(n)) for a, b, c, n in self.admin.execute(query.encode()).fetchall()]
        known = known_from(rows, slack)
        if setting != "discreet":
            known += empty_cells(known)
        return Ending.LEARNED if list(blocks(known, most=2)) == [block] else Ending.WRONG


def attacks(office: Office) -> Family:
    publisher = Publisher(office)
    return Family(
        "Releases",
        "Of all people in a table: who is found, or whose disease is certain; one count; or a whole block.",
        SETTINGS,
        (
            Count("linkage with a second table that has names", publisher.linkage),
            Count("a list of all names put through the pseudonym function", publisher.dictionary),
            Count("homogeneity: all of a class have the same disease", publisher.certain(1, ", l => 3")),
            Count("background knowledge: a value can be ruled out", publisher.certain(2, ", l => 3")),
            Count("skewness: a class is far likelier to be positive than others", publisher.likelier),
            Attack("differencing: one release less another", publisher.differencing, {"as it is": ONE}, 5),
            Attack("a rounded count asked for again and again", publisher.rounding, most=10),
            Attack("census-style reconstruction of a small block from its tables", publisher.census, most=10),
        ),
    )  # fmt: skip
