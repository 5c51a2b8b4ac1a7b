// knex, Drizzle, postgres.js and Sequelize.
import { createRequire } from "node:module";
const require = createRequire(process.env.NODE_FOLDER + "/");
const { PGHOST: host, PGPORT: port, PGUSER: user } = process.env;
const [tool, phase] = process.argv.slice(2);
const text = (value) => JSON.stringify(value, (_, v) => (typeof v === "bigint" ? String(v) : v));

const tools = {
  knex: () => {
    const knex = require("knex")({ client: "pg", connection: { host, port, user, database: "store" }, searchPath: ["store"] });
    return {
      end: () => knex.destroy(),
      look: { table: () => knex.schema.hasTable("customer"), columns: async () => Object.keys(await knex("customer").columnInfo()) },
      ask: {
        count: () => knex("customer").count("* as n"),
        groups: () => knex("customer").select("city").count("* as n").avg("rating as mean").where("active", true).groupBy("city").orderBy("n"),
        join: () => knex("purchase as p").join("customer as c", "c.id", "p.customer_id").select("c.city").sum("p.amount").groupBy("c.city"),
        months: async () => (await knex.raw("SELECT date_trunc('month', bought), count(*) FROM purchase WHERE bought > ? GROUP BY 1", ["2026-02-01"])).rows.length,
        choices: () => knex("customer").distinct("city").pluck("city"),
      },
      rows: { "limit(3)": () => knex("customer").limit(3) },
    };
  },
  "postgres.js": () => {
    const sql = require("postgres")({ host, port, user, database: "store", path: `${host}/.s.PGSQL.${port}`, onnotice() {} });
    return {
      end: () => sql.end(),
      look: { columns: async () => (await sql`SELECT * FROM store.customer LIMIT 0`).columns.map((column) => column.name) },
      ask: {
        groups: () => sql`SELECT city, count(*) AS n FROM store.customer WHERE rating > ${2} GROUP BY city`,
        list: () => sql`SELECT count(*) FROM store.customer WHERE city IN ${sql(["Bath", "York"])}`,
        array: () => sql`SELECT count(*) FROM store.customer WHERE city = ANY (${["Bath", "York"]})`,
        cursor: async () => { let n = 0; for await (const _ of sql`SELECT city, count(*) FROM store.customer GROUP BY city`.cursor(1)) n++; return n; },
        transaction: () => sql.begin(async (s) => [await s`SELECT count(*) FROM store.customer`, await s`SELECT count(*) FROM store.customer`]),
      },
      rows: { "SELECT *": () => sql`SELECT * FROM store.customer LIMIT 1` },
    };
  },
  Drizzle: () => {
    const sql = require("postgres")({ host, port, user, database: "store", path: `${host}/.s.PGSQL.${port}`, onnotice() {} });
    const { pgSchema, integer, text, numeric, boolean, timestamp } = require("drizzle-orm/pg-core");
    const { avg, count, countDistinct, eq, gt, sum, sql: raw } = require("drizzle-orm");
    const db = require("drizzle-orm/postgres-js").drizzle(sql);
    const store = pgSchema("store");
    const customer = store.table("customer", { id: integer().primaryKey(), city: text(), active: boolean(), rating: integer() });
    const purchase = store.table("purchase", { customerId: integer("customer_id"), bought: timestamp(), amount: numeric() });
    return {
      end: () => sql.end(),
      look: { columns: () => db.select().from(customer).where(raw`0 = 1`) },
      ask: {
        count: () => db.$count(customer),
        groups: () => db.select({ city: customer.city, n: count(), mean: avg(customer.rating) }).from(customer).where(gt(customer.rating, 1)).groupBy(customer.city),
        join: () => db.select({ city: customer.city, total: sum(purchase.amount), people: countDistinct(purchase.customerId) }).from(purchase)
          .innerJoin(customer, eq(purchase.customerId, customer.id)).groupBy(customer.city),
        months: () => db.select({ m: raw`date_trunc('month', ${purchase.bought})`, n: count() }).from(purchase).groupBy(raw`1`),
        subquery: () => { const q = db.select().from(customer).as("q"); return db.select({ n: count() }).from(q); },
      },
      rows: { "select()": async () => { try { return await db.select().from(customer).limit(1); } catch (error) { throw error.cause ?? error; } } },
    };
  },
  Sequelize: () => {
    const { Sequelize, DataTypes, fn, col } = require("sequelize");
    const db = new Sequelize("store", user, "", { host, port, dialect: "postgres", logging: false });
    const customer = db.define("customer", { city: DataTypes.TEXT, rating: DataTypes.INTEGER }, { schema: "store", tableName: "customer", timestamps: false });
    return {
      end: () => db.close(),
      look: { columns: async () => Object.keys(await db.getQueryInterface().describeTable("customer", "store")) },
      ask: {
        count: () => customer.count(),
        groups: () => customer.findAll({ attributes: ["city", [fn("COUNT", col("id")), "n"]], group: "city", raw: true }),
        mean: () => customer.aggregate("rating", "avg"),
      },
      rows: { "findAndCountAll()": () => customer.findAndCountAll({ limit: 1 }) },
    };
  },
};

const { end, ...phases } = tools[tool]();
const told = {};
for (const [name, call] of Object.entries(phases[phase])) {
  if (phase !== "rows") told[name] = text(await call());
  else try { told[name] = "answered: " + text(await call()); } catch (error) { told[name] = error.message; }
}
console.log("\n" + JSON.stringify(told));
await end();
