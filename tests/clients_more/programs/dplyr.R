# dplyr over dbplyr: tables, verbs that become SQL.
suppressMessages({library(DBI); library(dplyr, warn.conflicts = FALSE); library(dbplyr, warn.conflicts = FALSE)})
options(warn = -1)
phase <- commandArgs(TRUE)[1]
store <- dbConnect(RPostgreSQL::PostgreSQL(), host = Sys.getenv("PGHOST"), port = as.integer(Sys.getenv("PGPORT")),
                   user = Sys.getenv("PGUSER"), dbname = "store")
customer <- tbl(store, in_schema("store", "customer"))
purchase <- tbl(store, in_schema("store", "purchase"))
rows_of <- function(query) nrow(collect(query))
phases <- list(
  look = list(
    tables = function() paste(dbListTables(store), collapse = " "),
    columns = function() paste(tbl_vars(customer), collapse = " ")),
  ask = list(
    count = function() pull(count(customer), n),
    groups = function() rows_of(customer %>% group_by(city) %>% summarise(n = n(), mean = mean(rating, na.rm = TRUE))),
    mutate = function() rows_of(customer %>% mutate(old = rating > 3) %>% count(old)),
    twice = function() rows_of(customer %>% mutate(a = rating * 2) %>% mutate(b = a + 1) %>% summarise(m = mean(b, na.rm = TRUE))),
    join = function() rows_of(purchase %>% inner_join(customer, by = c("customer_id" = "id")) %>% group_by(city) %>%
      summarise(total = sum(amount, na.rm = TRUE))),
    months = function() rows_of(purchase %>% mutate(m = date_trunc("month", bought)) %>% count(m)),
    cut = function() rows_of(customer %>% mutate(k = cut(height, c(0, 1.6, 1.8, 3))) %>% count(k)),
    people = function() pull(purchase %>% summarise(n = n_distinct(customer_id)), n),
    kept = function() rows_of(customer %>% count(city) %>% compute(name = "mine"))),
  rows = list(
    "head()" = function() collect(head(customer)),
    "glimpse()" = function() glimpse(customer)))
told <- lapply(phases[[phase]], function(call) {
  if (phase == "rows") tryCatch({call(); "answered"}, error = function(e) paste(conditionMessage(e), collapse = " ")) else call()
})
quoted <- function(text) paste0('"', gsub("\n", " ", gsub('(["\\\\])', "\\\\\\1", text)), '"')
cat("\n{", paste(quoted(names(told)), vapply(told, function(x) quoted(paste(x, collapse = " ")), ""), sep = ": ", collapse = ", "),
    "}\n", sep = "")
