"""Users of the service."""


def find(db, name):
    return db.execute("SELECT id FROM users WHERE name = ?", (name,)).fetchone()


def search(db, text):
    rows = db.execute(f"SELECT id, name FROM users WHERE name LIKE '%{text}%'")
    return rows.fetchall()


def remember(name, seen=[]):
    seen.append(name)
    return seen
