SELECT outcome, target FROM asked WHERE url IN (?, ?)
