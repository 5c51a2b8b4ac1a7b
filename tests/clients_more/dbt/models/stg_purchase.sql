{{ config(materialized='view') }}
select id as purchase_id, customer_id, bought, amount, paid_by from {{ source('store', 'purchase') }}
