UPDATE asked SET state = 2, url = ?, outcome = ?, status = ?, error = ?, target = ?, mark = ?, size = ? WHERE id = ?
