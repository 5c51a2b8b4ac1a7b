select c.city, c.customers - t.target as over_target from {{ ref('customers_by_city') }} c join {{ ref('targets') }} t using (city)
