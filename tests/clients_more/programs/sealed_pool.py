"""A pool of psycopg whose connections open a key: the snippet of docs/sealed.md comes on standard input."""

import sys

import psycopg
from psycopg_pool import ConnectionPool

shown = {"ConnectionPool": ConnectionPool, "os": __import__("os")}
exec(compile(sys.stdin.read(), "docs/sealed.md", "exec"), shown)
with shown["pool"] as pool:
    pool.wait()
    for _ in range(3):
        with pool.connection() as connection:
            pid = connection.info.backend_pid
            salary = connection.execute("SELECT salary FROM shop.customer WHERE ssn = '123-45-6789'").fetchone()
            print("open:", salary)
    with pool.connection() as connection:
        connection.execute("INSERT INTO shop.customer (name, ssn, salary) VALUES ('pooled', 'pool-1', 77)")
    # a connection that the pool makes in place of one that has ended opens the key, too
    try:
        with pool.connection() as connection:
            ended = connection.info.backend_pid
            connection.execute("SELECT pg_terminate_backend(pg_backend_pid())")
    except psycopg.OperationalError:
        pass
    pool.check()
    with pool.connection() as connection:
        found = connection.execute("SELECT name, salary FROM shop.customer WHERE ssn = 'pool-1'").fetchone()
        print("again:", found)
