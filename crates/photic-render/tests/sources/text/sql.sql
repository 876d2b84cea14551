-- Who bought most?
SELECT c.name, COUNT(*) AS orders, SUM(o.total) AS spent
FROM customers c
LEFT JOIN orders o ON o.customer_id = c.id
WHERE o.created_at >= '2026-01-01'
GROUP BY c.name
HAVING COUNT(*) > 3
ORDER BY spent DESC
LIMIT 10;
