UPDATE turned SET cookies = -1
