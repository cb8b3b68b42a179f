UPDATE asked SET error = ? WHERE url = ? AND outcome = 'unchanged' AND error = ''
