-- Products, suppliers, countries, regions and days are public.
SELECT discreet.create_dataset('customers', 1000, 0.01);
SELECT discreet.protect('shop.customer', 'customer_id', 'customers');
SELECT discreet.protect('shop.orders', 'customer_id', 'customers', max_rows => 8, max_groups => 6);
SELECT discreet.protect('shop.item', 'order_id -> shop.orders.customer_id', 'customers', max_rows => 30, max_groups => 8);
SELECT discreet.protect('shop.complaint', 'item_id -> shop.item.order_id -> shop.orders.customer_id', 'customers',
                        max_rows => 12, max_groups => 4);
SELECT discreet.protect('shop.event', 'customer_id', 'customers', max_rows => 10, max_groups => 10);
SELECT discreet.protect(t, NULL, policy => 'public')
FROM unnest('{shop.region, shop.country, shop.supplier, shop.product, shop.stock, shop.day}'::regclass[]) t;
SELECT discreet.describe_column('shop.customer', 'balance', -1000, 2000);
SELECT discreet.describe_column('shop.customer', 'segment', categories => '{home, work}');
SELECT discreet.describe_column('shop.customer', 'name', visibility => 'hidden');
SELECT discreet.describe_column('shop.orders', 'status', categories => '{open, done}');
SELECT discreet.describe_column('shop.orders', 'priority', categories => '{high, low}');
SELECT discreet.describe_column('shop.item', 'quantity', 0, 50);
SELECT discreet.describe_column('shop.item', 'amount', 0, 1000);
SELECT discreet.describe_column('shop.item', 'discount', 0, 0.1);
SELECT discreet.describe_column('shop.item', 'flag', categories => '{A, N, R}');
SELECT discreet.describe_column('shop.item', 'ship_mode', categories => '{air, rail, ship}');
SELECT discreet.describe_column('shop.complaint', 'refund', 0, 10);
SELECT discreet.describe_column('shop.stock', 'cost', 0, 30);
SELECT discreet.describe_column('shop.event', 'kind', categories => '{view, cart, checkout, pay}');
SELECT discreet.describe_column('shop.event', 'spent', 0, 100);
