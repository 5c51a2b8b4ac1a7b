{{ config(materialized='view') }}
select * from {{ source('store', 'customer') }}
