-- For rows of a domain that another process is writing to.
SET LOCAL lock_timeout = '60s';
