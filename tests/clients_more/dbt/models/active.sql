{{ config(materialized='materialized_view') }}
select city, avg(rating) as rating from {{ ref('stg_active') }} group by city
