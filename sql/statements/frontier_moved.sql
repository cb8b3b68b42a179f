SELECT url, target FROM asked WHERE state = 2 AND outcome = 'redirect' AND status IN (301, 308) ORDER BY url
