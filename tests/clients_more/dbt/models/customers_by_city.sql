select city, count(*) as customers, avg(rating) as rating from {{ ref('stg_customer') }} group by city
