def write(target): pass
