{{ config(materialized='incremental', unique_key='month') }}
select date_trunc('month', bought) as month, sum(amount) as amount from {{ ref('stg_purchase') }} group by 1
