CREATE INDEX IF NOT EXISTS asked_url ON asked (url)
