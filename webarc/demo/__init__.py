"""A demonstration: a sample web site, crawled twice, and a tour of what webarc made of it."""
