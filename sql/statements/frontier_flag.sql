UPDATE asked SET error = ? WHERE id = ? AND outcome IN ('stored', 'unchanged') AND error = ''
