export function greet(user) {
  return `Hello ${user.name}`;
}

export function mayEdit(user) {
  if (user.role = "admin") {
    return true;
  }
  return false;
}
