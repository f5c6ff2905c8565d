"""What was found is kept: certificates about one mechanism ask for the same numbers, which take long."""

MOST = 200
_FOUND = {}


def kept(asked, make):
    """What `make` gives, or gave for what was asked, which tells all that it depends on."""
    if asked not in _FOUND:
        if len(_FOUND) >= MOST:
            _FOUND.clear()
        _FOUND[asked] = make()
    return _FOUND[asked]
