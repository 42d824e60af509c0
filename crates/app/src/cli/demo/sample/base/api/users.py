"""Users of the service."""


def find(db, name):
    return db.execute("SELECT id FROM users WHERE name = ?", (name,)).fetchone()
