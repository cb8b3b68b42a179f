UPDATE asked SET depth = (SELECT min(named.depth) FROM named WHERE key = substr(url, instr(url, '//')))
WHERE state = 0 AND depth > (SELECT min(named.depth) FROM named WHERE key = substr(url, instr(url, '//')))
