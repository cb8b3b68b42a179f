UPDATE asked SET kind = 'requisite'
WHERE state = 0 AND kind <> 'start' AND substr(url, instr(url, '//')) IN (SELECT key FROM named WHERE kind = 'requisite')
