UPDATE asked SET outcome = 'filtered', error = ? WHERE id = ?
