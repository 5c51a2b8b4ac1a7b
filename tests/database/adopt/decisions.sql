-- Decision support, in the manner of TPC-H; keys as its specification has them.
CREATE SCHEMA dss;
CREATE TABLE dss.region (r_regionkey int PRIMARY KEY, r_name char(25) NOT NULL, r_comment varchar(152));
CREATE TABLE dss.nation (
    n_nationkey int PRIMARY KEY, n_name char(25) NOT NULL, n_regionkey int NOT NULL REFERENCES dss.region);
CREATE TABLE dss.part (p_partkey int PRIMARY KEY, p_name varchar(55), p_brand char(10), p_retailprice numeric(15,2));
CREATE TABLE dss.supplier (
    s_suppkey int PRIMARY KEY, s_name char(25), s_nationkey int NOT NULL REFERENCES dss.nation, s_acctbal numeric(15,2));
CREATE TABLE dss.partsupp (
    ps_partkey int REFERENCES dss.part, ps_suppkey int REFERENCES dss.supplier, ps_availqty int, ps_supplycost numeric(15,2),
    PRIMARY KEY (ps_partkey, ps_suppkey));
CREATE TABLE dss.customer (
    c_custkey int PRIMARY KEY, c_name varchar(25) NOT NULL, c_address varchar(40), c_nationkey int NOT NULL REFERENCES dss.nation,
    c_phone char(15), c_acctbal numeric(15,2) CHECK (c_acctbal BETWEEN -1000 AND 10000),
    c_mktsegment char(10) NOT NULL CHECK (c_mktsegment IN ('AUTOMOBILE', 'BUILDING', 'FURNITURE', 'MACHINERY', 'HOUSEHOLD')),
    c_comment varchar(117));
CREATE TABLE dss.orders (
    o_orderkey int PRIMARY KEY, o_custkey int NOT NULL REFERENCES dss.customer,
    o_orderstatus char(1) NOT NULL CHECK (o_orderstatus IN ('F', 'O', 'P')), o_totalprice numeric(15,2),
    o_orderdate date NOT NULL CHECK (o_orderdate BETWEEN '1992-01-01' AND '1998-12-31'), o_comment varchar(79));
CREATE TABLE dss.lineitem (
    l_orderkey int REFERENCES dss.orders, l_linenumber int, l_partkey int, l_suppkey int,
    l_quantity numeric(15,2) CHECK (l_quantity >= 0 AND l_quantity <= 50), l_discount numeric(3,2) CHECK (l_discount >= 0),
    l_returnflag char(1) CHECK (l_returnflag IN ('A', 'N', 'R')), l_shipdate date,
    PRIMARY KEY (l_orderkey, l_linenumber), FOREIGN KEY (l_partkey, l_suppkey) REFERENCES dss.partsupp);
INSERT INTO dss.region VALUES (1, 'EUROPE');
INSERT INTO dss.nation VALUES (1, 'FRANCE', 1), (2, 'GERMANY', 1);
INSERT INTO dss.customer
SELECT n, 'customer ' || n, 'street', 1 + n % 2, '11-22', n % 5000, (ARRAY['BUILDING', 'FURNITURE'])[1 + n % 2], 'c'
FROM generate_series(1, 3000) n;
INSERT INTO dss.orders
SELECT c * 4 + k, c, (ARRAY['F', 'O'])[1 + k % 2], 100, '1995-01-01', 'c'
FROM generate_series(1, 3000) c, generate_series(0, 3) k WHERE k <= c % 4;
INSERT INTO dss.lineitem (l_orderkey, l_linenumber, l_quantity, l_discount, l_returnflag, l_shipdate)
SELECT o_orderkey, k, 10 + k, 0.05, 'N', '1995-02-01' FROM dss.orders, generate_series(1, 2) k;
