export function greet(user) {
  return `Hello ${user.name}`;
}

export function mayEdit(user) {
  return user.role === "admin" || user.role === "owner";
}
