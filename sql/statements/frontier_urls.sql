SELECT url FROM asked
