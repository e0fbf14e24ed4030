def what_reasoning_tells(table, columns):
    return {}
