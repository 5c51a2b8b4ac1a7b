{{ config(materialized='view') }}
with customers as (select * from {{ ref('stg_customer') }}) select id as customer_id, city, rating from customers where active
